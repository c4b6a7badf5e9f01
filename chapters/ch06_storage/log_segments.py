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
# # Notebook: a segment, byte by byte
#
# *Book 6.1.3; its page is [Log segments and indexes](log-segments.md).*
#
# Every object below is the broker's own: `LogSegment`, `OffsetIndex`, `TimeIndex`, `FileMessageSet`, writing real
# files into a temporary folder. The drawings are made from those objects, so they show what is, not what should be.
# Before most steps there is a question: write your answer in the place of `None` and run the cell. It says whether you
# are right, and why.

# %% [markdown] lang="zh"
# # 笔记本：逐字节看一个分段
#
# 本书 6.1.3；相应的正文是[日志分段与索引](log-segments.md)。
#
# 下面的每个对象都是 broker 自己的：`LogSegment`、`OffsetIndex`、`TimeIndex`、`FileMessageSet`，把真实的文件写进一个临时
# 目录。图由这些对象画出，所以显示的是实际的样子，而不是应有的样子。多数步骤之前有一个问题：把答案写在 `None` 的位置，运
# 行单元格，它会告诉你对不对，以及为什么。

# %%
from pathlib import Path
from tempfile import TemporaryDirectory

from chapters.ch06_storage.figures import segment_predictions as predictions
from chapters.ch06_storage.figures.segment_drawings import (
    append_message,
    draw_bytes,
    draw_search,
    draw_segment,
    record_search,
)
from kafka_lite.common.time import MockTime
from kafka_lite.log.abstract_index import CorruptIndexError, InvalidOffsetError
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.log.offset_index import OffsetIndex

folder = TemporaryDirectory()
directory = Path(folder.name)
config = LogConfig({"index.interval.bytes": "200", "segment.index.bytes": "4096", "message.format.version": "0.10.2"})


def files():
    """The segment's files, as `ls -l` and `du` see them."""
    for file in sorted(directory.iterdir()):
        status = file.stat()
        print(f"{file.name:34} {status.st_size:6} bytes, {status.st_blocks * 512:6} on the disk")


# %% [markdown]
# ## An empty segment
#
# The base offset is 20, as if a segment with messages 0 to 19 had just been rolled.

# %% [markdown] lang="zh"
# ## 一个空的分段
#
# 基准偏移量是 20，就像刚刚切换过分段，消息 0 到 19 在前一个里。

# %%
segment = LogSegment.open(directory, 20, config, MockTime())
files()

# %% [markdown]
# Both indexes have their full size from the start: 4096 is a multiple of 8, and 4092 is the largest multiple of 12
# below it. They are sparse files, which use no disk blocks until something is written.
#
# ## The first append
#
# One message of 101 bytes in format v1, the book's; `index.interval.bytes` is 200. **How many bytes does the offset
# index get?**

# %% [markdown] lang="zh"
# 两个索引从一开始就是最大的长度：4096 是 8 的倍数，4092 是不超过它的、12 的最大倍数。没写过的部分是文件里的空洞，不占磁
# 盘块。
#
# ## 第一次追加
#
# 一条 101 字节的消息，v1 格式，也就是书里的格式；`index.interval.bytes` 是 200。**偏移量索引得到几个字节？**

# %%
answer = None
predictions.FIRST_BYTES.check(answer)

# %%
append_message(segment, offset=20, timestamp=1_600_000_001_000)
print("log:", segment.size, "bytes; index entries:", segment.offset_index.entries)
draw_bytes(
    segment.log.read(0, 26).to_bytes(),
    [("offset", 8), ("size", 4), ("crc", 4), ("magic", 1), ("attr", 1), ("timestamp", 8)],
)

# %% [markdown]
# None: fewer than 200 bytes had been written since the last entry (there was none yet). The drawing shows the
# message's header; key and value follow. The size field, 89, counts the bytes after it.
#
# ## Until the index has entries

# %% [markdown] lang="zh"
# 一个也没有：还没有写满 200 字节（之前没有索引项，就从分段开头算起）。图中是消息的头部；键和值在它后面。长度字段里的
# 89，是这个字段之后的字节数。
#
# ## 直到索引里有索引项

# %%
for number in range(1, 12):
    append_message(segment, offset=20 + number, timestamp=1_600_000_001_000 + 1000 * number)
