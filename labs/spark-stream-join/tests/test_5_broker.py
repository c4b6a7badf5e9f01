"""Task 5: a day of real flights and weather, through a real broker."""

from datetime import date

import pandas as pd
import pytest

from kafka_learn.labs.flight_events import create_topics, publish_events
from kafka_learn.labs.streams import once, running
from pipeline import reference
from pipeline.events import FLIGHTS, PARTITIONS, WEATHER
from pipeline.jobs.parsing import events_of
from pipeline.jobs.weather_join import flights_with_weather
from pipeline.queries import PipelineConfig, read_stream
from pipeline.replay_plan import FaultMix, plan
from pipeline.run.day_range import load_days


@pytest.fixture(scope="session")
def day():
    return load_days(date(2013, 11, 3), 1)  # the day on which an hour of New York occurs twice


@pytest.fixture(scope="session")
def sent(broker, day):
    """The events in the order in which they are planned, some of them late, some twice; then the clock."""
    create_topics(broker, PARTITIONS)
    planned = plan(day.events(), PARTITIONS, FaultMix(late=0.05, duplicates=0.05), seed=75)
    publish_events(broker, [each.event for each in planned])
    publish_events(broker, day.closing_events())
    return len(planned)


@pytest.fixture(scope="module")
def table(spark, broker, sent, tmp_path_factory):
    """The rows that the stream emits."""

    def run():
        assert sent
        folder = tmp_path_factory.mktemp("topic")
        config = PipelineConfig(broker.bootstrap_servers, folder)
        flights, weather = (events_of(read_stream(spark, config, source)) for source in (FLIGHTS, WEATHER))
        with running(flights_with_weather(flights, weather), folder / "checkpoint") as query:
            return pd.DataFrame(query.step())

    return once(run)


@pytest.mark.points(7, task=5)
def test_every_flight_has_one_row(table, day):
    """Flights in the topic, rows in the table"""
    got, want = len(table()), len(reference.distinct_flights(day.flights))
    assert got == want, f"{want} flights were sent, some of them twice; the table has {got} rows"


@pytest.mark.points(7, task=5)
def test_the_table_equals_that_of_pandas(table, day):
    """Flights with their weather"""
    want = reference.flights_with_weather(day.flights, day.weather)
    found = reference.differences(table(), want, reference.KEYS["flights_with_weather"])
    assert not found, f"{len(found)} differences from pandas, among them: {found[0]}"


@pytest.mark.points(6, task=5)
def test_the_repeated_hour_is_two_hours(table):
    """3 November 2013: from 1:00 to 2:00 twice"""
    rows = table()
    known = rows[rows["observed"].notna()]
    ahead = pd.to_datetime(known["event_time"], utc=True) - pd.to_datetime(known["observed"], utc=True)
    wrong = int(((ahead < pd.Timedelta(0)) | (ahead >= pd.Timedelta(hours=1))).sum())
    assert wrong == 0, f"{wrong} flights have weather that is not of the hour before: event times are in UTC"
