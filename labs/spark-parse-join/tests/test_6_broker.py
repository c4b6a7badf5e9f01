"""Task 6: a day of real flights and weather in real topics, with forty broken records among them."""

from collections import Counter
from datetime import date

import pytest

from kafka_learn.labs.flight_events import create_topics, publish_events
from kafka_learn.labs.rows import rows_of
from pipeline.events import FLIGHTS, PARTITIONS, WEATHER
from pipeline.jobs.dead_letters import dead_letters
from pipeline.jobs.parsing import events_of, parse
from pipeline.replay_plan import Fault, FaultMix, fault_counts, plan
from pipeline.run.day_range import load_days
from pipeline.weather_delays import delays_in_pandas, delays_in_spark, differences

BROKEN = 40


@pytest.fixture(scope="session")
def day():
    return load_days(date(2013, 11, 3), 1)  # the day on which an hour of New York occurs twice


@pytest.fixture(scope="session")
def sent(broker, day):
    create_topics(broker, PARTITIONS)
    planned = plan(day.events(), PARTITIONS, FaultMix(garbage=BROKEN), seed=86)
    publish_events(broker, [each.event for each in planned])
    assert fault_counts(planned)[Fault.GARBAGE] == BROKEN
    return len(planned)


@pytest.fixture
def parsed(spark, broker, sent):
    """The records of both topics, parsed."""
    assert sent
    options = {"kafka.bootstrap.servers": broker.bootstrap_servers, "includeHeaders": "true"}

    def read(event_type):
        return parse(spark.read.format("kafka_lite").options(**options, subscribe=event_type.topic).load(), event_type)

    return read(FLIGHTS), read(WEATHER)


@pytest.mark.points(5, task=6)
def test_every_record_is_an_event_or_a_dead_letter(parsed, sent):
    """Records in the topics"""
    events = sum(events_of(each).count() for each in parsed)
    letters = sum(dead_letters(each).count() for each in parsed)
    assert letters == BROKEN, f"{BROKEN} broken records were sent; you have {letters} dead letters"
    assert events + letters == sent, f"{sent} records were sent, events and dead letters are {events + letters}"


@pytest.mark.points(5, task=6)
def test_the_delays_equal_those_of_pandas(parsed, day):
    """Delays by weather"""
    flights, weather = (events_of(each) for each in parsed)
    found = differences(delays_in_spark(flights, weather).toPandas(), delays_in_pandas(day.flights, day.weather))
    assert not found, f"{len(found)} differences from pandas, among them: {found[0]}"


@pytest.mark.points(5, task=6)
def test_event_times_are_the_timestamps_of_the_producer(parsed):
    """In UTC"""
    rows = [
        row
        for each in parsed
        for row in rows_of(each.where("error IS NULL").select("event_time", "timestamp", "topic"))
    ]
    wrong = Counter(row["topic"] for row in rows if row["event_time"] != row["timestamp"])
    assert not wrong, f"the producer writes the event time into the timestamp; yours differ: {dict(wrong)}"
