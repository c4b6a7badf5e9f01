# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Notebook: messages and their times
#
# *Book 10.2; its page is [Messages and timestamps](timestamps.md).*
#
# First records as bytes, in all three formats; then a whole broker, whose clock we can move forward. Before most steps
# there is a question: write your answer in the place of `None` and run the cell. It says whether you are right, and
# why.

# %% [markdown] lang="zh"
# # 笔记本：消息的时间
#
# 本书 10.2；相应的正文是[消息与时间戳](timestamps.md)。
#
# 先是记录的字节，三种格式都有；然后是一整个 broker，它的时钟可以由我们拨快。多数步骤之前有一个问题：把答案写在 `None`
# 的位置，运行单元格，它会告诉你对不对，以及为什么。

# %%
from chapters.ch06_storage.figures.segment_drawings import draw_bytes
from chapters.ch10_advanced.figures import timestamp_predictions as predictions
from chapters.ch10_advanced.figures.timestamp_drawings import (
    APPENDED,
    NOON,
    converted_times,
    draw_formats,
    draw_retention,
    refused_times,
    stored_times,
)
from kafka_learn.both_languages import InBothLanguages
from kafka_lite.common.errors import ApiError
from kafka_lite.log.validation.log_validator import validate_and_assign_offsets
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import TimestampType
from kafka_lite.record.records import batches, records
from kafka_lite.testing import Cluster

draw_formats()

# %% [markdown]
# The attributes, with the timestamp type in bit 3, are blue (one byte, in v2 two); timestamps are orange.
#
# ## A record of each format
#
# Three records with the seconds 3, 9 and 5 after noon. Where are the timestamps, and **how many bytes longer is the set
# in format v1 than in v0?**

# %% [markdown] lang="zh"
# 蓝色是类型所在的字节（在 v2 里是两个字节），类型在第 3 位；橙色是时间。
#
# ## 每种格式的一条记录
#
# 三条记录，时间是正午过后 3、9、5 秒。时间戳放在哪里？**v1 格式的消息集比 v0 的长几个字节？**

# %%
answer = None
predictions.BYTES.check(answer)


# %%
def build(magic, codec=CompressionType.NONE, seconds=(3, 9, 5)):
    """A set as a producer sends it."""
    builder = MemoryRecordsBuilder(magic, codec)
    for number, second in enumerate(seconds):
        builder.append(NOON + 1000 * second, b"key", b"value %d" % number)
    return bytearray(builder.build())


def seconds(timestamp):
    """Since noon; None without a timestamp."""
    return None if timestamp < 0 else (timestamp - NOON) / 1000


for magic in (0, 1, 2):
    data = build(magic)
    headers = [(batch.timestamp_type.name, seconds(batch.max_timestamp)) for batch in batches(data)]
    print(f"v{magic}: {len(data)} bytes, headers {headers}, records {[seconds(r.timestamp) for r in records(data)]}")

# %% [markdown]
# v0 has none, v1 eight bytes in each message. v2 has sixteen in the header and a varint for each record: the
# difference from the first. Here is the third record of the batch, decoded by hand:

# %% [markdown] lang="zh"
# v0 没有时间戳，v1 每条消息八个字节。v2 在批次头有十六个字节，每条记录再用一个变长整数存它与第一条的差。下面是批次
# 中的第三条记录，手工解码：

# %%
data = build(2)
draw_bytes(
    data[-18:],
    [
        ("length", 1),
        ("attr", 1),
        ("time delta", 2),
        ("offset", 1),
        ("key length", 1),
        ("key", 3),
        ("value, headers", 9),
    ],
)

# %% [markdown]
# `a0 1f` is a zig-zag varint: 0x20 + 0x1f · 128 = 4000, halved 2000 ms after the first record, which was at 3 s.
#
# ## A compressed set, and the wrapper's time
#
# The broker looks into the wrapper anyway, to check. What it finds there it writes into the wrapper's header, whatever
# the producer has claimed:

# %% [markdown] lang="zh"
# `a0 1f` 是一个 zig-zag 变长整数：0x20 + 0x1f · 128 = 4000，除以二，也就是比第一条记录晚 2000 ms，而第一条在 3 s。
#
# ## 压缩的消息集，以及包装消息的时间
#
# broker 为了检查，反正要解开包装消息。它把里面最大的时间写进包装消息的头部，不管生产者写的是多少：

