"""The answers to the predictions of the notebook on a segment's bytes, found in real segments. Book 6.1.3."""

from __future__ import annotations

from chapters.ch06_storage.figures.segment_drawings import FIRST_TIMESTAMP, example_segment, record_search
from kafka_learn.check import Prediction, Words
from kafka_lite.log.log_append_info import analyze_and_validate_records
from kafka_lite.log.offset_index import OffsetIndex
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import MAGIC_V2

BASE = 20
"""The first offset of the segment."""
FEW, MANY = 12, 40
"""Its messages at first, and later."""
SECONDS = (1, 4, 2, 6, 5, 3, 10, 9, 8, 7, 12, 11)
"""The timestamps that go back and forth."""
TARGETS = (19, 20, 21, 22, 31, 32, 1000)
"""The offsets that are looked up at the edges."""


def index_bytes(messages: int) -> int:
    """The bytes of an offset index that are used after so many messages."""
    with example_segment(BASE, messages) as segment:
        return segment.offset_index.size_in_bytes


def found(target: int) -> tuple[int, int]:
    """The offset of the index entry from which ``target`` is reached, and the number of messages between them."""
    with example_segment(BASE, FEW) as segment:
        entry = segment.offset_index.lookup(target)
        return entry.offset, sum(entry.offset <= batch.last_offset < target for batch in segment.log.batches_from())


def beyond_the_log() -> int:
    """For how many of the targets the log has no message."""
    with example_segment(BASE, FEW) as segment:
        return sum(segment.translate_offset(target) is None for target in TARGETS)


def fewest_turns() -> int:
    """The turns of the quickest search for an offset that is not below the first entry."""
    with example_segment(BASE, MANY) as segment:
        offsets = range(segment.offset_index.entry(0).offset, BASE + MANY)
        return min(len(record_search(segment.offset_index, target)[1]) for target in offsets)


