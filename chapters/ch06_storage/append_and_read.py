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
# # Append and read, step by step
#
# *Book 6.1.2 and 6.1.4, with [Appending](appending.md) and [Reading the log](reading.md).*
#
# A real `Log` in a temporary folder, with segments of 500 bytes. Each cell does one thing to it. Before most of them
# there is a question: write your answer in the place of `None` and run the cell. It says whether you are right, and
# why.

# %% [markdown] lang="zh"
# # 一步一步地追加和读取
#
# 本书 6.1.2 和 6.1.4，配合[写入日志](appending.md)和[读取日志](reading.md)。
#
# 临时目录里的一个真实的 `Log`，每个分段 500 字节。每个单元格对它做一件事，多数之前有一个问题：把答案写在 `None` 的位
# 置，运行单元格，它会告诉你对不对，以及为什么。

# %%
import socket
import tempfile
from pathlib import Path

from chapters.ch06_storage.figures import append_predictions as predictions
from chapters.ch06_storage.figures.log_drawings import (
    draw_log,
    draw_reads,
    draw_validation,
    fill,
    open_log,
    record_set,
    ways_through_validation,
)
from chapters.ch06_storage.figures.segment_drawings import draw_bytes
from chapters.ch06_storage.figures.storage_runs import append_and_roll
from kafka_learn.both_languages import InBothLanguages
from kafka_learn.drawing.sequence_diagram import sequence_diagram
from kafka_learn.recording.recorder import Recording
from kafka_learn.recording.watches import watch
from kafka_lite.common.errors import ApiError
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.log.offset_index import OffsetIndex
from kafka_lite.record.records import batches

folder = tempfile.TemporaryDirectory()
log = open_log(Path(folder.name) / "demo-0")
print(log, "LEO", log.log_end_offset, "segments", [segment.base_offset for segment in log.segments])

# %% [markdown]
# ## What a producer sends
#
# Three messages in one batch. The producer counts from 0, whatever the log already contains.

# %% [markdown] lang="zh"
# ## 生产者发送什么
#
# 一个批次，三条消息。生产者从 0 数起，不管日志里已经有什么。

# %%
sent = record_set((b"k", b"one"), (b"k", b"two"), (b"k", b"three"))
header = [("base offset", 8), ("length", 4), ("leader epoch", 4), ("magic", 1), ("crc", 4), ("attributes", 2)]
draw_bytes(bytes(sent[:23]), header)

# %%
info = log.append_as_leader(bytearray(sent), leader_epoch=4)
print(f"offsets {info.first_offset} to {info.last_offset}, {info.size_in_bytes} bytes; LEO {log.log_end_offset}")
info = log.append_as_leader(bytearray(sent), leader_epoch=4)
print(f"offsets {info.first_offset} to {info.last_offset}, {info.size_in_bytes} bytes; LEO {log.log_end_offset}")

# %% [markdown]
# The same bytes twice, with different offsets. **In how many bytes do the two batches differ in the file?**

# %% [markdown] lang="zh"
# 同样的字节来了两次，偏移量却不同。**文件里的这两个批次，有几个字节不同？**

# %%
answer = None
predictions.DIFFERING.check(answer)

# %%
size = len(sent)
first, second = (log.active_segment.log.read(at, size).to_bytes() for at in (0, size))
print("differ at:", [position for position in range(size) if first[position] != second[position]])
print("from what was sent, the second differs at:", [p for p in range(size) if sent[p] != second[p]])
draw_validation()

# %% [markdown]
# One byte of the base offset differs; and both have the leader epoch, where the producer had −1. The CRC covers only
# the bytes after these fields. If the topic requires another timestamp, the CRC does change:

# %% [markdown] lang="zh"
# 文件里的两个批次只差基准偏移量的一个字节；与发来的相比，还差主副本的纪元，生产者在那里写的是 −1。CRC 覆盖的范围从这两
# 个字段之后开始。如果主题要的是另一种时间戳，CRC 就会变：

# %%
draw_validation("LogAppendTime")

# %% [markdown]
# ## Rolling
#
# The log has two batches of 96 bytes, and segments of at most 500. Now come five more batches of 205 bytes, with three
# messages each. Write the base offsets with blanks between them, such as `"0 3"`: **which segments will there be?**

# %% [markdown] lang="zh"
# ## 切换分段
#
# 日志里有两个 96 字节的批次，每个分段最多 500 字节。再来五个 205 字节的批次，每个三条消息。用空格隔开各个基准偏移量，例
# 如 `"0 3"`：**会有哪些分段？**

# %%
answer = None
predictions.SEGMENTS.check(answer)

# %%
fill(log, 5)
draw_log(log)

# %% [markdown]
# The same, recorded: the first append fits, and at the second the log rolls.

# %% [markdown] lang="zh"
# 把同样的过程录制下来：第一次追加放得下；第二次放不下，日志先切换了分段。

# %%
sequence_diagram(append_and_roll())

# %% [markdown]
# ## Rejected appends
#
# A batch with a flipped bit, one of more than 500 bytes, a batch that a follower appends although its offsets begin at
# 0 again, and no batch at all. **How many of the four are rejected with an error?**

# %% [markdown] lang="zh"
# ## 拒绝什么
#
# 一个有比特翻转的批次；一个超过 500 字节的批次；备份副本追加的一个批次，偏移量却又从 0 开始；还有一个批次也没有的空消息
# 集。**四个里有几个会被拒绝，返回错误？**

# %%
answer = None
predictions.REJECTED.check(answer)

