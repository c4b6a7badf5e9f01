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
# # A crash, a recovery, a compaction
#
# *Book 6.1.5 and 6.1.6, with [Managing the logs](log-management.md) and [Log compaction](compaction.md).*
#
# A writer in a process of its own is killed in the middle of an append; we open what it left. Then we damage more.
# Finally we run the log cleaner, and stop it halfway, too. Before most steps there is a question: write your answer in
# the place of `None` and run the cell. It says whether you are right, and why.

# %% [markdown] lang="zh"
# # 一次崩溃，一次恢复，一次压缩
#
# 本书 6.1.5 和 6.1.6，配合[日志管理](log-management.md)和[日志压缩](compaction.md)。
#
# 一个单独的进程往日志里写，追加到一半时被杀掉；我们打开它留下的文件，再制造一些损坏；然后运行日志清理线程，也让它停在半
# 路上。多数步骤之前有一个问题：把答案写在 `None` 的位置，运行单元格，它会告诉你对不对，以及为什么。

# %%
import logging
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from chapters.ch06_storage.figures import recovery_predictions as predictions
from chapters.ch06_storage.figures.compaction_drawings import (
    COMPACTED,
    EXAMPLE,
    append_pairs,
    clean,
    draw_messages,
    draw_slots,
    messages,
    replacement_steps,
)
from chapters.ch06_storage.figures.log_drawings import draw_log, draw_recovery, flip_a_bit, open_log
from chapters.ch06_storage.figures.storage_runs import clean_a_log, start_after_a_crash
from kafka_learn.both_languages import InBothLanguages
from kafka_learn.drawing.sequence_diagram import sequence_diagram
from kafka_lite.common.time import MockTime
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.log.log_segments import LogSegments

logging.disable()  # the warnings of recovery are what we look for by other means
folder = tempfile.TemporaryDirectory()
root = Path(folder.name)


def files(directory):
    """Names (without leading zeros) and sizes."""
    for file in sorted(directory.iterdir()):
        if file.name[:20].isdigit() and file.suffix != ".snapshot":
            name = f"{int(file.name[:20])}{file.name[20:]}"
            print(f"  {name:20} {file.stat().st_size:>5} bytes")


# %% [markdown]
# ## Kill -9
#
# The writer appends batches, reports how far it has flushed, and after 20 batches writes only *half* of the next one,
# as if the power had failed there. Then it is killed: nothing is closed, nothing trimmed.

# %% [markdown] lang="zh"
# ## Kill -9
#
# 写入的进程一个一个地追加批次，并报告刷盘到了哪里；20 个批次之后，下一个批次只交给内核**一半**，就像恰好在那里断电。
# 然后它被杀掉：文件都没有关闭，索引都没有裁剪。

# %%
WRITER = """
import os, sys, time
from pathlib import Path
from chapters.ch06_storage.figures.log_drawings import fill, open_log
from kafka_lite.log.files.file_channel import FileChannel

log = open_log(Path(sys.argv[1]), {"segment.bytes": "1500"})
fill(log, 16)
log.flush()
print(log.recovery_point, flush=True)
fill(log, 4)

write_fully = FileChannel.write_fully
def half(self, position, data):
    write_fully(self, position, memoryview(data)[: len(data) // 2])
    print("half of it is written", flush=True)
    time.sleep(60)

FileChannel.write_fully = half
fill(log, 1)
"""
crashed = root / "demo-0"
with subprocess.Popen([sys.executable, "-c", WRITER, str(crashed)], stdout=subprocess.PIPE, text=True) as writer:
    recovery_point = int(writer.stdout.readline())
    print(writer.stdout.readline().strip())
    writer.send_signal(signal.SIGKILL)
print("killed; it had said that all below", recovery_point, "is on disk")
files(crashed)

# %% [markdown]
# Look at the sizes. Which of these files show that they were not closed? One ends in the middle of a batch; each batch
# has 205 bytes. **How many bytes of this file must be cut off?**

# %% [markdown] lang="zh"
# 请看各个文件的大小。哪些文件看得出没有正常关闭？有一个文件在批次的中间结束，每个批次是 205 字节。**这个文件要截掉几个
# 字节？**

# %%
answer = None
predictions.TORN.check(answer)

# %%
tail = max(crashed.glob("*.log"))
print(tail.name, "has", divmod(tail.stat().st_size, 205), "batches and bytes")

# %% [markdown]
# The broker starts. It knows the recovery point, 48, from its checkpoint; the segments begin at 0, 21 and 42. Write
# base offsets with blanks between them, such as `"0 21"`: **which segments does it read as a whole?**

