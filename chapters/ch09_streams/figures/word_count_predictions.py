"""The answers to the predictions of the notebook on word count, computed by its topology. Book 9.1."""

from __future__ import annotations

from typing import NamedTuple

from examples.word_count.topology import node_by_node
from kafka_learn.check import Prediction, Words
from kafka_lite.common.serdes import Serdes
from kafka_lite.producer.partitioner import partition_for_key
from kafka_lite.streams.topology_test_driver import TopologyTestDriver

FIRST = ("to be or not to be", 1000)
OLDER = ("to sleep", 500)
OF_THE_OTHER_PARTITION = ("that is the question", 1000)
PARTITIONS = 2
"""Of the input on the broker."""


class _Counted(NamedTuple):
    """The outcome of some lines."""

    changes: int
    """Records of the changelog."""
    last_time: int | None
    """The timestamp of the last result."""
    count_of_to: int


def counted(*lines: tuple[str, int]) -> _Counted:
    """Count the words of lines, each with its timestamp, one line after the other."""
    with TopologyTestDriver(
        node_by_node(), application_id="app", key_serde=Serdes.string(), value_serde=Serdes.string()
    ) as driver:
        for line, timestamp in lines:
            driver.pipe_input("text", None, line, timestamp=timestamp)
        times = _times(driver, "word-counts")
        return _Counted(
            len(_times(driver, "app-counts-changelog")), times[-1], dict(driver.key_value_store("counts").all())["to"]
        )


def _times(driver: TopologyTestDriver, topic: str) -> list[int | None]:
    return [record.timestamp for record in iter(lambda: driver.read_output(topic, None, None), None)]


CHANGES = Prediction(
    lambda: counted(FIRST).changes,
    Words(
        "Each change of a count is a record. Compaction may later leave the newest of each word.",
        "计数每变一次就有一条记录。以后经过压缩，才可能每个单词只剩最新的一条。",
    ),
    {
        4: Words("So many words differ. But how often does a count change?", "不同的单词是这么多。可是计数变了几次？"),
        1: Words(
            "The line does not reach the second sub-topology: its words do.", "第二个子拓扑收到的是单词，不是这一行。"
        ),
    },
)
TIME = Prediction(
    lambda: counted(FIRST, OLDER).last_time,
    Words(
        "A result has the time of the record from which it was computed, whatever came before.",
        "结果的时间戳就是算出它的那条记录的，与之前来过什么无关。",
    ),
    {
        1000: Words("That is the stream time. Of which record is the result?", "那是流时间。结果是由哪条记录算出的？"),
        0: Words("A record has a time, and passes it on.", "记录有时间戳，会传下去。"),
    },
)
TASKS = Prediction(
    lambda: len(node_by_node().node_groups()) * PARTITIONS,
    Words("One for each sub-topology and partition.", "每个子拓扑的每个分区一个。"),
    {
        2: Words("The words go through a topic: who reads that one?", "单词要经过一个主题：那个主题由谁来读？"),
        1: Words("A task reads one partition of each of its topics.", "一个任务在每个主题里只读一个分区。"),
        3: Words("How many partitions has the repartition topic?", "重分区主题有几个分区？"),
    },
)
PARTITION = Prediction(
    lambda: partition_for_key(b"to", PARTITIONS),
    Words(
        "The hash of the key decides, and nothing else: the task that counts a word also logs it.",
        "只由键的散列值决定：哪个任务计数，就由哪个任务写变更日志。",
    ),
    {1: Words("The line's partition does not matter. Take the hash.", "与那一行在哪个分区无关，看散列值。")},
)
COUNT = Prediction(
    lambda: counted(FIRST, OF_THE_OTHER_PARTITION, OLDER).count_of_to,
    Words(
        "The store was restored from the changelog, and the committed offsets say where to continue.",
        "存储已经从变更日志恢复，从哪里继续，由已提交的偏移量决定。",
    ),
    {
        1: Words("Its folder is empty. Is the count anywhere else?", "它的目录是空的。计数在别处还有吗？"),
        5: Words("Then the first line would have been counted twice.", "那样的话，第一行就数了两遍。"),
        2: Words("That is what the first instance counted.", "那是第一个实例数到的。"),
    },
)
