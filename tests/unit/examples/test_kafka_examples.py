"""Kafka's examples give the results that their descriptions promise."""

from __future__ import annotations

from typing import Any

from examples.kafka_examples.topologies import (
    FILE_INPUT,
    JSON,
    MAXIMA,
    PAGE_VIEW_WINDOWS,
    PAGE_VIEWS,
    PIPE_OUTPUT,
    STATISTICS,
    STRING,
    TEMPERATURES,
    USER_PROFILES,
    page_view,
    pipe,
    temperature,
)
from kafka_lite.common.serdes import Serde
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.windowed_serde import WindowedSerde
from kafka_lite.streams.kstream.windows import TimeWindows
from kafka_lite.streams.topology_test_driver import TopologyTestDriver


def driver_of(builder: KStreamBuilder) -> TopologyTestDriver:
    return TopologyTestDriver(builder, application_id="app", key_serde=STRING, value_serde=STRING)


def outputs(driver: TopologyTestDriver, topic: str, key: Serde[Any], value: Serde[Any]) -> list[tuple[Any, Any]]:
    found = []
    while record := driver.read_output(topic, key.deserializer, value.deserializer):
        found.append((record.key, record.value))
    return found


def test_a_pipe_copies_every_record_with_its_time() -> None:
    with driver_of(pipe()) as driver:
        driver.pipe_input(FILE_INPUT, "k", "all streams lead to kafka", timestamp=7)
        driver.pipe_input(FILE_INPUT, None, "hello kafka streams", timestamp=5)
        records = list(iter(lambda: driver.read_output(PIPE_OUTPUT), None))
    assert [(record.key, record.value, record.timestamp) for record in records] == [
        ("k", "all streams lead to kafka", 7), (None, "hello kafka streams", 5),
    ]  # fmt: skip


def test_the_maximum_of_five_seconds_is_sent_if_it_is_above_twenty() -> None:
    readings = [("kitchen", "18", 1000), ("cellar", "25", 2000), ("kitchen", "21", 3000), ("roof", "9", 5000)]
    with driver_of(temperature()) as driver:
        for sensor, value, timestamp in readings:
            driver.pipe_input(TEMPERATURES, sensor, value, timestamp=timestamp)
        found = outputs(driver, MAXIMA, WindowedSerde(STRING), STRING)
    assert [(key.key, key.window.start, value) for key, value in found] == [("temp", 0, "25"), ("temp", 0, "25")]


def test_views_are_counted_by_region_in_each_window() -> None:
    with driver_of(page_view(TimeWindows.of(2000).advance_by(1000))) as driver:

        def pipe(topic: str, user: str, value: dict[str, str], timestamp: int) -> None:
            driver.pipe_input(topic, user, value, timestamp=timestamp, value_serializer=JSON.serializer)

        pipe(USER_PROFILES, "ann", {"region": "Europe"}, 0)
        pipe(PAGE_VIEWS, "ann", {"user": "ann", "page": "index.html"}, 1500)
        pipe(PAGE_VIEWS, "ann", {"user": "ann", "page": "news.html"}, 2500)
        pipe(PAGE_VIEWS, "bob", {"user": "bob", "page": "index.html"}, 500)
        found = outputs(driver, STATISTICS, JSON, JSON)
    assert [(key["region"], key["window-start"], value["count"]) for key, value in found] == [
        ("Europe", 0, 1), ("Europe", 1000, 1), ("Europe", 1000, 2), ("Europe", 2000, 1), ("UNKNOWN", 0, 1),
    ]  # fmt: skip


def test_a_view_belongs_to_a_week_of_windows() -> None:
    now = 1_600_000_000_000
    assert len(PAGE_VIEW_WINDOWS.windows_for(now)) == 7 * 24 * 60 * 60