draw_segment(segment)

# %% [markdown]
# Entry 0 is for offset 22: when it was appended, 202 bytes had been written since the start, more than 200. Then the
# counter starts again. These are the bytes:

# %% [markdown] lang="zh"
# 第 0 项指向偏移量 22：追加它的时候，从开头起已经写了 202 字节，超过了 200。然后计数器归零，重新计数。这些就是索引的
# 字节：

# %%
segment.offset_index.flush()
used = segment.offset_index.file.read_bytes()[: segment.offset_index.size_in_bytes]
print(used.hex(" ", 4))
draw_bytes(used[:16], [("offset", 4), ("position", 4), ("offset", 4), ("position", 4)])

# %% [markdown]
# ## Are these Kafka's bytes?
#
# A broker of Kafka 0.10.2.2 got the same kind of messages with the same interval, one by one; from number 10 on, they
# were one byte longer. This is the beginning of its index for a segment with base offset 20. Our `OffsetIndex` reads
# it like its own.

# %% [markdown] lang="zh"
# ## 这些是 Kafka 的字节吗？
#
# 用同样的间隔，把同样的消息一条一条地写进 Kafka 0.10.2.2 的一个 broker；只是从 10 号起，那边的每条消息长一个字节。下
# 面是它为基准偏移量 20 的分段写出的索引的开头。我们的 `OffsetIndex` 读它，就像读自己的一样。

# %%
kafkas = bytes.fromhex("00000002000000cc 0000000400000198 0000000600000264 0000000800000330 0000000a000003fc")
captured = directory / "captured.index"
captured.write_bytes(kafkas)
index_of_kafka = OffsetIndex(captured, base_offset=20, max_index_size=4096)
for n in range(index_of_kafka.entries):
    print(n, index_of_kafka.entry(n))
assert [index_of_kafka.entry(n).offset for n in range(5)] == [segment.offset_index.entry(n).offset for n in range(5)]
index_of_kafka.delete()

# %% [markdown]
# The offsets equal ours; the positions differ by the extra byte of every message (102 instead of 101).
#
# ## Looking up offset 27
#
# **Which offset does the entry have that is found?**

# %% [markdown] lang="zh"
# 偏移量和我们的相同；位置不同，因为每条消息多一个字节（102，而不是 101）。
#
# ## 查找偏移量 27
#
# **找到的那一项，偏移量是多少？**

# %%
answer = None
predictions.ENTRY.check(answer)

# %% [markdown]
# From its position on, the log is read. **How many messages are passed before 27 is reached?**

# %% [markdown] lang="zh"
# 然后从它的位置起读日志。**到达 27 之前要越过几条消息？**

# %%
answer = None
predictions.PASSED.check(answer)

# %%
print("index:", segment.offset_index.lookup(27))
print("log:  ", segment.translate_offset(27))
draw_segment(segment, highlight=27)

# %% [markdown]
# Green is the entry, blue messages are skipped, orange is the result. And at the edges? Of the targets 19, 20, 21, 22,
# 31, 32 and 1000, **for how many does the log find no message?**

# %% [markdown] lang="zh"
# 绿色是找到的索引项，蓝色是越过的批次，橙色是查找的结果。在边界上呢？查找 19、20、21、22、31、32、1000，**其中有几个在
# 日志里找不到消息？**

# %%
answer = None
predictions.EDGES.check(answer)

# %%
for target in (19, 20, 21, 22, 31, 32, 1000):
    print(f"{target:4}: index {tuple(segment.offset_index.lookup(target))}, log {segment.translate_offset(target)}")

# %% [markdown]
# Below the base offset and below the first entry: the beginning of the file. Beyond the end, the index still returns
# its last entry, since it cannot know where the log ends; the log can, and returns None.
#
# ## The search, step by step
#
# A longer index makes the search visible. `record_search` notes which entries the index reads while it runs.

# %% [markdown] lang="zh"
# 低于基准偏移量或者低于第一项时，结果是文件的开头。越过末尾时，索引仍然返回最后一项，因为它不知道日志到哪里为止；日志
# 知道，所以返回 None。
#
# ## 查找的每一轮
#
# 索引长一些，查找才看得清楚。`record_search` 记下索引在查找时读了哪些项。