# %%
wrapped = build(1, CompressionType.GZIP)
(wrapper,) = batches(wrapped)
print("as sent:  ", seconds(wrapper.max_timestamp), [seconds(r.timestamp) for r in wrapper.records()])
for timestamp_type in (TimestampType.CREATE_TIME, TimestampType.LOG_APPEND_TIME):
    result = validate_and_assign_offsets(
        bytearray(wrapped), offset=100, now_ms=APPENDED, magic=1, timestamp_type=timestamp_type
    )
    (stored,) = batches(result.records)
    inside = [seconds(message.max_timestamp) for message in stored.inner_messages(stored.inner_data())]
    print(timestamp_type.name, "wrapper", seconds(stored.max_timestamp), "inside", inside, end="; ")
    print("a consumer is told", [seconds(r.timestamp) for r in stored.records()])

# %% [markdown]
# With LogAppendTime, the inner messages keep the producer's timestamps. Only eight bytes and a checksum change in the
# header, and nothing need be decompressed for that; the reader must know that the header takes precedence. All cases
# in one table:

# %% [markdown] lang="zh"
# 用 LogAppendTime 时，里面的消息保留生产者写的时间。只改头部的八个字节和一个校验和，不必为此解压任何东西；读的一方得
# 知道以头部为准。所有情形都在一张表里：

# %%
InBothLanguages(stored_times)

# %% [markdown]
# ## Between formats
#
# A producer of v0 writes into a log of format v2, of a topic with CreateTime. The broker's clock says 60 seconds after
# noon. **Which number does a consumer of v2 read as the timestamp?**

# %% [markdown] lang="zh"
# ## 格式之间
#
# v0 的生产者写进 v2 格式的日志，主题用的是 CreateTime。broker 的时钟是正午过后 60 秒。**v2 的消费者读到的时间戳是哪个
# 数？**

# %%
answer = None
predictions.CONVERTED.check(answer)

# %%
InBothLanguages(converted_times)

# %% [markdown]
# ## A clock too far off
#
# `message.timestamp.difference.max.ms` of one hour:

# %% [markdown] lang="zh"
# ## 偏得太多的时钟
#
# `message.timestamp.difference.max.ms` 为一小时：

# %%
InBothLanguages(refused_times)

# %% [markdown]
# ## A broker
#
# A broker of our own, with a clock that we can move forward (`cluster.time` is a `ShiftedTime`: it follows the
# machine's clock, and jumps when we say so).

# %% [markdown] lang="zh"
# ## 一个 broker
#
# 我们自己的 broker，它的时钟可以拨快（`cluster.time` 是一个 `ShiftedTime`：它和机器的时钟走得一样快，可以随时拨快）。

# %%
cluster = Cluster({"log.retention.check.interval.ms": "60000"}).start()
now = cluster.time.milliseconds
start = now()


def minutes(timestamp):
    """Since the start; None where there is no time."""
    return None if timestamp is None or timestamp < 0 else round((timestamp - start) / 60_000, 1)


cluster.create_topic("created", configs={"message.timestamp.type": "CreateTime", "segment.bytes": 300})
cluster.create_topic("appended", configs={"message.timestamp.type": "LogAppendTime"})
for topic in ("created", "appended"):
    for minute in (1, 4, 2, 6, 5, 3, 10, 9):
        cluster.produce(topic, f"at {minute}", timestamp_ms=start + 60_000 * minute)
    print(f"{topic:9}", [minutes(record.timestamp_ms) for record in cluster.records(topic)])

# %% [markdown]
# ## Offsets for times
#
# A real client asks: `offsets_for_times` is ListOffsets. The records of `created` have the minutes 1, 4, 2, 6, 5, 3, 10
# and 9, in the order of their offsets. **Which offset is the result for "from minute 5 on"?**