# %%
before = (log.log_end_offset, log.size)
damaged = bytearray(sent)
damaged[-1] ^= 1
for name, records, append in (
    ("a flipped bit", damaged, log.append_as_leader),
    ("larger than a segment", record_set((b"k", b"x" * 600)), log.append_as_leader),
    ("a follower, offsets from 0 again", sent, lambda records, _epoch: log.append_as_follower(records)),
    ("nothing", bytearray(), log.append_as_leader),
):
    try:
        print(f"{name}: {append(records, 4).size_in_bytes} bytes appended")
    except ApiError as error:
        print(f"{name}: {error.error.name}")
assert (log.log_end_offset, log.size) == before

# %% [markdown]
# ## Paths through validation
#
# What is sent, what the topic requires, and what happens; only the last kind of work costs time.

# %% [markdown] lang="zh"
# ## 校验的几条路径
#
# 发来的格式，主题要求的格式，以及校验的结果；只有最后一列为“是”的才费时间。

# %%
InBothLanguages(ways_through_validation)

# %% [markdown]
# ## Reading
#
# A read returns a slice: a position and a length. No byte has been read yet when it returns.

# %% [markdown] lang="zh"
# ## 读取
#
# 读取返回一个切片，只说明数据在哪里、有多长。返回的时候，消息还一条都没有读。

# %%
found = log.read(4, 1 << 20)
print(found.fetch_offset_metadata)
print(type(found.records).__name__, found.size_in_bytes, "bytes, from position", found.records.position)
print("offsets in it:", [(batch.base_offset, batch.last_offset) for batch in batches(found.records.to_bytes())])

# %% [markdown]
# We asked for 4; the slice starts at 3, where the batch starts. Four more reads follow, some of them of a consumer,
# which gets nothing at or beyond the high watermark (HW). **The second asks for 4 and for at most one byte: how many
# messages does it get?**

# %% [markdown] lang="zh"
# 我们请求的是 4；切片从 3 开始，因为批次从那里开始。再读四次，其中有消费者的读取，它得不到高水位（HW）及以后的消息。
# **第二次从 4 读起，最多一个字节：它得到几条消息？**

# %%
answer = None
predictions.ONE_BYTE.check(answer)

# %% [markdown]
# The third reads from 7, up to 1 MiB; the high watermark is 12. **What is the last offset that it gets?**

# %% [markdown] lang="zh"
# 第三次从 7 读起，最多 1 MiB，高水位是 12。**它得到的最后一个偏移量是多少？**

# %%
answer = None
predictions.UP_TO_HW.check(answer)

# %%
draw_reads(
    log,
    [
        ("from 0, 1 MiB", 0, 1 << 20, None),
        ("from 4, 1 byte", 4, 1, None),
        ("from 7, HW 12", 7, 1 << 20, 12),
        ("from 13, HW 12", 13, 1 << 20, 12),
    ],
)

# %% [markdown]
# A read from 9, in the segment that begins there, while the high watermark is 12. **How often is the index consulted?**

# %% [markdown] lang="zh"
# 高水位是 12，从 9 读起，所在的分段正好从那里开始。**这次读取要查几次索引？**

# %%
answer = None
predictions.LOOKUPS.check(answer)

# %%
for high_watermark in (None, 12, log.log_end_offset):
    with Recording(watch(OffsetIndex.lookup, LogSegment.read)) as recording:
        log.read(9, 1 << 20, high_watermark)
    calls = [event.what for event in recording.run if event.kind == "call"]
    print(f"HW {high_watermark}: {calls.count('lookup')} lookups")

# %% [markdown]
# Two if the high watermark is in the middle of the log, since it must become a position, too. One if everything is
# committed.
#
# ## Zero copy
#
# The slice goes to a socket. `sendfile` gets two file descriptors and two numbers; no byte of the records enters this
# process.

# %% [markdown] lang="zh"
# 高水位在日志中间时查找两次，因为它也要换算成位置。全部都已提交时，只要一次。
#
# ## 零拷贝
#
# 把切片发往一个套接字。`sendfile` 的参数是两个文件描述符和两个数字；没有一个字节进入本进程。

# %%
ours, theirs = socket.socketpair()
piece = log.read(0, 1 << 20).records
sent_bytes = piece.send_to(ours, 0, piece.size_in_bytes)
received = theirs.recv(1 << 20)
print(sent_bytes, "bytes sent,", len(received), "received, the same:", received == piece.to_bytes())

# %% [markdown]
# And a slice that is still open while its segment is deleted:

# %% [markdown] lang="zh"
# 再看一个切片，它还在使用，所在的分段却被删除了：

# %%
slow = log.read(0, 1 << 20).records
log.truncate_fully_and_start_at(100)
print("log:", [segment.base_offset for segment in log.segments], "LEO", log.log_end_offset)
print("the slice still gives offsets", [batch.last_offset for batch in batches(slow.to_bytes())])
ours.close()
theirs.close()
log.close()
folder.cleanup()

# %% [markdown]
# ## Now you
#
# - Set `segment.ms` and let `fill` jump by an hour in timestamps. When does the log roll?
# - Then write both methods yourself: [the lab](../../labs/ch06-log-segment.md).

# %% [markdown] lang="zh"
# ## 轮到你了
#
# - 设置 `segment.ms`，让 `fill` 的时间戳跳过一小时。日志什么时候切换分段？
# - 然后把追加和读取都自己写出来：[实验](../../labs/ch06-log-segment.md)。

# %% [markdown]
# Append the three messages in format v1 (`record_set(..., magic=1)`) twice to a log with
# `message.format.version=0.10.2`. **In how many bytes do the two sets differ in the file?**

# %% [markdown] lang="zh"
# 把这三条消息用 v1 格式（`record_set(..., magic=1)`）往 `message.format.version=0.10.2` 的日志里追加两次。**文件里的这
# 两个消息集，有几个字节不同？**

# %%
answer = None
predictions.DIFFERING_V1.check(answer)
