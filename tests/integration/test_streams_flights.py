"""Flights through windows, a join with a table and aggregates of Streams: the answers are those of pandas.

``KAFKA_LITE_FLIGHTS=1000000`` sends a million of them: all flights of 2013, and again 364 days later, and so on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from confluent_kafka import Producer

from kafka_lite.common.serdes import Serdes
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.streams.kafka_streams import KafkaStreams
from kafka_lite.streams.kstream.kstream import KStream
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.ktable import KTable
from kafka_lite.streams.kstream.windows import TimeWindows
from kafka_lite.streams.windowed import Windowed
from kafka_lite.testing.cluster import Cluster
from pipeline.nycflights import load_flights, load_planes
from tests.support.eventually import eventually
from tests.support.patience import patient_s

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

FLIGHTS = int(os.environ.get("KAFKA_LITE_FLIGHTS", "10000"))
PARTITIONS = 3
DAY_MS = 24 * 60 * 60 * 1000
YEARS_MS = 100 * 366 * DAY_MS
APPLICATION = "flight-delays"

Row = dict[str, Any]
Figures = dict[str, tuple[int, int]]
"""By key: the number of flights, and the sum of their delays in minutes."""


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster({"log.retention.ms": -1, "group.initial.rebalance.delay.ms": 0}) as running:
        for topic in ("flights", "planes", "by-day", "by-manufacturer"):
            running.create_topic(topic, PARTITIONS)
        yield running


def delays() -> KStreamBuilder:
    """Flights by airport and day (UTC), and, joined with the table of planes, by manufacturer."""
    builder = KStreamBuilder()
    text, rows = Serdes.string(), Serdes.json()
    flights: KStream[str, Row] = builder.stream("flights", key_serde=text, value_serde=rows)
    planes: KTable[str, str] = builder.table("planes", "Planes", text, text)

    days = TimeWindows.of(DAY_MS).until(YEARS_MS)
    by_origin = flights.group_by(lambda _, flight: flight["origin"], text, rows)
    by_day: KTable[Windowed[str], Any] = by_origin.aggregate(_nothing, _added, rows, "Days", days)
    by_day.to_stream(lambda day, _: f"{day.key} {day.window.start}").to("by-day", text, rows)

    built = flights.join(planes, lambda flight, manufacturer: {**flight, "manufacturer": manufacturer}, text, rows)
    by_manufacturer = built.group_by(lambda _, flight: flight["manufacturer"], text, rows)
    by_manufacturer.aggregate(_nothing, _added, rows, "Manufacturers").to("by-manufacturer", text, rows)
    return builder


def _nothing() -> list[int]:
    return [0, 0]


def _added(_: str, flight: Row, total: list[int]) -> list[int]:
    return [total[0] + 1, total[1] + (flight["dep_delay"] or 0)]


def table_of_flights() -> pd.DataFrame:
    """``FLIGHTS`` rows in the order of the data set: tailnum, origin, dep_delay, and the scheduled departure in ms."""
    year = load_flights()
    hours = (pd.to_datetime(year["time_hour"], utc=True) - pd.Timestamp(0, tz="UTC")) // pd.Timedelta(hours=1)
    year["ms"] = hours * 3_600_000 + year["minute"] * 60_000
    year = year[["tailnum", "origin", "dep_delay", "ms"]]
    years = -(-FLIGHTS // len(year))
    shifted = [year.assign(ms=year["ms"] + number * 364 * DAY_MS) for number in range(years)]
    return pd.concat(shifted, ignore_index=True).head(FLIGHTS)


def send(producer: Producer, topic: str, key: str | None, value: str, timestamp: int) -> None:
    """Produce a record; wait if the producer's memory is full."""
    while True:
        try:
            producer.produce(topic, value, key, timestamp=timestamp)
            return
        except BufferError:
            producer.poll(0.1)


def write_planes(producer: Producer, planes: pd.DataFrame) -> None:
    for tailnum, manufacturer in planes[["tailnum", "manufacturer"]].itertuples(index=False):
        send(producer, "planes", tailnum, manufacturer, 1)
    assert producer.flush(patient_s(60)) == 0


def write_flights(producer: Producer, flights: pd.DataFrame) -> None:
    for tailnum, origin, delay, ms in flights.itertuples(index=False):
        row = {"origin": origin, "dep_delay": None if delay is pd.NA else int(delay)}
        send(producer, "flights", tailnum if isinstance(tailnum, str) else None, json.dumps(row), ms)
    assert producer.flush(600) == 0


def is_processed(consumer: KafkaConsumer, topics: list[str]) -> bool:
    """Whether the application has committed the ends of topics."""
    partitions = [TopicPartition(topic, number) for topic in topics for number in range(PARTITIONS)]
    committed = consumer.committed(partitions)
    ends = consumer.end_offsets(partitions)
    return all((offset.offset if (offset := committed[each]) else 0) == ends[each] for each in partitions)


def figures_in(cluster: Cluster, topic: str) -> Figures:
    """The last figures of each key of a topic."""
    found: Figures = {}
    for record in cluster.records(topic):
        assert record.key is not None
        assert record.value is not None
        number, total = json.loads(record.value)
        found[record.key.decode()] = (number, total)
    return found


def figures_of(flights: pd.DataFrame, key: pd.Series[str]) -> Mapping[str, tuple[int, int]]:
    """The same from pandas."""
    groups = flights.assign(dep_delay=flights["dep_delay"].fillna(0)).groupby(key)["dep_delay"]
    return {name: (len(group), int(group.sum())) for name, group in groups}


def test_flights_are_counted_and_joined_as_pandas_does(cluster: Cluster, tmp_path: Path) -> None:
    flights, planes = table_of_flights(), load_planes()
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "linger.ms": 20})
    configs = {
        "application.id": APPLICATION,
        "bootstrap.servers": cluster.bootstrap_servers,
        "state.dir": str(tmp_path),
        "commit.interval.ms": 1_000,
    }
    group = {
        "bootstrap.servers": cluster.bootstrap_servers,
        "group.id": APPLICATION,
        "enable.auto.commit": False,
    }
    write_planes(producer, planes)
    with KafkaStreams(delays(), configs) as streams, KafkaConsumer(group) as consumer:
        streams.start()
        eventually(lambda: is_processed(consumer, ["planes"]), "the table is loaded", timeout_s=120)
        write_flights(producer, flights)
        # In the order of the topology: what is in a repartition topic at last is known once the flights are committed.
        between = [f"{APPLICATION}-{store}-repartition" for store in ("Days", "Manufacturers")]
        for topics in (["flights"], between):
            eventually(lambda topics=topics: is_processed(consumer, topics), f"{topics} are processed", timeout_s=3000)

    day = flights["origin"] + " " + (flights["ms"] // DAY_MS * DAY_MS).astype(str)
    assert figures_in(cluster, "by-day") == figures_of(flights, day)
    built = flights.merge(planes[["tailnum", "manufacturer"]], on="tailnum")
    assert figures_in(cluster, "by-manufacturer") == figures_of(built, built["manufacturer"])
    assert len(built) < len(flights), "some have no plane in the table"
