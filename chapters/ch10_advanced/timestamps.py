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
# *Book 10.2; the text to it is [Messages and timestamps](timestamps.md).*
#
# First records as bytes, in all three formats; then a whole broker whose clock we may put forward. Before you run a
# cell that ends in a question, answer it.

# %%
from IPython.display import Markdown

from kafka_lite.common.errors import ApiError
from kafka_lite.learn.segment_drawings import draw_bytes
from kafka_lite.learn.timestamp_drawings import (
    APPENDED,
    NOON,
    converted_times,
    draw_formats,
    draw_retention,
    refused_times,
    stored_times,
)
from kafka_lite.log.log_validator import validate_and_assign_offsets
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import TimestampType
from kafka_lite.record.records import batches, records
from kafka_lite.testing import Cluster

draw_formats()

# %% [markdown]
# Blue is the byte (in v2: two) with the type in bit 3, orange is time.
#
# ## A record of each format
#
# Three records with the seconds 3, 9 and 5 after noon. **How many timestamps are stored, in how many bytes?**


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
# difference to the first. Here is the third record of the batch, decoded by hand:

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
# With LogAppendTime the inner messages keep what the producer wrote. Eight bytes and a checksum are changed in the
# header, and nothing is decompressed for it; the reader has to know that the header counts. All cases in one table:

# %%
Markdown(stored_times("en"))

# %% [markdown]
# ## Between formats
#
# **What does a consumer of v2 read that a producer of v0 wrote?**

# %%
Markdown(converted_times("en"))

# %% [markdown]
# ## A clock too far off
#
# `message.timestamp.difference.max.ms` of one hour:

# %%
Markdown(refused_times("en"))

# %% [markdown]
# ## A broker
#
# One of our own, with a clock that we may put forward (`cluster.time` is a `ShiftedTime`: it goes as the machine's
# does, and jumps when told to).

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
# A real client asks: `offsets_for_times` is ListOffsets. **Which offset is the answer to "from minute 5 on" for
# `created`?** Think of the order in which the records lie.

# %%
from confluent_kafka import Consumer, TopicPartition

consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "notebook"})


def offset_for(topic, timestamp):
    """What the broker answers: -1 becomes the end in this client."""
    (found,) = consumer.offsets_for_times([TopicPartition(topic, 0, timestamp)], timeout=10)
    return found.offset


by_offset = [minutes(record.timestamp_ms) for record in cluster.records("created")]
for minute in (0, 2, 5, 7, 10, 11):
    offset = offset_for("created", start + 60_000 * minute)
    print(f"from minute {minute:2} on: offset {offset:2}", by_offset[offset:] if offset >= 0 else "(the end)")

# %% [markdown]
# The first record *in the order of offsets* that is not older. From there on there may be older ones; before it there
# is none that is new enough. Negative times are questions of another kind: -2 the beginning, -1 the end, and since
# ListOffsets v7 -3, the record with the largest timestamp.

# %%
log = next(log for log in cluster.server.log_manager.all_logs() if log.topic_partition.topic == "created")
for name, question in (("earliest", -2), ("latest", -1), ("max timestamp", -3)):
    found = log.fetch_offset_by_timestamp(question)
    print(f"{name:13} offset {found.offset}, minute {minutes(found.timestamp)}")
for segment in log.segments:
    print(segment, "largest: minute", minutes(segment.largest_timestamp))

# %% [markdown]
# ## A log without times
#
# **What does the broker answer for a topic in format v0?**

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
# The broker refuses a whole batch for one record:

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
# A segment goes when its *largest* timestamp is old enough. Four segments, of which the second has one message from
# hour 70, by a producer whose clock was wrong; retention of 24 hours. **What is left at hour 48?**

# %%
draw_retention([[0, 2, 4], [5, 70, 8], [9, 10, 12], [14, 15, 16]], retention_h=24, looked_at_h=[20, 30, 48, 96])

# %% [markdown]
# Orange is old enough and stays: segments go from the oldest on, without gaps. Now the same with the broker. Each
# record of `kept` gets a segment of its own; the third is from the future.

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
# At hour 26 `a` and `b` go. Then nothing goes for two and a half days, though `d` and `e` have been old enough since
# hour 27. When the wrong timestamp is at last a day old, everything goes at once.
#
# ### The other way round: a producer that copies old data
#
# **A topic with a retention of a day gets records that are a week old. How long do they live?**

# %%
cluster.create_topic("copied", configs={"retention.ms": 24 * hour})
cluster.create_topic("copied-stamped", configs={"retention.ms": 24 * hour, "message.timestamp.type": "LogAppendTime"})
for topic in ("copied", "copied-stamped"):
    cluster.produce(topic, "a week old", timestamp_ms=now() - 7 * 24 * hour)
cluster.time.advance(minutes=2)
for topic in ("copied", "copied-stamped"):
    what_is_left(topic)

# %% [markdown]
# Until the next check, for by their own account they are old enough. Whoever moves history into a topic sets its
# `retention.ms` first, or lets the broker stamp.

# %%
consumer.close()
cluster.stop()

# %% [markdown]
# ## Now you
#
# - Give `created` a second producer whose clock is ten minutes slow, and predict the answers of `offsets_for_times`.
# - `segment.ms` counts message time too. Write records alternately from now and from a month ago into a topic with
#   `segment.ms` of an hour, and count its segments.
