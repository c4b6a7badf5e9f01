"""The answers to the predictions of the notebook on recovery and compaction, found by both. Book 6.1.5, 6.1.6."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

from chapters.ch06_storage.figures.compaction_drawings import COMPACTED, EXAMPLE, append_pairs, clean, messages
from chapters.ch06_storage.figures.log_drawings import VALUE, example_log, fill, flip_a_bit, open_log, record_set
from kafka_learn.check import Prediction, Words
from kafka_lite.common.process.log_levels import quiet
from kafka_lite.log.cleaning.skimpy_offset_map import SkimpyOffsetMap
from kafka_lite.log.log import Log
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.log.log_segments import LogSegments

LARGER = {"segment.bytes": "1500"}
"""The configuration of the writer that is killed."""
FLUSHED_SETS, MORE_SETS = 16, 4
TWO_KEYS = 72
"""The bytes of an offset map that has room for two keys."""


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "demo-0"


def torn_bytes() -> int:
    """The bytes of half a batch."""
    return len(record_set(*[(b"k", VALUE)] * 3)) // 2


@functools.cache
def recovered_segments() -> str:
    """The base offsets of the segments that are read as a whole when a killed log is opened."""
    read: list[int] = []
    recover = LogSegment.recover

    def noted(segment: LogSegment, *args: Any) -> int:
        read.append(segment.base_offset)
        return recover(segment, *args)

    with _folder() as directory, quiet("kafka_lite.log"):
        killed = open_log(directory, LARGER)
        fill(killed, FLUSHED_SETS)
        killed.flush()
        fill(killed, MORE_SETS)
        with patch.object(LogSegment, "recover", noted):
            open_log(directory, LARGER, recovery_point=killed.recovery_point)
    return " ".join(map(str, read))


def recovered_range(damage: Callable[[Path], object]) -> tuple[int, int]:
    """Log start and log end offset after six batches in three segments were damaged and recovered."""
    with _folder() as directory, quiet("kafka_lite.log"):
        fill(open_log(directory), 6)
        damage(directory)
        recovered = open_log(directory)
        return recovered.log_start_offset, recovered.log_end_offset


def _offsets(log: Log) -> list[int]:
    return [int(text.split(":")[0]) for segment in messages(log) for text in segment]


@functools.cache
def kept_offsets() -> str:
    """The offsets that are there after the first cleaning."""
    with example_log(COMPACTED) as log:
        append_pairs(log, EXAMPLE)
        clean(log)
        return " ".join(map(str, _offsets(log)))


@functools.cache
def removed_next() -> int:
    """The offset that the second cleaning removes."""
    with example_log(COMPACTED) as log:
        append_pairs(log, EXAMPLE)
        first_dirty = clean(log)
        append_pairs(log, [(b"e", b"1")])
        log.roll()
        before = _offsets(log)
        clean(log, from_offset=first_dirty)
        (removed,) = set(before) - set(_offsets(log))
        return removed


@functools.cache
def reason_of_two_probes() -> str:
    """Why ``d`` is not put into the first slot that it is looked for in."""
    offset_map = SkimpyOffsetMap(8 * SkimpyOffsetMap.SLOT.size)
    for offset, key in enumerate((b"a", b"b", b"c")):
        offset_map.put(key, offset)
    hashes = {offset_map._hash(key) for key in (b"a", b"b", b"c")}
    own = offset_map._hash(b"d")
    taken = not offset_map._is_empty(offset_map._position_of(own, 0))
    return "hash" if own in hashes else "slot" if taken else "full"


def _power_fails(*_: object) -> None:
    raise KeyboardInterrupt


@functools.cache
def messages_after_half_a_replacement() -> int:
    """How many messages a log has that is opened after a cleaning stopped at its first ``.swap``."""
    with _folder() as directory, quiet("kafka_lite.log"):
        half_way = open_log(directory, COMPACTED)
        append_pairs(half_way, EXAMPLE)
        with patch.object(LogSegments, "replace", _power_fails), suppress(KeyboardInterrupt):
            clean(half_way)
        return len(_offsets(open_log(directory, COMPACTED)))


@functools.cache
def rounds_with_a_small_map() -> int:
    """How many cleanings reach the active segment if the map has room for two keys."""
    with example_log(COMPACTED) as log:
        append_pairs(log, EXAMPLE)
        first_dirty, rounds = 0, 0
        while first_dirty < log.active_segment.base_offset:
            first_dirty = clean(log, from_offset=first_dirty, offset_map=SkimpyOffsetMap(TWO_KEYS))
            rounds += 1
        return rounds


TORN = Prediction(
    torn_bytes,
    Words(
        "Segment 42 has six batches and half of one. Its indexes, too, show that it was not closed: they have their "
        "reserved size.",
        "分段 42 有六个批次，外加半个。它的索引也看得出没有正常关闭：仍是预留的大小。",
    ),
    {
        205: Words("A whole batch can stay.", "完整的批次可以留下。"),
        1332: Words("Most of this file is good.", "这个文件大部分是好的。"),
        1230: Words("Those are the bytes of the whole batches.", "这是完整批次的字节数。"),
        0: Words("Divide the sizes of the log files by the size of a batch.", "请用日志文件的大小除以批次的大小。"),
    },
)
READ = Prediction(
    recovered_segments,
    Words(
        "All that is below the recovery point is on disk. The segment that contains it is read from its beginning.",
        "恢复点之前的都已经在磁盘上；恢复点所在的分段从头读起。",
    ),
    {
        "0 21 42": Words("What does the recovery point say about the first ones?", "对前面的分段，恢复点说明了什么？"),
        "21 42": Words("All of one of them is below the recovery point.", "其中一个全在恢复点之前。"),
        "48": Words("A segment is named after its first offset.", "分段以第一个偏移量命名。"),
        "": Words("Is everything above the recovery point on disk?", "恢复点之后的都在磁盘上吗？"),
    },
)
FLIPPED = Prediction(
    lambda: recovered_range(lambda directory: flip_a_bit(directory / f"{6:020d}.log", 100))[1],
    Words(
        "The log ends before the first batch that is not valid. A log has no holes, so the next segment goes, too.",
        "日志到第一个无效的批次为止。日志里不能有空洞，所以后面的分段也一起去掉。",
    ),
    {
        18: Words("The CRC of a batch is checked.", "批次的 CRC 要校验。"),
        15: Words("Then there would be a hole in the log.", "那样日志里就有了空洞。"),
        12: Words("Is the first batch of the segment valid?", "这个分段的第一个批次有效吗？"),
        9: Words("Is the first batch of the segment valid?", "这个分段的第一个批次有效吗？"),
        0: Words("The first segment is whole.", "第一个分段完好。"),
    },
)
STARTS = Prediction(
    lambda: recovered_range(lambda directory: (directory / f"{0:020d}.log").unlink())[0],
    Words(
        "The first file of a log says where the log starts. The broker cannot know that there was more.",
        "日志从哪里开始，看第一个日志文件。broker 无从知道前面还有过消息。",
    ),
    {
        0: Words("What is left to say that the log has begun there?", "还有什么说明日志是从那里开始的？"),
        18: Words("The other segments are whole, and have no hole.", "其余的分段完好，中间也没有空洞。"),
        3: Words("All batches of the first segment were in this file.", "第一个分段的批次都在这个文件里。"),
        12: Words("The second segment is whole.", "第二个分段完好。"),
    },
)
KEPT = Prediction(
    kept_offsets,
    Words(
        "The newest of each key in the two segments below the active one, the tombstone too, and all of the active "
        "one, "
        "which is neither cleaned nor looked at.",
        "活动分段之前的两个分段里，每个键最新的一条，墓碑消息也在内；还有整个活动分段，它不参与清理，也不看它的键。",
    ),
    {
        "4 5 6 7": Words("Does the map know of a message in the active segment?", "映射里有活动分段里的消息吗？"),
        "4 6 7": Words(
            "Consumers must have time to see the tombstone. And what is in the map?",
            "要留时间让消费者看到墓碑消息。还有，映射里有什么？",
        ),
        "2 4 6 7": Words("Consumers must have time to see the tombstone.", "要留时间让消费者看到墓碑消息。"),
        "2 4 5": Words("The active segment stays as it is.", "活动分段保持原样。"),
    },
)
REMOVED = Prediction(
    removed_next,
    Words(
        "Now the map contains the newer value of a. What is left of the first two segments fits into one.",
        "现在映射里有了 a 的新值。前两个分段剩下的，合成一个也放得下。",
    ),
    {
        5: Words("The tombstone is not old enough yet.", "墓碑消息还没有到期。"),
        4: Words("Is there a newer value of b?", "b 有更新的值吗？"),
        6: Words("Is there a newer value of a than this?", "a 有比它更新的值吗？"),
        8: Words("It is the only one of its key.", "它是这个键唯一的一条。"),
    },
)
PROBES = Prediction(
    reason_of_two_probes,
    Words(
        "Part of the hash, modulo the number of slots, gives the slot. Another key was there first, with another hash.",
        "槽由散列值的一部分对槽数取余得出。那里先有了另一个键，散列值不同。",
    ),
    {
        "hash": Words(
            "The map compares hashes, not keys. Two keys with the same hash would overwrite each other.",
            "映射比较的是散列值，不是键。散列值相同的两个键会互相覆盖。",
        ),
        "full": Words("Half of it is empty.", "一半还空着。"),
        "again": Words("It is put for the first time.", "它是第一次放入。"),
    },
)
HALF_WAY = Prediction(
    messages_after_half_a_replacement,
    Words(
        "The complete `.swap` replaces the first segment, which keeps one message. The other two are as they were.",
        "完整的 `.swap` 替换第一个分段，剩下一条消息。另外两个分段还是原样。",
    ),
    {
        8: Words(
            "A file that ends in `.swap` is complete: it need not be thrown away.",
            "以 `.swap` 结尾的文件是完整的，不用扔掉。",
        ),
        5: Words("Was the second segment cleaned before the power failed?", "断电之前，第二个分段清理过吗？"),
        9: Words("The old file of the first segment goes.", "第一个分段的旧文件会去掉。"),
    },
)
ROUNDS = Prediction(
    rounds_with_a_small_map,
    Words(
        "A round ends where the map is full: at the third key, and a replaced value needs no new slot.",
        "映射满了，一轮就到那里为止，也就是遇到第三个键的地方；已有的键换新值不占新的槽。",
    ),
    {
        1: Words("Three keys do not fit into the map.", "三个键放不进这个映射。"),
        2: Words(
            "After which message is the map full, and where does the next round begin?",
            "映射在哪条消息之后满，下一轮从哪里开始？",
        ),
        6: Words("A key that is there already needs no slot of its own.", "已经在映射里的键不占新的槽。"),
    },
)
