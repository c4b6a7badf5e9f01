"""Records that operators drop are counted, where Kafka 3.9 counts them, and logged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafka_lite.common.serdes import Serdes
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.recording_level import RecordingLevel
from kafka_lite.metrics.sensor import Sensor
from kafka_lite.streams.kstream.join_windows import JoinWindows
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.session_windows import SessionWindows
from kafka_lite.streams.kstream.windows import TimeWindows
from kafka_lite.streams.processor.state_store import IN_MEMORY, ROCKS_DB
from kafka_lite.streams.processor.timestamp_extractor import LogAndSkipOnInvalidTimestamp
from kafka_lite.streams.topology_test_driver import TopologyTestDriver

TEXT = Serdes.string()
Record = tuple[str, str | None, str | None]


def dropped(builder: KStreamBuilder, *records: Record, timestamps: tuple[int, ...] = (), **options: Any) -> float:
    """How many of these records (topic, key, value) the tasks say they have dropped."""
    metrics = Metrics()
    with TopologyTestDriver(builder, key_serde=TEXT, value_serde=TEXT, metrics=metrics, **options) as driver:
        for number, (topic, key, value) in enumerate(records):
            driver.pipe_input(topic, key, value, timestamp=timestamps[number] if timestamps else 1000)
        totals = [metric.value for name, metric in metrics.metrics.items() if name.name == "dropped-records-total"]
        assert totals, "the metric is there before anything is dropped"
        return sum(map(float, totals))


def reads(topology: Callable[[KStreamBuilder, Any, Any], Any]) -> KStreamBuilder:
    builder = KStreamBuilder()
    topology(builder, builder.stream("s"), builder.table("t", "T"))
    return builder


def add(value: str, other: str | None) -> str:
    return value + (other or "")


@pytest.mark.parametrize(
    ("topology", "records"),
    [
        (lambda _, s, t: s.join(t, add), [("s", None, "v"), ("s", "k", None)]),
        (lambda _, s, t: s.left_join(t, add), [("s", None, "v"), ("s", "k", None)]),
        (
            lambda b, s, _: s.join(b.stream("u"), add, windows=JoinWindows.of(1)),
            [("s", None, "v"), ("u", "k", None)],
        ),
        (
            lambda b, s, _: s.join(b.global_table("g", "G"), add, key_mapper=lambda key, _: key),
            [("s", None, "v"), ("s", "k", None)],
        ),
        (lambda *_: None, [("t", None, "v")]),
        (lambda _, s, __: s.group_by_key().count("C"), [("s", None, "v")]),
        (lambda _, s, __: s.group_by_key().reduce(max, "C"), [("s", None, "v")]),
        (lambda _, s, __: s.group_by_key().count("C", TimeWindows.of(9)), [("s", None, "v")]),
        (lambda _, s, __: s.group_by_key().count("C", SessionWindows.with_gap(9)), [("s", None, "v")]),
    ],
    ids=["join", "left join", "windowed join", "global", "table", "count", "reduce", "windows", "sessions"],
)
def test_a_record_without_a_key_or_a_value_that_an_operator_needs(
    topology: Any, records: list[Record], caplog: pytest.LogCaptureFixture
) -> None:
    assert dropped(reads(topology), *records, ("s", "k", "v"), ("t", "k", "v")) == len(records)
    lines = [line.getMessage() for line in caplog.records if "Skipping record due to null" in line.getMessage()]
    assert [line.partition("topic=")[2] for line in lines] == [
        f"[{topic}] partition=[0] offset=[{len([each for each in records[:number] if each[0] == topic])}]"
        for number, (topic, _, _) in enumerate(records)
    ]


def test_the_sensor_is_not_looked_up_for_each_dropped_record() -> None:
    class Registry(Metrics):
        looked_up = 0

        def sensor(self, name: str, *parents: Sensor, level: RecordingLevel = RecordingLevel.INFO) -> Sensor:
            self.looked_up += name.endswith("dropped-records")
            return super().sensor(name, *parents, level=level)

    lookups = []
    windows = TimeWindows.of(1000).until(120_000)
    for number in (1, 9):
        metrics = Registry()
        builder = reads(lambda _, s, t: (s.join(t, add), s.group_by_key().count("C", windows)))
        late = [("s", None, "v"), ("s", "k", "v")] * number
        driver = TopologyTestDriver(builder, key_serde=TEXT, value_serde=TEXT, metrics=metrics)
        with driver:
            driver.pipe_input("s", "k", "v", timestamp=10_000_000)
            for topic, key, value in late:
                driver.pipe_input(topic, key, value, timestamp=1)
        lookups.append(metrics.looked_up)
    assert lookups[0] == lookups[1]


def test_a_record_that_a_table_has_no_partner_for_is_no_dropped_record() -> None:
    assert dropped(reads(lambda _, s, t: s.join(t, add)), ("s", "k", "v")) == 0


@pytest.mark.parametrize("kind", [IN_MEMORY, ROCKS_DB])
def test_a_record_that_comes_after_its_window_has_expired(kind: str) -> None:
    builder = KStreamBuilder()
    windows = TimeWindows.of(1000).until(120_000)
    builder.stream("s").group_by_key().count("C", windows)
    late = [("s", "k", "v")] * 3
    assert dropped(builder, *late, timestamps=(0, 10_000_000, 1), default_dsl_store=kind) == 1


def test_a_record_with_a_negative_time(caplog: pytest.LogCaptureFixture) -> None:
    extractor = LogAndSkipOnInvalidTimestamp()
    builder = reads(lambda *_: None)
    assert dropped(builder, ("s", "k", "v"), timestamps=(-1,), timestamp_extractor=extractor) == 1
    assert "Skipping record due to negative extracted timestamp. topic=[s] partition=[0] offset=[0]" in caplog.text
