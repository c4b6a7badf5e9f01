"""The answers to the predictions of the notebook on data frames, by the source's own planner and readers. T.1.

Spark itself is not started: it asks the source which ranges a frame has when the frame runs for the first time.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from kafka_learn.check import Prediction, Words
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.partitioner import partition_for_key
from kafka_lite.spark.reading.planner import OffsetRange, split
from kafka_lite.testing.cluster import Cluster
from pipeline.events import FLIGHTS, event_times, keys
from pipeline.nycflights import load_flights

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql.datasource import InputPartition

    from kafka_lite.spark.reading.batch_reader import KafkaBatchReader

PARTITIONS = 2
MORE_PARTITIONS = 3
FIRST_TEN = {
    "startingOffsets": json.dumps({FLIGHTS.topic: {"0": 0, "1": 0}}),
    "endingOffsets": json.dumps({FLIGHTS.topic: {"0": 5, "1": 5}}),
}
"""The options that name ten rows for good."""
FROM_UTC = "2013-07-01 15:00"
"""The time from which the last question reads."""
BEFORE, ADDED = 20, 10
"""Records of the small topic, before and after the frames are made."""


# ── the day of the notebook ─────────────────────────────────────────────────────────────────────────────────────────


@functools.cache
def day() -> pd.DataFrame:
    """The flights of 1 July, in the order in which they are sent."""
    flights = load_flights()
    return flights[(flights.month == 7) & (flights.day == 1)]


def _partition_of(key: str, partitions: int = PARTITIONS) -> int:
    return partition_for_key(key.encode(), partitions)


def nulls_in_the_mean() -> str:
    """How flights without a delay enter the mean."""
    delays = day()["dep_delay"]
    mean = delays.mean()
    return "zero" if mean == delays.fillna(0).mean() else "skipped" if mean == delays.dropna().mean() else "null"


def ranges() -> list[OffsetRange]:
    """The offsets of the day's partitions."""
    chosen = [_partition_of(key) for key in keys(FLIGHTS, day())]
    return [OffsetRange(TopicPartition(FLIGHTS.topic, n), 0, chosen.count(n)) for n in range(PARTITIONS)]


def first_offset_from(time_utc: str) -> int:
    """The offset of partition 0 at which a read by timestamps starts: that of the first record which is not older."""
    times = event_times(FLIGHTS, day())
    here = [time for key, time in zip(keys(FLIGHTS, day()), times, strict=True) if _partition_of(key) == 0]
    return next(offset for offset, time in enumerate(here) if f"{time:%Y-%m-%d %H:%M}" >= time_utc)


def wrong_after_a_third_partition() -> str:
    """The frame that finds an old record for some key after the topic has got another partition."""
    logs: dict[int, list[tuple[str, int]]] = {n: [] for n in range(MORE_PARTITIONS)}
    flights = [f"flight {number}" for number in range(100)]
    for time, partitions in enumerate((PARTITIONS, MORE_PARTITIONS)):
        for key in flights:
            logs[_partition_of(key, partitions)].append((key, time))
    rows = [(key, offset, time) for log in logs.values() for offset, (key, time) in enumerate(log)]
    newest = {key: max(time for each, _, time in rows if each == key) for key in flights}
    by_offset = {key: max((offset, time) for each, offset, time in rows if each == key)[1] for key in flights}
    return "by_offset" if by_offset != newest else "neither"


# ── a small topic on a broker ───────────────────────────────────────────────────────────────────────────────────────


def _reader(cluster: Cluster, options: Mapping[str, str]) -> KafkaBatchReader:
    from kafka_lite.spark.options import batch_options
    from kafka_lite.spark.reading.batch_reader import KafkaBatchReader

    common = {"kafka.bootstrap.servers": cluster.bootstrap_servers, "subscribe": FLIGHTS.topic}
    return KafkaBatchReader(batch_options({**common, **options}))


def _count(reader: KafkaBatchReader, tasks: Iterable[InputPartition]) -> int:
    return sum(batch.num_rows for task in tasks for batch in reader.read(task))


@functools.cache
def frames_with_new_rows() -> int:
    """How many of the four frames see what was appended after the first line."""
    with Cluster() as cluster:
        cluster.create_topic(FLIGHTS.topic, partitions=PARTITIONS)
        cluster.produce(FLIGHTS.topic, *map(str, range(BEFORE)), partition=0)
        cluster.produce(FLIGHTS.topic, *map(str, range(BEFORE)), partition=1)
        read_before, unread, ten = (_reader(cluster, options) for options in ({}, {}, FIRST_TEN))
        kept = read_before.partitions()  # Spark asks once, when the frame runs for the first time
        before = _count(read_before, kept), _count(ten, ten.partitions())
        cluster.produce(FLIGHTS.topic, *map(str, range(ADDED)), partition=0)
        new = _reader(cluster, {})
        after = [
            _count(new, new.partitions()) > before[0],
            _count(ten, ten.partitions()) > before[1],
            _count(read_before, kept) > before[0],
            _count(unread, unread.partitions()) > before[0],
        ]
    return sum(after)


@functools.cache
def rows_that_are_left() -> int:
    """The rows of the ten after the first ten records of partition 0 were deleted, if a loss is no error."""
    with Cluster() as cluster:
        cluster.create_topic(FLIGHTS.topic, partitions=PARTITIONS)
        for partition in range(PARTITIONS):
            cluster.produce(FLIGHTS.topic, *map(str, range(BEFORE)), partition=partition)
        logs = cluster.server.log_manager.all_logs()
        log = next(log for log in logs if log.topic_partition == TopicPartition(FLIGHTS.topic, 0))
        log.maybe_increment_log_start_offset(10)
        reader = _reader(cluster, {**FIRST_TEN, "failOnDataLoss": "false"})
        return _count(reader, reader.partitions())