# %% [markdown] lang="zh"
# ## 按时间求偏移量
#
# 由一个真正的客户端来问：`offsets_for_times` 就是 ListOffsets。`created` 的记录按偏移量的次序，时间是第 1、4、2、6、5、
# 3、10、9 分钟。**“从第 5 分钟开始”的答案是哪个偏移量？**

# %%
answer = None
predictions.FROM_FIVE.check(answer)

# %%
from confluent_kafka import Consumer, TopicPartition

consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "notebook"})


def offset_for(topic, timestamp):
    """The offset that the broker returns: -1 becomes the end in this client."""
    (found,) = consumer.offsets_for_times([TopicPartition(topic, 0, timestamp)], timeout=10)
    return found.offset


by_offset = [minutes(record.timestamp_ms) for record in cluster.records("created")]
for minute in (0, 2, 5, 7, 10, 11):
    offset = offset_for("created", start + 60_000 * minute)
    print(f"from minute {minute:2} on: offset {offset:2}", by_offset[offset:] if offset >= 0 else "(the end)")

# %% [markdown]
# The first record *in the order of offsets* that is not older. After it there may be older ones; before it there is
# none that is new enough. Negative timestamps have a special meaning: -2 is the beginning, -1 the end, and since
# ListOffsets v7, -3 is the record with the largest timestamp.

# %% [markdown] lang="zh"
# **按偏移量的次序**排在最前面的、不早于这个时间的记录。在它之后可能还有更早的；在它之前，没有一条足够新。负的时间问的
# 是另一类问题：-2 是开头，-1 是末尾，从 ListOffsets v7 起还有 -3，时间戳最大的记录。

# %%
log = next(log for log in cluster.server.log_manager.all_logs() if log.topic_partition.topic == "created")
for name, question in (("earliest", -2), ("latest", -1), ("max timestamp", -3)):
    found = log.fetch_offset_by_timestamp(question)
    print(f"{name:13} offset {found.offset}, minute {minutes(found.timestamp)}")
for segment in log.segments:
    print(segment, "largest: minute", minutes(segment.largest_timestamp))

# %% [markdown]
# ## A log without timestamps
#
# The same question for a topic in format v0. **Does the broker return the `"first"` offset, -1 for `"none"`, or an
# `"error"`?**

# %% [markdown] lang="zh"
# ## 没有时间的日志
#
# 对 v0 格式的主题问同样的问题。**broker 返回的是第一个偏移量（`"first"`），表示没有的 -1（`"none"`），还是错误
# （`"error"`）？**

# %%
answer = None
predictions.V0.check(answer)

# %%
cluster.create_topic("old", configs={"message.format.version": "0.9.0"})
cluster.produce("old", "no time")
print([record.timestamp_ms for record in cluster.records("old")])
old = next(log for log in cluster.server.log_manager.all_logs() if log.topic_partition.topic == "old")
try:
    old.fetch_offset_by_timestamp(start)
except ApiError as error:
    print(error.error.name, "-", error)

# %% [markdown]
# ## Too early, too late
#
# The broker rejects a whole batch because of one record:

# %% [markdown] lang="zh"
# ## 太早，太晚
#
# 为了一条记录，broker 拒绝整个批次：

# %%
cluster.create_topic("strict", configs={"message.timestamp.difference.max.ms": 3_600_000})
for name, timestamp in (("now", now()), ("two hours ago", now() - 7_200_000), ("in two hours", now() + 7_200_000)):
    try:
        print(f"{name:14} offset", cluster.produce("strict", name, timestamp_ms=timestamp))
    except ApiError as error:
        print(f"{name:14} {error.error.name}")

# %% [markdown]
# ## Retention
#
# A segment is deleted when its *largest* timestamp is old enough. Four segments from the hours 0 to 4, 5 to 8, 9 to 12
# and 14 to 16, of which the second has one message from hour 70, by a producer whose clock was wrong; retention of 24
# hours. **How many segments are left at hour 48?**

# %% [markdown] lang="zh"
# ## 保留
#
# 分段**最大**的时间戳足够旧了，分段才会删除。四个分段，时间是第 0 到 4、5 到 8、9 到 12、14 到 16 小时，第二个里有一条
# 消息的时间是第 70 小时，因为生产者的时钟错了；保留 24 小时。**到第 48 小时还剩几个分段？**

