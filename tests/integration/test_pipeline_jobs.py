"""Every job of the pipeline on a few rows, against pandas: in batch queries, and with late data in streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession

from kafka_lite.testing.cluster import Cluster
from pipeline import reference
from pipeline.events import (
    DEAD_LETTERS,
    DELAYS,
    EVENT_ID,
    FLIGHTS,
    SCHEMA_VERSION,
    WEATHER,
    Event,
    EventType,
    clock_events,
    encode,
)
from pipeline.jobs.dead_letters import dead_letters
from pipeline.jobs.deduplication import deduplicated
from pipeline.jobs.delays import delays_by_window
from pipeline.jobs.parsing import events_of, parse
from pipeline.jobs.record_headers import header
from pipeline.jobs.weather_join import flights_with_weather
from pipeline.queries import PipelineConfig, UnknownJobError, open_session, start_queries
from pipeline.reference import KEYS, differences
from pipeline.sinks import each_once, read_table
from pipeline.topics import EventProducer, create_topics
from tests.support.flight_data import flight, flights, records, weather
from tests.support.spark_jvm import SharedSession

pytestmark = [pytest.mark.spark, pytest.mark.soak, pytest.mark.timeout(300)]

SOME_FLIGHTS = flights(
    flight("2013-07-01T10:00", -3, "N1", "EWR-ORD"), flight("2013-07-01T10:59", 20, "N2", "EWR-LAX"),
    flight("2013-07-01T11:00", 15, "N1", "LGA-MIA"), flight("2013-07-01T11:20", None, None, "LGA-BOS"),
    flight("2013-07-01T13:00", 90, "N1", "EWR-ORD"), flight("2013-07-01T20:59", 14, "N1", "LGA-ORD"),
    flight("2013-07-02T04:59", 2, "N1", "EWR-ORD"),
)  # fmt: skip
SOME_WEATHER = weather(("EWR", "2013-07-01T10", 70.5), ("LGA", "2013-07-01T11", 71.0), ("LGA", "2013-07-01T10", 60.0))


@pytest.fixture(scope="module")
def shared_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedSession]:
    log_file = tmp_path_factory.mktemp("spark") / "spark.log"
    with SharedSession(lambda: open_session("local[2]", log_file, **{"spark.sql.shuffle.partitions": "1"})) as shared:
        yield shared


@pytest.fixture
def spark(shared_session: SharedSession) -> SparkSession:
    return shared_session.get()


@pytest.fixture
def parsed(spark: SparkSession) -> Callable[..., DataFrame]:
    def parsed(event_type: EventType, *events: Event) -> DataFrame:
        return parse(records(spark, events), event_type)

    return parsed


@pytest.fixture
def some_flights(parsed: Callable[..., DataFrame]) -> DataFrame:
    """All flights, each of them twice."""
    return events_of(parsed(FLIGHTS, *encode(FLIGHTS, SOME_FLIGHTS), *encode(FLIGHTS, SOME_FLIGHTS)))


# ── parsing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_parsed_event_has_its_columns_id_and_time(parsed: Callable[..., DataFrame]) -> None:
    table = SOME_FLIGHTS.tail(1)
    (row,) = events_of(parsed(FLIGHTS, *encode(FLIGHTS, table))).collect()
    assert (row.carrier, row.tailnum, row.dep_delay, row.dest, row.arr_delay) == ("UA", "N1", 2, "ORD", None)
    assert row.event_id == f"UA{row.flight}/2013-07-02T04:00:00Z"
    assert pd.Timestamp(row.event_time) == pd.Timestamp("2013-07-02T04:59")
    assert not {"value", "headers", "error", "offset"} & set(row.asDict())


def test_every_malformed_record_becomes_a_dead_letter_with_its_reason(parsed: Callable[..., DataFrame]) -> None:
    (good,) = encode(FLIGHTS, SOME_FLIGHTS.head(1))
    assert isinstance(good.value, str)
    version_2 = [good.headers[0], (SCHEMA_VERSION, b"2")]
    broken = [
        (good._replace(value=good.value[:20]), "not JSON of the schema"),
        (good._replace(value=b"\xff\xfe\x00"), "not JSON of the schema"),
        (good._replace(value=good.value.replace('"minute":0', '"minute":"noon"')), "not JSON of the schema"),
        (good._replace(value="42"), "not JSON of the schema"),
        (good._replace(value=""), "missing: carrier, flight, origin, time_hour, minute"),
        (good._replace(value="{}"), "missing: carrier, flight, origin, time_hour, minute"),
        (good._replace(headers=[]), "no header event-id"),
        (good._replace(headers=good.headers[:1]), "schema-version is not 1: none"),
        (good._replace(headers=version_2), "schema-version is not 1: 2"),
    ]
    frame = parsed(FLIGHTS, good, *(event for event, _ in broken))
    assert [row.flight for row in events_of(frame).collect()] == [SOME_FLIGHTS["flight"][0]]
    letters = dead_letters(frame).select("*", header(EVENT_ID).alias("id"), header("error").alias("error")).collect()
    assert [(row.id, row.error) for row in letters] == [
        (f"flights/0/{offset}", error) for offset, (_, error) in enumerate(broken, start=1)
    ]
    assert bytes(letters[1].value) == b"\xff\xfe\x00"
    assert [each.key for each in letters[-1].headers][-2:] == [EVENT_ID, SCHEMA_VERSION]


# ── jobs in batch queries ────────────────────────────────────────────────────────────────────────────────────────────


def test_duplicates_are_dropped_in_a_batch(some_flights: DataFrame) -> None:
    got = deduplicated(some_flights).toPandas()
    assert sorted(got["flight"]) == sorted(SOME_FLIGHTS["flight"])


def test_delays_by_window_equal_those_of_pandas(some_flights: DataFrame) -> None:
    got = in_utc(delays_by_window(some_flights).toPandas())
    assert differences(got, reference.delays_by_window(SOME_FLIGHTS), KEYS["delays"]) == []


def test_sliding_windows_count_a_flight_once_for_every_window_it_is_in(some_flights: DataFrame) -> None:
    got = delays_by_window(some_flights, "1 hour", "30 minutes").toPandas()
    assert got["flights"].sum() == 2 * len(SOME_FLIGHTS)


def test_flights_are_joined_with_the_weather_of_their_hour(
    some_flights: DataFrame, parsed: Callable[..., DataFrame]
) -> None:
    observations = events_of(parsed(WEATHER, *encode(WEATHER, SOME_WEATHER)))
    got = in_utc(flights_with_weather(some_flights, observations).toPandas())
    assert sorted(got["temp"].dropna()) == [70.5, 70.5, 71.0, 71.0]
    expected = reference.flights_with_weather(SOME_FLIGHTS, SOME_WEATHER)
    assert differences(got, expected, KEYS["flights_with_weather"]) == []


# ── streams ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class Stream:
    """Separate topics for the queries of some jobs, fed and drained step by step."""

    def __init__(self, spark: SparkSession, bootstrap: str, folder: Path, *jobs: str) -> None:
        self.spark, self.bootstrap = spark, bootstrap
        self.config = PipelineConfig(bootstrap, folder, trigger_s=0)
        self.queries = start_queries(spark, self.config, jobs)

    def feed(self, *events: Event) -> None:
        with EventProducer(self.bootstrap) as producer:
            for event in events:
                producer.send(event)
        for query in self.queries:
            query.processAllAvailable()

    def feed_flights(self, *rows: dict) -> None:
        self.feed(*encode(FLIGHTS, flights(*rows)))

    def end(self) -> None:
        """Close everything that is open."""
        self.feed(*clock_events(pd.Timestamp("2013-07-05T00:00Z")))

    def table(self, job: str) -> pd.DataFrame:
        return read_table(self.config.table_folder(job))

    def topic(self, name: str) -> DataFrame:
        options = {"kafka.bootstrap.servers": self.bootstrap, "subscribe": name, "includeHeaders": "true"}
        return self.spark.read.format("kafka_lite").options(**options).load()


@pytest.fixture
def stream(spark: SparkSession, tmp_path: Path) -> Iterator[Callable[..., Stream]]:
    started: list[Stream] = []
    with Cluster() as cluster:
        create_topics(cluster.bootstrap_servers)

        def start(*jobs: str, folder: Path = tmp_path / "run") -> Stream:
            started.append(Stream(spark, cluster.bootstrap_servers, folder, *jobs))
            return started[-1]

        yield start
        for each in started:
            for query in each.queries:
                query.stop()


def test_late_flights_are_counted_and_too_late_ones_dropped(stream: Callable[..., Stream]) -> None:
    delays = stream("delays")
    in_time, newest = flight("2013-07-01T10:30", 0), flight("2013-07-01T12:45", 0)
    late, too_late = flight("2013-07-01T10:46", 30), flight("2013-07-01T10:45", 60)
    delays.feed_flights(in_time, newest)
    delays.feed_flights(late, too_late)
    assert delays.table("delays").empty  # the watermark, 10:45, is in the window
    delays.end()
    got = delays.table("delays")
    assert differences(got, reference.delays_by_window(flights(in_time, newest, late)), KEYS["delays"]) == []


def test_a_duplicate_is_dropped_in_later_batches_too(stream: Callable[..., Stream]) -> None:
    once = stream("flights")
    for _ in range(3):
        once.feed(*encode(FLIGHTS, SOME_FLIGHTS))
    once.end()
    got = once.table("flights")
    assert differences(got, reference.distinct_flights(SOME_FLIGHTS), KEYS["flights"]) == []


def test_a_flight_is_joined_with_its_weather_whichever_comes_first(stream: Callable[..., Stream]) -> None:
    joined = stream("flights_with_weather")
    joined.feed(*encode(WEATHER, SOME_WEATHER.head(1)))
    joined.feed(*encode(FLIGHTS, SOME_FLIGHTS.head(4)))
    joined.feed(*encode(WEATHER, SOME_WEATHER.tail(2)))
    joined.feed(*encode(FLIGHTS, SOME_FLIGHTS.tail(3)))
    joined.end()
    expected = reference.flights_with_weather(SOME_FLIGHTS, SOME_WEATHER)
    assert differences(joined.table("flights_with_weather"), expected, KEYS["flights_with_weather"]) == []


def test_aircraft_days_end_with_a_rest_and_include_late_legs(stream: Callable[..., Stream]) -> None:
    days = stream("aircraft_days")
    table = SOME_FLIGHTS
    days.feed(*encode(FLIGHTS, table.iloc[[0, 4, 1]]))  # up to 13:00, so the watermark is 11:00
    days.feed(*encode(FLIGHTS, table.iloc[[0, 3]]))
    late = flight("2013-07-01T11:01", 18, "N1", "JFK-BOS")
    days.feed_flights(late)
    days.feed(*encode(FLIGHTS, table.iloc[[5, 6]]))  # N1 rests for exactly eight hours in between
    days.end()
    arrived = flights(*(table.iloc[index].to_dict() for index in (0, 1, 3, 4, 5, 6)), late)
    got = days.table("aircraft_days")
    assert differences(got, reference.aircraft_days(arrived), KEYS["aircraft_days"]) == []
    assert list(got[got["tailnum"] == "N1"].sort_values("first_departure")["flights"]) == [4, 1]


def test_delays_are_published_with_one_id_per_window(stream: Callable[..., Stream]) -> None:
    delays = stream("delays")
    delays.feed(*encode(FLIGHTS, SOME_FLIGHTS))
    delays.end()
    published = each_once(delays.topic(DELAYS)).selectExpr("event_id", "CAST(key AS STRING) AS origin", "timestamp")
    expected = reference.delays_by_window(SOME_FLIGHTS)
    ids = expected["origin"] + "/" + expected["window_start"].dt.strftime("%Y-%m-%dT%H:%M:%SZ")
    rows = published.collect()
    assert {(row.event_id, row.origin) for row in rows} == set(zip(ids, expected["origin"], strict=True))
    assert {pd.Timestamp(row.timestamp, tz="UTC") for row in rows} == set(expected["window_end"])


def test_dead_letters_come_from_both_topics(stream: Callable[..., Stream]) -> None:
    letters = stream("dead_letters")
    good = [*encode(FLIGHTS, SOME_FLIGHTS.head(1)), *encode(WEATHER, SOME_WEATHER.head(1))]
    letters.feed(*good, *(event._replace(value="?") for event in good))
    (first, second) = letters.topic(DEAD_LETTERS).select(header("error-topic").alias("from"), "value").collect()
    assert {first["from"], second["from"]} == {"flights", "weather"}
    assert bytes(first.value) == b"?"


def test_a_table_rejects_a_query_with_another_checkpoint(stream: Callable[..., Stream], tmp_path: Path) -> None:
    first = stream("flights")
    first.feed(*encode(FLIGHTS, SOME_FLIGHTS))
    first.queries[0].stop()
    (tmp_path / "run" / "checkpoints").rename(tmp_path / "elsewhere")
    with pytest.raises(Exception, match="belongs to another checkpoint"):
        stream("flights").queries[0].processAllAvailable()
    assert len(read_table(first.config.table_folder("flights"))) == len(SOME_FLIGHTS)


def test_an_unknown_job_is_rejected(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(UnknownJobError, match="there is no job delay: the jobs are flights, delays"):
        start_queries(spark, PipelineConfig("127.0.0.1:1", tmp_path), ["delay"])


def in_utc(frame: pd.DataFrame) -> pd.DataFrame:
    """With zones, which ``toPandas`` leaves out."""
    times = frame.select_dtypes("datetime64")
    return frame.assign(**{name: column.dt.tz_localize("UTC") for name, column in times.items()})
