"""Task 6: a day of real flights through a real broker, with late events and doubles among them."""

from datetime import date

import pandas as pd
import pytest

from kafka_learn.labs.flight_events import create_topics, publish_events
from kafka_learn.labs.rows import rows_of
from kafka_learn.labs.streams import once, running
from pipeline import reference
from pipeline.events import FLIGHTS, PARTITIONS, encode, event_times
from pipeline.jobs.delays import delays_by_window
from pipeline.jobs.parsing import events_of
from pipeline.queries import PipelineConfig, read_stream
from pipeline.replay_plan import FaultMix, plan
from pipeline.run.day_range import load_days


@pytest.fixture(scope="session")
def day():
    return load_days(date(2013, 7, 1), 1)


@pytest.fixture(scope="session")
def sent(broker, day):
    """The flights in the order in which they are planned, some of them late, some twice; then the clock."""
    create_topics(broker, PARTITIONS)
    planned = plan(encode(FLIGHTS, day.flights), PARTITIONS, FaultMix(late=0.05, duplicates=0.05), seed=56)
    publish_events(broker, [each.event for each in planned])
    publish_events(broker, day.closing_events())
    return [each.event for each in planned]


@pytest.fixture(scope="module")
def table(spark, broker, sent, tmp_path_factory):
    """The rows that the stream emits."""

    def run():
        assert sent
        folder = tmp_path_factory.mktemp("topic")
        config = PipelineConfig(broker.bootstrap_servers, folder)
        job = delays_by_window(events_of(read_stream(spark, config, FLIGHTS)))
        with running(job, folder / "checkpoint") as query:
            return query.step()

    return once(run)


@pytest.mark.points(7, task=6)
def test_the_table_equals_that_of_pandas(table, day):
    """Delays by airport and hour"""
    want = reference.delays_by_window(day.flights)
    found = reference.differences(pd.DataFrame(table()), want, reference.KEYS["delays"])
    assert not found, f"{len(found)} differences from pandas, among them: {found[0]}"


@pytest.mark.points(4, task=6)
def test_no_event_of_the_plan_is_too_late(sent):
    """What your too_late says of the events that were sent"""
    times = pd.Series([pd.Timestamp(event.timestamp_ms, unit="ms", tz="UTC") for event in sent])
    late = int(too_late_of(times, "2 hours").sum())
    assert late == 0, f"events are at most an hour late and two are allowed: none is dropped, yours are {late}"
    assert too_late_of(times, "10 minutes").any(), "with ten minutes of lateness, some would be dropped"


def too_late_of(times, lateness):
    return reference.too_late(times, lateness)


@pytest.mark.points(4, task=6)
def test_the_clock_is_in_no_window(spark, broker, sent, day):
    """What a batch query finds at the end"""
    assert sent
    newest = event_times(FLIGHTS, day.flights).max()
    options = {"kafka.bootstrap.servers": broker.bootstrap_servers, "subscribe": "flights", "includeHeaders": "true"}
    records = spark.read.format("kafka_lite").options(**options).load()
    last = max(row["timestamp"] for row in rows_of(records.select("timestamp")))
    assert last - newest > pd.Timedelta(days=1), (
        f"the clock's event is more than a day later than {newest}, not at {last}"
    )
