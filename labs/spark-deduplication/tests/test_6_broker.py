"""Task 6: a day of real flights through a real broker, a tenth of them twice."""

from collections import Counter
from datetime import date

import pandas as pd
import pytest

from kafka_learn.labs.flight_events import create_topics, publish_events
from kafka_learn.labs.rows import rows_of
from kafka_learn.labs.streams import once, running
from pipeline import reference
from pipeline.events import FLIGHTS, PARTITIONS, encode
from pipeline.jobs.aircraft_days import REST_HOURS, Leg, split_days, summary
from pipeline.jobs.deduplication import deduplicated
from pipeline.jobs.parsing import events_of
from pipeline.queries import PipelineConfig, read_stream
from pipeline.replay_plan import FaultMix, plan
from pipeline.run.day_range import load_days


@pytest.fixture(scope="session")
def day():
    return load_days(date(2013, 7, 1), 1)


@pytest.fixture(scope="session")
def sent(broker, day):
    """How many records were sent."""
    create_topics(broker, PARTITIONS)
    planned = plan(encode(FLIGHTS, day.flights), PARTITIONS, FaultMix(late=0.05, duplicates=0.1), seed=66)
    publish_events(broker, [each.event for each in planned])
    return len(planned)


@pytest.fixture(scope="module")
def rows(spark, broker, sent, tmp_path_factory):
    """The rows of your deduplicated, on a stream of the topic."""

    def run():
        assert sent
        folder = tmp_path_factory.mktemp("topic")
        config = PipelineConfig(broker.bootstrap_servers, folder)
        with running(deduplicated(events_of(read_stream(spark, config, FLIGHTS))), folder / "checkpoint") as query:
            return query.step()

    return once(run)


@pytest.mark.points(5, task=6)
def test_each_flight_is_there_once(rows, sent, day):
    """Records in the topic, rows of the stream"""
    ids = Counter(row["event_id"] for row in rows())
    assert sent > len(day.flights), "some flights were sent twice"
    twice = [each for each, number in ids.items() if number > 1]
    assert not twice, f"{len(twice)} flights are there more than once, among them {twice[0] if twice else ''}"
    lost = set(reference.distinct_flights(day.flights)["event_id"]) - set(ids)
    assert not lost, f"{len(lost)} flights are lost, among them {sorted(lost)[:1]}"


@pytest.mark.points(5, task=6)
def test_ids_are_those_of_the_headers(spark, broker, sent, day):
    """As confluent-kafka has sent them"""
    options = {"kafka.bootstrap.servers": broker.bootstrap_servers, "subscribe": "flights", "includeHeaders": "true"}
    records = spark.read.format("kafka_lite").options(**options).load()
    found = rows_of(records.selectExpr("cast(headers[0].value AS string) AS id", "cast(key AS string) AS key"))
    assert len(found) == sent, f"{sent} records were sent, the topic has {len(found)}"
    wrong = next((row for row in found if not row["id"].startswith(f"{row['key']}/")), None)
    assert wrong is None, f"the id of a record begins with its key: {wrong}"
    assert len({row["id"] for row in found}) == len(day.flights), "each flight of the day has an id of its own"


@pytest.mark.points(5, task=6)
def test_the_days_of_all_aircraft(rows, day):
    """Your split_days on the rows of the stream, against pandas"""
    by_aircraft = {}
    for row in rows():
        if row["tailnum"] is not None:
            time_ms = int(row["event_time"].timestamp() * 1000)
            leg = Leg(time_ms, row["event_id"], row["origin"], row["dest"], row["dep_delay"])
            by_aircraft.setdefault(row["tailnum"], []).append(leg)
    days = [summary(tailnum, each) for tailnum, legs in by_aircraft.items()
            for each in split_days(legs, REST_HOURS * 3_600_000)]  # fmt: skip
    got = pd.DataFrame([row.asDict() for row in days])
    got = got.assign(first_departure=pd.to_datetime(got["first_ms"], unit="ms", utc=True),
                     last_departure=pd.to_datetime(got["last_ms"], unit="ms", utc=True))  # fmt: skip
    found = reference.differences(got, reference.aircraft_days(day.flights), reference.KEYS["aircraft_days"])
    assert not found, f"{len(found)} differences from pandas, among them: {found[0]}"
