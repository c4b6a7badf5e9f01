"""The answers to the predictions of the notebook that counts with files and with a log. Book 9.3."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from chapters.ch09_streams.five_systems.lines import SMALL, counted
from chapters.ch09_streams.five_systems.map_reduce import WORD_COUNT, partition_of, read_pairs, run
from kafka_learn.check import Prediction, Words
from kafka_lite.producer.partitioner import partition_for_key

WORDS = [word for line in SMALL for word in line.lower().split()]


def moved(lines: Sequence[str]) -> int:
    """How many pairs go through the files between two mappers, of which the first has three lines, and reducers."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as threads:
        run(WORD_COUNT, [lines[:3], lines[3:]], Path(folder), threads)
        return sum(1 for file in Path(folder).glob("map-*/part-*") for _ in read_pairs(file))


def after_a_crash(kept_lines: int) -> int:
    """How often "to" is counted if a crash after two lines leaves the counts of so many, and the second comes again."""
    counts = Counter(word for line in SMALL[:kept_lines] for word in line.lower().split())
    counts.update(word for line in SMALL[1:] for word in line.lower().split())
    return counts["to"]


MOVED = Prediction(
    lambda: moved(SMALL),
    Words(
        "One pair for each word that differs in a mapper's lines: what it has twice, it adds up before it writes.",
        "mapper 手里有几个不同的单词，就有几对：同一个单词出现两次，写文件之前已经加在一起。",
    ),
    {
        len(WORDS): Words(
            "That is each word. What does a mapper do before it writes?", "那是每个单词一对。mapper 写之前做了什么？"
        ),
        len(set(WORDS)): Words("A mapper does not know the words of the other.", "一个 mapper 不知道另一个的单词。"),
        5: Words("Lines are split where they are read.", "一行在读的时候就拆开了。"),
    },
)
RECORDS = Prediction(
    lambda: len(WORDS),
    Words("Each word is a record as soon as it is read.", "每个单词一读到就是一条记录。"),
    {
        36: Words("Who would add up, and when? A stream has no end.", "由谁来加，什么时候加？流没有终点。"),
        5: Words("It is the words that need a partition of their own.", "要按键分区的是单词，不是行。"),
        32: Words(
            "So many words differ. Nothing puts them together before the topic.",
            "不同的单词是这么多，可是到主题之前，没有谁把它们合在一起。",
        ),
    },
)
PLACE = Prediction(
    lambda: "yes" if all(partition_of(word, 2) == partition_for_key(word.encode(), 2) for word in WORDS) else "no",
    Words("Both take the same hash of the word, and the remainder.", "两者用同一个散列函数，再取余数。"),
    {"no": Words("What decides where a word goes, in each of the two?", "在两者那里，单词的去处各由什么决定？")},
)
PROCESSED = Prediction(
    lambda: sum(len(line.split()) for number in range(1, 6) for line in SMALL[:number]),
    Words(
        "Each job begins with the first line: the first is processed five times, the last once.",
        "每个作业都从第一行开始：第一行处理了五遍，最后一行一遍。",
    ),
    {
        43: Words(
            "That is what the log takes. What does a job know of the one before?",
            "那是用日志时的数。一个作业知道前一个做过什么吗？",
        ),
        215: Words("After the first line there are no five lines yet.", "来了第一行的时候，还没有五行。"),
    },
)
SPILLS = Prediction(
    lambda: 0,
    Words(
        "The folder of the first attempt is deleted, and a result gets its name when it is complete.",
        "第一次尝试的目录会被删掉，结果在完整之后才得到名字。",
    ),
    {
        1: Words("Then words would be counted twice.", "那样就会有单词数了两遍。"),
        2: Words("A reducer reads what has its final name.", "reducer 只读有正式名字的文件。"),
    },
)
CHANGELOG = Prediction(
    lambda: after_a_crash(kept_lines=2),
    Words(
        "The counts of the second line are there, and the line comes again: the state has outlived the position.",
        "第二行的计数还在，这一行又来了一次：状态比位置活得久。",
    ),
    {
        after_a_crash(kept_lines=1): Words(
            "That is right, and so it is the third: here the position was committed later than the counts.",
            "这是正确的数，所以是第三种。这里的位置比计数提交得晚。",
        ),
        after_a_crash(kept_lines=0): Words(
            "So many are counted in memory, whose counts are gone.", "在内存里是这么多，那里的计数没有了。"
        ),
    },
)
COMPACTED = Prediction(
    lambda: len(counted(SMALL)),
    Words(
        "The newest of each word: enough to restore every count, since a change has the whole count and no difference.",
        "每个单词最新的一条。够用：每次改动记的是整个计数，不是增量，所以每个计数都能恢复。",
    ),
    {
        43: Words("What does compaction keep of a key?", "一个键，压缩之后留下什么？"),
        1: Words("Which key have the records?", "这些记录的键是什么？"),
    },
)