# %%
answer = None
predictions.LEFT.check(answer)

# %%
draw_retention([[0, 2, 4], [5, 70, 8], [9, 10, 12], [14, 15, 16]], retention_h=24, looked_at_h=[20, 30, 48, 96])

# %% [markdown]
# Orange segments are old enough but stay: segments are deleted from the oldest on, without gaps. Now the same with
# the broker. Each record of `kept` gets a segment of its own; the third is from the future.

# %% [markdown] lang="zh"
# 橙色的已经足够旧，却还留着：分段从最旧的开始删除，中间不留空洞。现在由 broker 来做同样的事。`kept` 的每条记录各占一
# 个分段；第三条的时间在未来。

# %%
cluster.create_topic("kept", configs={"retention.ms": 24 * 3_600_000, "segment.bytes": 100})
hour = 3_600_000
for name, ahead in (("a", 0), ("b", 1), ("from the future", 60), ("d", 2), ("e", 3)):
    cluster.produce("kept", name, timestamp_ms=now() + ahead * hour)


def what_is_left(topic):
    """After the clock has been put forward, and the retention check has run."""
    passed = round((now() - start) / hour)
    print(f"hour {passed:3}: {[record.value.decode() for record in cluster.records(topic)]}")


what_is_left("kept")
for hours in (23, 3, 22, 37):
    cluster.time.advance(hours=hours)
    what_is_left("kept")

# %% [markdown]
# At hour 26, `a` and `b` are deleted. Then nothing is deleted for two and a half days, though `d` and `e` have been
# old enough since hour 27. When the wrong timestamp is finally a day old, everything is deleted at once.
#
# ### The other way round: a producer that copies old data
#
# A topic with a retention of a day gets records that are a week old. **Do they live until the next `"check"` of the
# retention, for a `"day"`, for a `"week"`, or for `"ever"`?**

# %% [markdown] lang="zh"
# 到第 26 小时，`a` 和 `b` 去掉了。此后两天半什么也没有去掉，尽管 `d` 和 `e` 从第 27 小时起就足够旧了。等那个错误的时
# 间戳终于也过了一天，一切一下子都没了。
#
# ### 反过来：复制旧数据的生产者
#
# 一个保留一天的主题，得到了一个星期前的记录。**它们能保留到下一次检查（`"check"`）、一天（`"day"`）、一个星期
# （`"week"`），还是永远（`"ever"`）？**

# %%
answer = None
predictions.OLD_DATA.check(answer)

# %%
cluster.create_topic("copied", configs={"retention.ms": 24 * hour})
cluster.create_topic("copied-stamped", configs={"retention.ms": 24 * hour, "message.timestamp.type": "LogAppendTime"})
for topic in ("copied", "copied-stamped"):
    cluster.produce(topic, "a week old", timestamp_ms=now() - 7 * 24 * hour)
cluster.time.advance(minutes=2)
for topic in ("copied", "copied-stamped"):
    what_is_left(topic)

# %% [markdown]
# Until the next check, since according to their timestamps they are old enough. To copy history into a topic, set its
# `retention.ms` first, or use LogAppendTime.

# %% [markdown] lang="zh"
# 保留到下一次检查，因为按它们自己的时间戳，已经够旧了。要把历史数据搬进一个主题，就得先设置它的 `retention.ms`，或者
# 由 broker 来写时间戳。

# %%
consumer.close()
cluster.stop()

# %% [markdown]
# ## Now you
#
# - Give `created` a second producer whose clock is ten minutes slow, and predict the results of `offsets_for_times`.
# - `segment.ms` uses message timestamps, too. Write six records into a topic with `segment.ms` of an hour, alternately
#   from a month ago and from now, the old one first. **How many segments are there?**

# %% [markdown] lang="zh"
# ## 轮到你了
#
# - 给 `created` 加一个时钟慢十分钟的生产者，预测 `offsets_for_times` 的结果。
# - `segment.ms` 也按消息的时间计算。往一个 `segment.ms` 为一小时的主题里写入六条记录，一个月前的和现在的交替，旧的在
#   先。**一共有几个分段？**

# %%
answer = None
predictions.ROLLED.check(answer)