# ── the predictions ─────────────────────────────────────────────────────────────────────────────────────────────────

MEAN = Prediction(
    nulls_in_the_mean,
    Words(
        "Both Spark and pandas leave nulls out of a mean, while count(*) counts the rows. That the two agree shows "
        "that "
        "the topic has lost nothing.",
        "Spark 和 pandas 算平均值时都不计空值，而 count(*) 数的是行。两边一致，说明主题里什么也没有丢。",
    ),
    {
        "zero": Words("A flight that never left was not on time.", "没有起飞的航班，不等于准点。"),
        "null": Words("Then hardly any mean of real data would exist.", "那样的话，真实数据几乎都没有平均值了。"),
    },
)
TASKS = Prediction(
    lambda: len(split(ranges())),
    Words("One for each partition: a task reads a range of one log.", "每个分区一个：一个任务读一个日志的一段范围。"),
    {
        1: Words("Nothing keeps the partitions from being read side by side.", "各个分区可以并行地读。"),
        966: Words("Those are the rows.", "这是行数。"),
        4: Words("The topic of the notebook is smaller than that of the pipeline.", "笔记本的主题比流水线的小。"),
    },
)
MORE_TASKS = Prediction(
    lambda: len(split(ranges(), min_partitions=6)),
    Words(
        "Ranges are split in proportion to their size, here into three each. A partition has one reader in a group of "
        "consumers; a task only has its range.",
        "按大小的比例切分，这里各切成三段。消费组里一个分区只有一个读者；而任务只有自己的一段范围。",
    ),
    {
        2: Words("A task needs no membership, only offsets.", "任务不需要成为成员，只要有偏移量。"),
        12: Words("The option counts all tasks of the query.", "这个选项算的是整个查询的任务数。"),
        3: Words("The option counts all tasks of the query.", "这个选项算的是整个查询的任务数。"),
    },
)
NEW_ROWS = Prediction(
    frames_with_new_rows,
    Words(
        "The new frame, and the one that had never run: a frame looks the latest offsets up when it runs for the first "
        "time, and keeps them.",
        "新建的，以及从未执行过的：数据框在第一次执行时查最新的偏移量，之后就不再变。",
    ),
    {
        1: Words(
            "When does a frame look the latest offsets up: when it is made?", "数据框是在建立的时候查最新的偏移量吗？"
        ),
        3: Words(
            "One of the others has written its end down, one has looked it up before.",
            "另外两个里，一个写下了终点，一个早已查过。",
        ),
        4: Words("One of them has written its end down.", "其中一个写下了终点。"),
        0: Words(
            "The frame that is made afterwards knows nothing of the past.", "之后才建立的数据框，不知道以前的情形。"
        ),
    },
)
WRONG = Prediction(
    wrong_after_a_third_partition,
    Words(
        "A key may move to the new partition, which counts from 0. Offsets of two partitions cannot be compared.",
        "键可能换到新的分区，那里从 0 开始计数。两个分区的偏移量无法比较。",
    ),
    {
        "by_event_time": Words("Is the time of an event a matter of partitions?", "事件的时间与分区有关吗？"),
        "both": Words("One of them does not look at partitions at all.", "其中一个与分区毫无关系。"),
        "neither": Words("Where does a key go when the number of partitions changes?", "分区数变了，键会到哪里？"),
    },
)
LEFT = Prediction(
    rows_that_are_left,
    Words(
        "Those of partition 1. The others have gone for good, and no records take their place. Without the option the "
        "query fails, so that nobody takes a part for the whole.",
        "就是分区 1 的那些。另外的永远没有了，也没有别的记录来顶替。不加这个选项，查询就失败，免得有人把一部分当作全"
        "部。",
    ),
    {
        10: Words("An offset is the name of one record, not a count.", "偏移量是一条记录的名字，不是计数。"),
        0: Words("Partition 1 has lost nothing.", "分区 1 什么也没有丢。"),
        9: Words("All of the ten that are in partition 0 were deleted.", "这十行里在分区 0 的，全都删掉了。"),
    },
)
STARTS = Prediction(
    lambda: first_offset_from(FROM_UTC),
    Words(
        "The first flights left after midnight, hours late, and the data set has their scheduled times, those of the "
        "evening. A read starts at the first record that is not older; older ones that follow it are read, too.",
        "最前面的航班晚点几个小时，午夜过后才起飞，数据集里记的是它们计划的时间，也就是晚上。读取从第一条不早于那个时"
        "间的记录开始，排在后面的更早的记录也会读到。",
    ),
    {
        467: Words("Many records are not older than that.", "不早于那个时间的记录有很多。"),
        1: Words("Look at the times of the first rows again.", "再看看最前面几行的时间。"),
        168: Words("So many rows are older. Are they the first ones?", "早于它的有这么多行。它们排在最前面吗？"),
        -1: Words("Many records are not older than that.", "不早于那个时间的记录有很多。"),
    },
)
LIMITED = Prediction(
    lambda: len(split(ranges(), max_records=100)),
    Words(
        "Five for each partition, of 93 or 94 and of 99 or 100 rows: a range is cut into equal parts, so that no task "
        "gets only a small rest.",
        "每个分区五个，各 93 或 94 行，99 或 100 行：一段范围平均切分，所以没有哪个任务只得到一点零头。",
    ),
    {
        8: Words("What is left of each partition needs a task, too.", "每个分区剩下的也需要一个任务。"),
        2: Words("Both partitions have more rows than a task may have.", "两个分区的行数都超过一个任务的上限。"),
        9: Words("A task reads from one partition.", "一个任务只读一个分区。"),
    },
)
