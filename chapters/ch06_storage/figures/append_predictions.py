"""The answers to the predictions of the notebook on append and read, found in a log like its own. Book 6.1.2, 6.1.4."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from chapters.ch06_storage.figures.log_drawings import example_log, fill, record_set
from kafka_learn.check import Prediction, Words
from kafka_learn.recording.recorder import Recording
from kafka_learn.recording.watches import watch
from kafka_lite.common.errors import ApiError
from kafka_lite.log.files.file_message_set import FileMessageSetSlice
from kafka_lite.log.log import Log
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.log.offset_index import OffsetIndex
from kafka_lite.record.record import MAGIC_V1
from kafka_lite.record.records import batches

SENT = record_set((b"k", b"one"), (b"k", b"two"), (b"k", b"three"))
"""The batch that the producer sends twice."""
MORE_SETS = 5
"""The batches that are appended after it."""
HW = 12


@contextmanager
def _grown_log(more: int = MORE_SETS) -> Iterator[Log]:
    """The notebook's log: the same batch twice, then some more of 205 bytes."""
    with example_log() as log:
        for _ in range(2):
            log.append_as_leader(bytearray(SENT), leader_epoch=4)
        fill(log, more)
        yield log


@functools.cache
def differing_bytes() -> int:
    """In how many bytes two batches differ that were sent as the same bytes."""
    with _grown_log(0) as log:
        first, second = (log.active_segment.log.read(at, len(SENT)).to_bytes() for at in (0, len(SENT)))
    return sum(one != other for one, other in zip(first, second, strict=True))


@functools.cache
def differing_bytes_of_v1() -> int:
    """The same for a set of three messages in format v1."""
    sent = record_set((b"k", b"one"), (b"k", b"two"), (b"k", b"three"), magic=MAGIC_V1)
    with example_log({"message.format.version": "0.10.2"}) as log:
        for _ in range(2):
            log.append_as_leader(bytearray(sent), leader_epoch=4)
        first, second = (log.active_segment.log.read(at, len(sent)).to_bytes() for at in (0, len(sent)))
    return sum(one != other for one, other in zip(first, second, strict=True))


@functools.cache
def base_offsets() -> str:
    """The base offsets of the segments after all batches."""
    with _grown_log() as log:
        return " ".join(str(segment.base_offset) for segment in log.segments)


@functools.cache
def rejected() -> int:
    """How many of four appends raise an error."""
    damaged = bytearray(SENT)
    damaged[-1] ^= 1
    with _grown_log() as log:
        appends: tuple[Callable[[], object], ...] = (
            lambda: log.append_as_leader(damaged, 4),
            lambda: log.append_as_leader(record_set((b"k", b"x" * 600)), 4),
            lambda: log.append_as_follower(bytearray(SENT)),
            lambda: log.append_as_leader(bytearray(), 4),
        )
        return sum(map(_fails, appends))


def _fails(append: Callable[[], object]) -> bool:
    try:
        append()
    except ApiError:
        return True
    return False


def offsets_of_a_read(start: int, size: int = 1 << 20, high_watermark: int | None = None) -> list[int]:
    """The offsets that a read of at most so many bytes yields."""
    with _grown_log() as log:
        found = log.read(start, size, high_watermark, min_one_message=True).records
        assert isinstance(found, FileMessageSetSlice)
        return [
            offset for batch in batches(found.to_bytes()) for offset in range(batch.base_offset, batch.last_offset + 1)
        ]


def lookups_of_a_read(high_watermark: int) -> int:
    """How often the index is consulted."""
    with _grown_log() as log, Recording(watch(OffsetIndex.lookup, LogSegment.read)) as recording:
        log.read(9, 1 << 20, high_watermark)
    return [event.what for event in recording.run if event.kind == "call"].count("lookup")