# %%
for number in range(12, 40):
    append_message(segment, offset=20 + number, timestamp=1_600_000_001_000 + 1000 * number)
slot, steps = record_search(segment.offset_index, 51)
for step in steps:
    print(step)
draw_search(segment.offset_index, 51)

# %% [markdown]
# 19 entries, at most five turns: log₂ 19 = 4.2. Some targets, such as 40, are the very first entry that is looked at.
# **How many turns does the quickest search for one of the offsets 22 to 59 take?**

# %% [markdown] lang="zh"
# 19 项，最多五轮：log₂ 19 = 4.2。有的目标，例如 40，第一个看的就是它的索引项。**查找 22 到 59 的各个偏移量，最快的要几
# 轮？**

# %%
answer = None
predictions.TURNS.check(answer)

# %%
turns = [len(record_search(segment.offset_index, target)[1]) for target in range(22, 60)]
print("fewest", min(turns), "most", max(turns))

# %% [markdown]
# ## Breaking the order
#
# The search relies on sorted entries, so `append` rejects what would break the order.

# %% [markdown] lang="zh"
# ## 打乱次序
#
# 查找的前提是各项有序，所以 `append` 拒绝会破坏次序的东西。

# %%
before = segment.offset_index.entries
for offset in (20, 40, segment.offset_index.last_offset):
    try:
        segment.offset_index.append(offset, 0)
    except InvalidOffsetError as error:
        print(str(error).replace(str(directory), "…"))
assert segment.offset_index.entries == before

# %% [markdown]
# ## Timestamps that go backwards
#
# In a new segment, producers' clocks disagree. An offset index entry is due at every second message, starting with the
# third. Write the numbers with blanks between them, such as `"1 4"`: **which of the timestamps 1, 4, 2, 6, 5, 3, 10, 9,
# 8, 7, 12, 11 become entries of the time index?**

# %% [markdown] lang="zh"
# ## 倒退的时间戳
#
# 一个新的分段，几个生产者的时钟各不相同。从第三条消息起，每两条消息该有一个偏移量索引项。用空格隔开各个数字，例如
# `"1 4"`：**时间戳 1、4、2、6、5、3、10、9、8、7、12、11 中，哪些成为时间索引的项？**

# %%
answer = None
predictions.TIMES.check(answer)

# %%
times = LogSegment.open(directory, 60, config, MockTime())
for number, seconds in enumerate((1, 4, 2, 6, 5, 3, 10, 9, 8, 7, 12, 11)):
    append_message(times, offset=60 + number, timestamp=1_600_000_000_000 + 1000 * seconds)
draw_segment(times, timestamps=True)

# %% [markdown]
# With each entry of the offset index, the largest timestamp *so far* is added, with its offset; at offset 68 it was
# still 10, which is already there. Now a search by time:

# %% [markdown] lang="zh"
# 每产生一个偏移量索引项，就记下**到目前为止**最大的时间戳，连同它的偏移量；在偏移量 68 处它仍是 10，而 10 已经记过
# 了。现在按时间查找：

# %%
for seconds in (0, 3, 5, 7, 11, 12, 13):
    wanted = 1_600_000_000_000 + 1000 * seconds
    entry = times.time_index.lookup(wanted)
    found = times.find_offset_by_timestamp(wanted, starting_offset=60)
    where = f"offset {found.offset} (t={(found.timestamp - 1_600_000_000_000) // 1000})" if found else "nothing"
    print(f"from t={seconds:2} on: all before offset {entry.offset} is older; found {where}")

# %% [markdown]
# ## Rolling
#
# When a segment stops being the active one, its indexes are trimmed to their entries, and the time index gets a last
# entry, so that the segment's largest timestamp can be read without the log.

# %% [markdown] lang="zh"
# ## 切换分段
#
# 一个分段不再是活动分段时，它的索引会裁剪到实际长度，时间索引还会加上最后一项，这样不看日志也能读出分段最大的时间
# 戳。

# %%
print("before:", times.time_index.entries, "entries")
times.on_become_inactive_segment()
print("after: ", times.time_index.entries, "entries")
files()

# %% [markdown]
# No new entry here: the largest timestamp, 12, had already been added at offset 70. The indexes of segment 60 are
# trimmed; segment 20 is still preallocated, as the active one is.
#
# ## A power failure
#
# Segment 20 is not closed. We open its files again, as a broker does when it starts. 19 entries were written. **How
# many entries does the index seem to have now?**