def indexed_seconds() -> str:
    """The timestamps of the time index, in seconds."""
    with example_segment(60, FEW, lambda number: FIRST_TIMESTAMP + 1000 * SECONDS[number]) as segment:
        entries = [segment.time_index.entry(n) for n in range(segment.time_index.entries)]
    return " ".join(str((entry.timestamp - FIRST_TIMESTAMP) // 1000) for entry in entries)


def entries_after_a_crash() -> int:
    """The entries that an index seems to have when its files are opened, and nobody has closed them."""
    with example_segment(BASE, MANY) as segment:
        segment.flush()
        own = segment.offset_index
        return OffsetIndex(own.file, base_offset=BASE, max_index_size=own.max_index_size).entries


def last_entry_after_truncation(offset: int) -> int:
    """The offset of the last index entry after ``truncate_to``."""
    with example_segment(BASE, MANY) as segment:
        segment.truncate_to(offset)
        return segment.offset_index.entry(segment.offset_index.entries - 1).offset


def entry_of_the_second_batch() -> int:
    """The offset of the index entry of the second of two batches of ten messages."""
    with example_segment(BASE, 0) as segment:
        for base in (BASE, BASE + 10):
            builder = MemoryRecordsBuilder(MAGIC_V2, CompressionType.NONE, base_offset=base)
            for number in range(10):
                builder.append(FIRST_TIMESTAMP + number, b"key", b"x" * 40)
            records = builder.build()
            segment.append(analyze_and_validate_records(records), records)
        return segment.offset_index.entry(0).offset


FIRST_BYTES = Prediction(
    lambda: index_bytes(1),
    Words(
        "Fewer bytes than `index.interval.bytes` have been written since the segment began, so no entry is due.",
        "从分段开头算起，写入的还不到 `index.interval.bytes`，所以还不该有索引项。",
    ),
    {
        8: Words("So large is an entry. Is one due?", "一项是这么大。可是该有一项了吗？"),
        12: Words("So large is an entry of the time index.", "这是时间索引一项的大小。"),
        4096: Words("Those are reserved. Which of them were written?", "这是预留的大小。写过的有多少？"),
    },
)
ENTRY = Prediction(
    lambda: found(27)[0],
    Words(
        "It is the last entry that is not greater. A log can be read forwards only.",
        "它是不大于目标的最后一项。日志只能往后读。",
    ),
    {
        28: Words("From there the log would have to be read backwards.", "从那里开始，就要往回读日志了。"),
        27: Words("Not every message has an entry: look at the drawing.", "不是每条消息都有索引项：请看图。"),
        22: Words("A later entry is nearer.", "后面还有更近的一项。"),
        20: Words(
            "That is the base offset, for targets before the first entry.", "这是基准偏移量，目标在第一项之前才用它。"
        ),
    },
)
PASSED = Prediction(
    lambda: found(27)[1],
    Words(
        "The message of the entry itself. Then comes the one that was asked for.",
        "越过索引项所指的那一条，下一条就是要找的。",
    ),
    {
        0: Words("The entry points at another message.", "索引项指向的是另一条消息。"),
        7: Words("Only without the index one begins at the start of the file.", "没有索引，才从文件开头找起。"),
        2: Words("The message that was asked for is not passed.", "要找的那条不算越过。"),
    },
)
EDGES = Prediction(
    beyond_the_log,
    Words(
        "Those that are greater than the last offset. Below the base offset, the log gives its first message.",
        "就是大于最后一个偏移量的那些。低于基准偏移量时，日志给出第一条消息。",
    ),
    {
        3: Words("Below the base offset the log gives its first message.", "低于基准偏移量时，日志给出第一条消息。"),
        1: Words("At which offset does the last message stand?", "最后一条消息的偏移量是多少？"),
        0: Words("The index cannot know where the log ends. The log can.", "索引不知道日志到哪里为止，日志知道。"),
        4: Words("At which offset does the last message stand?", "最后一条消息的偏移量是多少？"),
    },
)
TURNS = Prediction(
    fewest_turns,
    Words(
        "The loop does not stop when it meets its target, but continues until one slot is left. So searches differ by "
        "one turn at most.",
        "循环遇到目标时并不停下，要到只剩一个槽为止，所以各次查找最多相差一轮。",
    ),
    {
        1: Words(
            "That would be so if the loop compared for equality. It only asks whether an entry is greater.",
            "如果循环会比较是否相等，才会这样。它只问一项是否更大。",
        ),
        5: Words("So many has the longest search. How much shorter can one be?", "这是最长的。最短的能短多少？"),
        0: Words("More than one slot is left at the beginning.", "一开始，剩下的不止一个槽。"),
    },
)
TIMES = Prediction(
    indexed_seconds,
    Words(
        "With each entry of the offset index goes the largest timestamp so far, unless it is there already.",
        "每产生一个偏移量索引项，就记下到目前为止最大的时间戳，已经记过的不再记。",
    ),
    {
        "2 5 10 8 12": Words(
            "These are the timestamps of the messages that get an offset index entry. A search needs sorted ones.",
            "这些是有偏移量索引项的消息自己的时间戳。要能查找，就得有序。",
        ),
        "4 6 10 10 12": Words("The same entry twice would be of no use.", "同样的一项记两次没有用处。"),
        "1 4 6 10 12": Words("With which message is the first entry due?", "第一项该在哪条消息处产生？"),
        "2 5 10 12": Words("The time index keeps the largest so far.", "时间索引记的是到目前为止最大的。"),
    },
)
CRASHED = Prediction(
    entries_after_a_crash,
    Words(
        "The file still has the reserved 4096 bytes, and every eight of them count as an entry.",
        "文件仍是预留的 4096 字节，每八个字节都算一项。",
    ),
    {
        19: Words(
            "So many were written. Who has cut off the rest of the file?", "写过的是这么多。文件的其余部分裁剪了吗？"
        ),
        0: Words("The entries were written to the file.", "各项已经写进文件。"),
        4096: Words("Those are bytes.", "这是字节数。"),
        341: Words("An entry of twelve bytes belongs to the time index.", "十二个字节的项是时间索引的。"),
    },
)
TRUNCATED = Prediction(
    lambda: last_entry_after_truncation(30),
    Words(
        "The entry of offset 30 goes with its message. Before it there is one for every second message.",
        "偏移量 30 的那一项随它的消息一起去掉。在它之前，每两条消息有一项。",
    ),
    {
        30: Words("The message at 30 is the first that goes.", "30 处的消息是第一条要去掉的。"),
        29: Words("This message stays. Does it have an entry?", "这条消息留下。可是它有索引项吗？"),
        58: Words("It would point behind the end of the log.", "那样它就指向日志末端之后了。"),
        26: Words("One more entry points at a message that stays.", "还有一项，所指的消息也留下。"),
    },
)
BATCH_ENTRY = Prediction(
    entry_of_the_second_batch,
    Words(
        "The largest of the batch. A search for 30 to 38 gets an entry before it, and reads the log from there. And no "
        "batch has to be decompressed to find its first offset.",
        "批次里最大的偏移量。查找 30 到 38 时，得到的是它之前的一项，从那里起读日志；而且不必为了找第一个偏移量去解压"
        "批次。",
    ),
    {
        30: Words(
            "In 0.10.2 it was the first offset of what was appended. Later it changed.",
            "0.10.2 里记的是所追加的第一个偏移量，后来改了。",
        ),
        29: Words("That is the end of the batch before.", "这是前一个批次的末尾。"),
        40: Words("The third batch begins there.", "第三个批次从那里开始。"),
        20: Words("That is the base offset.", "这是基准偏移量。"),
    },
)
