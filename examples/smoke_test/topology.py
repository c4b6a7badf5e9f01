"""The application: nine answers about the numbers of each key, which depend on nearly every part of Streams.

Topics, stores and node names are those of Kafka's client, so that instances of both may share the tasks.

Kafka 0.10.2: streams/src/test/.../tests/SmokeTestClient.java, SmokeTestUtil.java · book 9.2.2, 9.2.4
"""

from __future__ import annotations

from typing import Any, TypeVar

from kafka_lite.common.serdes import Serdes
from kafka_lite.streams.kstream.kstream import KStream
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.ktable import KTable
from kafka_lite.streams.kstream.windows import TimeWindows
from kafka_lite.streams.processor.processor import Processor, ProcessorSupplier
from kafka_lite.streams.processor.processor_context import ProcessorContext
from kafka_lite.streams.windowed import Windowed

V = TypeVar("V")

APPLICATION_ID = "SmokeTest"
DATA, ECHO, MIN, MAX, SUM, CNT = "data", "echo", "min", "max", "sum", "cnt"
DIF, AVG, TAGG = "dif", "avg", "tagg"
OUTPUTS = (ECHO, MIN, MAX, SUM, CNT, DIF, AVG, TAGG)
TOPICS = (DATA, *OUTPUTS)

STRING, INTEGER, LONG, DOUBLE = Serdes.string(), Serdes.integer(), Serdes.long(), Serdes.double()
DAY_MS = 24 * 60 * 60 * 1000
ONE_DAY, TWO_DAYS = TimeWindows.of(DAY_MS), TimeWindows.of(2 * DAY_MS)
SMALLEST, GREATEST = -(1 << 31), (1 << 31) - 1
END = GREATEST
"""A number that is echoed, and otherwise left out."""

CONFIGS: dict[str, object] = {
    "application.id": APPLICATION_ID,
    "num.stream.threads": 3,
    "num.standby.replicas": 2,
    "buffered.records.per.partition": 100,
    "commit.interval.ms": 1000,
    "replication.factor": 3,
    "auto.offset.reset": "earliest",
    "acks": "all",
}
"""The configuration of Kafka's client: many threads, a standby of each task on two other instances, small buffers."""


class Report(Processor[Any, Any]):
    """Prints that a task begins, and each hundredth of its records. The driver waits for these lines."""

    def __init__(self, topic: str) -> None:
        self._topic = topic
        self._processed = 0

    def init(self, context: ProcessorContext) -> None:
        """Say which task it is."""
        super().init(context)
        print(f"initializing processor: topic={self._topic} taskId={context.task_id}", flush=True)

    def process(self, key: Any, value: Any) -> None:  # noqa: ARG002
        """Count a record."""
        self._processed += 1
        if self._processed % 100 == 0:
            print(f"processed {self._processed} records from topic={self._topic}", flush=True)


def _report(topic: str) -> ProcessorSupplier:
    return lambda: Report(topic)


def _without_window(window: Windowed[str], value: V) -> tuple[str, V]:
    return window.key, value


def smoke_test() -> KStreamBuilder:
    """The topology:

    ::

        data ─▶ echo                                a copy
             ─▶ min, max, sum, cnt                  windows, each read again as a table
                     max, min ─▶ dif                a join of two tables
                     sum, cnt ─▶ avg                another
                     cnt ─▶ tagg                    a table grouped by count: how many keys have each count
    """
    builder = KStreamBuilder()
    source: KStream[str, int] = builder.stream(DATA, key_serde=STRING, value_serde=INTEGER)
    source.to(ECHO, STRING, INTEGER)
    data = source.filter(lambda _key, value: value != END)
    data.process(_report(DATA))
    minima, maxima, sums, counts = _aggregates(builder, data)
    maxima.join(minima, lambda greatest, least: greatest - least).to(DIF, STRING, INTEGER)
    sums.join(counts, lambda total, count: total / count).to(AVG, STRING, DOUBLE)
    keys_by_count = counts.group_by(lambda _key, count: (str(count), 1), STRING, LONG)
    keys_by_count.aggregate(
        lambda: 0,
        lambda _count, one, keys: keys + one,
        lambda _count, one, keys: keys - one,
        LONG,
        "cntByCnt",
    ).to(TAGG, STRING, LONG)
    return builder


def _aggregates(
    builder: KStreamBuilder, data: KStream[str, int]
) -> tuple[KTable[str, int], KTable[str, int], KTable[str, int], KTable[str, int]]:
    """Minimum, maximum, sum and count of each key, as tables that are read back from their topics."""
    grouped = data.group_by_key(STRING, INTEGER)

    def table(windowed: KTable[Windowed[str], int], topic: str, serde: Any) -> KTable[str, int]:
        windowed.to_stream().map(_without_window).to(topic, STRING, serde)
        values: KTable[str, int] = builder.table(topic, f"{topic}StoreName", STRING, serde)
        values.to_stream().process(_report(topic))
        return values

    least = grouped.aggregate(lambda: GREATEST, lambda _, value, other: min(value, other), INTEGER, "uwin-min", ONE_DAY)
    minima = table(least, MIN, INTEGER)
    most = grouped.aggregate(lambda: SMALLEST, lambda _, value, other: max(value, other), INTEGER, "uwin-max", TWO_DAYS)
    maxima = table(most, MAX, INTEGER)
    total = grouped.aggregate(lambda: 0, lambda _, value, other: value + other, LONG, "win-sum", TWO_DAYS)
    sums = table(total, SUM, LONG)
    return minima, maxima, sums, table(grouped.count("uwin-cnt", TWO_DAYS), CNT, LONG)