# %% [markdown] lang="zh"
# broker 启动了。它从检查点得知恢复点是 48；各个分段从 0、21、42 开始。用空格隔开各个基准偏移量，例如 `"0 21"`：**它从头
# 到尾读哪些分段？**

# %%
answer = None
predictions.READ.check(answer)

# %%
read_as_a_whole = []
recover = LogSegment.recover
LogSegment.recover = lambda segment, *args: read_as_a_whole.append(segment.base_offset) or recover(segment, *args)
log = open_log(crashed, {"segment.bytes": "1500"}, recovery_point=recovery_point)
LogSegment.recover = recover
print("recovered:", read_as_a_whole, "of", [segment.base_offset for segment in log.segments])
print("LEO", log.log_end_offset, "recovery point", log.recovery_point)
files(crashed)

# %%
draw_log(log)

# %% [markdown]
# The half batch is gone, all 60 messages before it are there, and the log continues where it ended. Such a start,
# recorded:

# %% [markdown] lang="zh"
# 半个批次没有了，它之前的 60 条消息都在，日志从断开的地方继续。下面是这样一次启动的全过程：

# %%
sequence_diagram(start_after_a_crash())

# %% [markdown]
# ## Other damage
#
# Six batches of three messages, two in each of three segments. Green is kept, red is cut off within a segment, orange
# is removed with whole segments. A bit flips in the first batch of the second segment. **What is the LEO after the
# start?**

# %% [markdown] lang="zh"
# ## 其他的损坏
#
# 三个分段，每个分段两个批次，每个批次三条消息。绿色的留下，红色的在分段之内被截掉，橙色的随整个分段去掉。第二个分段的第
# 一个批次里，有一个比特翻转。**启动之后 LEO 是多少？**

# %%
answer = None
predictions.FLIPPED.check(answer)

# %%
draw_recovery(lambda directory: flip_a_bit(directory / f"{6:020d}.log", 100))

# %% [markdown]
# A page of zeros in the last segment, as a file system may leave it:

# %% [markdown] lang="zh"
# 最后一个分段里有一页零，文件系统可能会留下这样的东西：

# %%


def zeros(directory):
    """The second half of the last segment never came."""
    file = directory / f"{12:020d}.log"
    data = file.read_bytes()
    file.write_bytes(data[:205] + bytes(len(data) - 205))


draw_recovery(zeros)

# %% [markdown]
# All indexes lost:

# %% [markdown] lang="zh"
# 所有的索引都丢了：

# %%
draw_recovery(lambda directory: [file.unlink() for file in directory.glob("*index")])

# %% [markdown]
# Nothing is lost: indexes are rebuilt from the log. And if the *log* of the first segment is lost: **at which offset
# does the log start then?**

# %% [markdown] lang="zh"
# 什么也没有丢：索引由日志生成。如果丢的是第一个分段的 `.log` 文件，**日志会从哪个偏移量开始？**

# %%
answer = None
predictions.STARTS.check(answer)

# %%
draw_recovery(lambda directory: (directory / f"{0:020d}.log").unlink())

# %% [markdown]
# The log starts later. The broker cannot know that there was more; another replica can.
#
# ## Compaction
#
# A changing table: three keys, eight messages, segments of three.

# %% [markdown] lang="zh"
# 日志的开头后移了。broker 无从知道前面还有过消息；别的副本知道。
#
# ## 压缩
#
# 一张不断变化的表：三个键，八条消息，每个分段三条。

# %%
time = MockTime()
table = open_log(root / "table-0", {**COMPACTED, "delete.retention.ms": "1000"})
append_pairs(table, EXAMPLE)
draw_messages(table)

# %% [markdown]
# The cleaner makes a map of the dirty part, which ends where the active segment begins: the newest offset of each key.
# The log's messages are those of the figure; write their offsets with blanks between them, such as `"0 1"`: **which
# messages are in the log after the cleaning?**

# %% [markdown] lang="zh"
# 清理线程为脏的部分建立映射，到活动分段为止：每个键最新的偏移量。日志里的消息如上图；用空格隔开各个偏移量，例如
# `"0 1"`：**清理之后，日志里有哪些消息？**

# %%
answer = None
predictions.KEPT.check(answer)

# %%
first_dirty = clean(table, time=time)
print("clean below", first_dirty)
draw_messages(table)

# %% [markdown]
# The whole cleaning, recorded:

# %% [markdown] lang="zh"
# 整个清理过程的录制：

# %%
sequence_diagram(clean_a_log())

# %% [markdown]
# Again, after another message (`e=1`, offset 8) and a new active segment. Two of the older segments become one. **Which
# offset is removed now?**

# %% [markdown] lang="zh"
# 再添一条消息（`e=1`，偏移量 8），切换到新的活动分段，再清理一次。有两个较早的分段会合成一个。**现在去掉的是哪个偏移
# 量？**