DIFFERING = Prediction(
    differing_bytes,
    Words(
        "The last byte of the base offset, which is a small number. The CRC does not cover it, so it stays the same.",
        "只有基准偏移量的最后一个字节，因为数字很小。CRC 不覆盖这个字段，所以不变。",
    ),
    {
        8: Words("The field is so long. But the numbers in it are small.", "这个字段是这么长，可是里面的数字很小。"),
        5: Words(
            "That compares it with what was sent. Both have the same epoch now.",
            "这是和发来的相比。现在两个的纪元相同。",
        ),
        12: Words("Is the CRC computed over the base offset, too?", "计算 CRC 时包括基准偏移量吗？"),
        0: Words("Then both would be at the same place in the log.", "那样两个批次就在日志的同一个位置了。"),
    },
)
SEGMENTS = Prediction(
    base_offsets,
    Words(
        "192 bytes are there already: one more batch fits into 500, and then two in each segment.",
        "已经有 192 字节：500 里还放得下一个批次，此后每个分段放两个。",
    ),
    {
        "0 6 12 18": Words("The first segment is not full yet.", "第一个分段还没有满。"),
        "0 12": Words("How many batches fit into 500 bytes?", "500 字节里放得下几个批次？"),
        "0 9 15 21": Words(
            "A segment is rolled when a batch does not fit, and not before.", "要有批次放不下，才切换分段。"
        ),
        "6 12 18": Words("The batches that are there already stay where they are.", "已有的批次留在原处。"),
    },
)
REJECTED = Prediction(
    rejected,
    Words(
        "Only an empty set is no error: nothing is to be done. None of the four changes the log.",
        "只有空的消息集不算错误：什么也不用做。四个都不改变日志。",
    ),
    {
        4: Words("For one of them nothing has to be done.", "其中一个，什么也不用做。"),
        2: Words(
            "The CRC is checked, and a batch must fit into a segment. And may a follower's log step back?",
            "CRC 要校验，批次要放得进一个分段。还有，备份副本的日志可以倒退吗？",
        ),
        1: Words("The CRC is only one of the things that are checked.", "要检查的不止是 CRC。"),
        0: Words("Nothing changes the log. But who tells the sender?", "都不改变日志。可是谁来告诉生产者？"),
    },
)
ONE_BYTE = Prediction(
    lambda: len(offsets_of_a_read(4, 1)),
    Words(
        "A read yields whole batches, and at least one, or a consumer with a small limit would never get on.",
        "读取以整个批次为单位，至少给一个；否则上限小的消费者永远前进不了。",
    ),
    {
        0: Words(
            "Then a consumer with this limit would be stuck for ever.", "那样的话，用这个上限的消费者就永远卡住了。"
        ),
        1: Words("The broker does not look into batches.", "broker 不拆开批次。"),
        2: Words(
            "The messages before it in the batch come, too. The consumer drops them.",
            "批次里在它之前的也一起来，由消费者丢掉。",
        ),
    },
)
UP_TO_HW = Prediction(
    lambda: offsets_of_a_read(7, high_watermark=HW)[-1],
    Words(
        "A slice belongs to one file. The high watermark is in the next segment, so it does not matter here.",
        "一个切片只属于一个文件。高水位在下一个分段里，对这次读取没有影响。",
    ),
    {
        11: Words("In which file is the batch from 9 to 11?", "9 到 11 的批次在哪个文件里？"),
        12: Words("The high watermark itself is not committed yet.", "高水位处的那条还没有提交。"),
        20: Words("A consumer gets nothing that is not committed.", "消费者得不到还没提交的消息。"),
        14: Words("A consumer gets nothing that is not committed.", "消费者得不到还没提交的消息。"),
    },
)
LOOKUPS = Prediction(
    lambda: lookups_of_a_read(HW),
    Words(
        "One for the beginning, and one for the high watermark, which must become a position of the same file.",
        "开头查一次；高水位也要换算成同一个文件里的位置，再查一次。",
    ),
    {
        1: Words("How does the broker know at which byte to stop?", "broker 怎么知道读到哪个字节为止？"),
        0: Words("An offset is no position.", "偏移量不是位置。"),
        3: Words("A read stays in one segment.", "读取不跨分段。"),
    },
)
DIFFERING_V1 = Prediction(
    differing_bytes_of_v1,
    Words(
        "In v1 each message has an offset of its own in front of its CRC, so each of them changes, and no CRC does.",
        "v1 的每条消息各有自己的偏移量，排在 CRC 之前，所以每条都要改，CRC 都不变。",
    ),
    {
        1: Words("There is no header of a whole batch in this format.", "这种格式没有整个批次的头部。"),
        15: Words("An offset is in front of what the CRC covers.", "偏移量在 CRC 覆盖的范围之前。"),
        0: Words("Offsets are assigned by the broker.", "偏移量由 broker 分配。"),
        24: Words("The numbers are small: most bytes of an offset stay zero.", "数字很小，偏移量的多数字节仍然是零。"),
    },
)