# %% [markdown] lang="zh"
# 这里没有新的项：最大的时间戳 12，在偏移量 70 处已经记过了。分段 60 已经正式关闭；分段 20 仍是预留了空间的活动分段。
#
# ## 断电
#
# 分段 20 没有正常关闭。我们像启动中的 broker 那样重新打开它的文件。写过的索引项有 19 个。**现在看起来索引有几项？**

# %%
answer = None
predictions.CRASHED.check(answer)

# %%
segment.flush()
after_crash = OffsetIndex(directory / f"{20:020d}.index", base_offset=20, max_index_size=4096)
print(after_crash.entries, "entries, the last one", after_crash.entry(after_crash.entries - 1))
try:
    after_crash.sanity_check()
except CorruptIndexError as error:
    print("sanity_check:", str(error).replace(str(directory), "…"))

# %% [markdown]
# Every eight bytes of the file count as an entry, and the last one is zero, which no real entry is. So the index is
# not trusted: recovery reads the log and rebuilds it. To make it interesting, the last batch is torn, as if only half
# of it had reached the disk.

# %% [markdown] lang="zh"
# 文件的每八个字节都算一项，而最后一项是零，真正的索引项不会是零。所以索引不可信：恢复过程会读日志，重建索引。为了看得
# 更清楚，我们再截掉最后一个批次的一半，就像只有一半写到了磁盘上。

# %%
segment.log.truncate_to(segment.size - 40)
recovered = LogSegment.open(directory, 20, config, MockTime())
cut_off = recovered.recover()
print("cut off:", cut_off, "bytes; next offset:", recovered.read_next_offset())
recovered.sanity_check()
files()

# %% [markdown]
# The torn batch is gone (its remaining 61 bytes), both indexes are valid again, and a lookup works as before:

# %% [markdown] lang="zh"
# 残缺的批次（剩下的 61 字节）截掉了，两个索引又都正确了，查找照常工作：

# %%
print(recovered.translate_offset(27))
assert recovered.translate_offset(27).position == 7 * 101

# %% [markdown]
# ## Truncating, as a follower does
#
# The new leader has messages up to offset 29. **Which offset does the last index entry have after `truncate_to(30)`?**

# %% [markdown] lang="zh"
# ## 像备份副本那样截断
#
# 新的主副本的消息只到偏移量 29。**`truncate_to(30)` 之后，最后一个索引项的偏移量是多少？**

# %%
answer = None
predictions.TRUNCATED.check(answer)

# %%
recovered.truncate_to(30)
print("log ends at", recovered.read_next_offset(), "with", recovered.size, "bytes")
draw_segment(recovered)

# %% [markdown]
# The entry of offset 30 was removed with its message; that of 28 stays. The file has its full size again: this is the
# active segment now.

# %% [markdown] lang="zh"
# 偏移量 30 的索引项随它的消息一起去掉；28 的那一项留下。索引文件恢复到最大长度，因为它又属于活动分段了。

# %%
recovered.close()
folder.cleanup()

# %% [markdown]
# ## Now you
#
# - Set `index.interval.bytes` to 0 and to 1000 at the top and predict the drawings before you run them.
# - Then write the index yourself: [the lab](../../labs/ch06-offset-index.md).

# %% [markdown] lang="zh"
# ## 轮到你了
#
# - 在开头把 `index.interval.bytes` 设为 0 和 1000，先预测各个图，再运行。
# - 然后自己写出索引：[实验](../../labs/ch06-offset-index.md)。

# %% [markdown]
# Write batches of format v2 with ten messages each (`MemoryRecordsBuilder(magic=2)`), at the offsets 20 to 29, 30 to
# 39, and so on, each of more than 200 bytes. Why does `lookup` still work? **Which offset has the entry of the second
# batch?**

# %% [markdown] lang="zh"
# 写入 v2 格式的批次（`MemoryRecordsBuilder(magic=2)`），每个十条消息，偏移量是 20 到 29、30 到 39，依此类推，每个都超过
# 200 字节。`lookup` 为什么不受影响？**第二个批次的索引项里是哪个偏移量？**

# %%
answer = None
predictions.BATCH_ENTRY.check(answer)