# %%
answer = None
predictions.REMOVED.check(answer)

# %%
append_pairs(table, [(b"e", b"1")])
table.roll()
first_dirty = clean(table, from_offset=first_dirty, time=time)
for segment, content in zip(table.segments, messages(table), strict=True):
    print(segment.base_offset, content)

# %% [markdown]
# The tombstone of `c` is still there. It is removed once `delete.retention.ms` has passed since the first cleaning
# that saw it:

# %% [markdown] lang="zh"
# `c` 的墓碑消息还在。从第一次遇到它的那次清理算起，过了 `delete.retention.ms`，它才会去掉：

# %%
append_pairs(table, [(b"f", b"1")])
table.roll()
time.sleep(1000)
clean(table, from_offset=first_dirty, time=time)
draw_messages(table)

# %% [markdown]
# ## The offset map
#
# Eight slots; a, b, c, d, a and e are put. Only d needs two probes: because its `"hash"` equals that of another key,
# because another key is in its first `"slot"`, because the map is `"full"`, or because it is put `"again"`. **Which of
# these is the reason?**

# %% [markdown] lang="zh"
# ## 偏移量映射
#
# 八个槽，依次放入 a、b、c、d、a、e。只有 d 要探测两次。是因为它的散列值与别的键相同（`"hash"`），因为它的第一个槽里有别
# 的键（`"slot"`），因为映射满了（`"full"`），还是因为它又放了一次（`"again"`）？**原因是哪一个？**

# %%
answer = None
predictions.PROBES.check(answer)

# %%
draw_slots([b"a", b"b", b"c", b"d", b"a", b"e"], 8)

# %% [markdown]
# ## A crash in the middle of a replacement
#
# The names of the files at each step:

# %% [markdown] lang="zh"
# ## 替换到一半时崩溃
#
# 每一步的文件名：

# %%
InBothLanguages(replacement_steps)

# %% [markdown]
# We stop at one of them: the cleaned segment is `.swap`, and the map of segments would be changed next.
# `KeyboardInterrupt` stands in for the power failure. The log had eight messages, and would have five after a whole
# cleaning. **How many does it have after the next start?**

# %% [markdown] lang="zh"
# 我们停在其中一步：清理好的分段已经是 `.swap`，下一步本来是更新读取时所用的分段表。用 `KeyboardInterrupt` 模拟断电。日
# 志原来有八条消息，清理全部完成的话会剩下五条。**下一次启动之后有几条？**

# %%
answer = None
predictions.HALF_WAY.check(answer)

# %%
half_way = open_log(root / "half-0", COMPACTED)
append_pairs(half_way, EXAMPLE)
replace = LogSegments.replace


def power_fails(*_):
    """In the place of the step that makes the new segment visible."""
    raise KeyboardInterrupt


LogSegments.replace = power_fails
try:
    clean(half_way)
except KeyboardInterrupt:
    print("the power failed. Left are:")
finally:
    LogSegments.replace = replace
files(root / "half-0")

# %%
again = open_log(root / "half-0", COMPACTED)
print("after the start:")
for segment, content in zip(again.segments, messages(again), strict=True):
    print(" ", segment.base_offset, content)

# %% [markdown]
# The first segment has been replaced (`.swap` was complete), the second has not: it will be cleaned again, with the
# same result.

# %% [markdown] lang="zh"
# 第一个分段已经替换（`.swap` 是完整的），第二个还没有：它会再清理一次，结果相同。

# %%
for one in (log, table, again):
    one.close()
folder.cleanup()

# %% [markdown]
# ## Now you
#
# - Let the power fail one step earlier, in `LogSegment.change_file_suffixes`, after one of the three renames.
# - Then write the recovery: [the lab](../../labs/ch06-log-recovery.md), and the map:
#   [the other lab](../../labs/ch06-cleaner-offset-map.md).
# - Give `clean` a map for two keys (`SkimpyOffsetMap(72)`), and clean the eight messages of the example again and
#   again, each time from the offset that it has returned. **After how many rounds is the active segment reached?**

# %% [markdown] lang="zh"
# ## 轮到你了
#
# - 让断电提前一步发生：在 `LogSegment.change_file_suffixes` 里，三次改名的某一次之后。
# - 然后写出恢复过程：[实验](../../labs/ch06-log-recovery.md)，以及映
#   射：[另一个实验](../../labs/ch06-cleaner-offset-map.md)。
# - 给 `clean` 一个只放得下两个键的映射（`SkimpyOffsetMap(72)`），把例子里的八条消息一遍一遍地清理，每一遍都从它返回的偏
#   移量开始。**几轮之后到达活动分段？**

# %%
answer = None
predictions.ROUNDS.check(answer)
