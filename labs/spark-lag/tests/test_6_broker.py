"""Task 6: the history of a real group that reads, falls behind, and catches up in one partition."""

import time
from datetime import timedelta

import pytest
from confluent_kafka import TopicPartition

from kafka_learn.labs.clients import consumer_of, create_topic, publish
from kafka_learn.labs.groups import GROUP_BROKER
from kafka_learn.labs.rows import at, rows_of
from pipeline.tables.group_history import commits
from pipeline.tables.lag import commits_over_time, ends_over_time, every, lag_of_groups, lag_over_time, time_lag

GROUP, TOPIC = "riders", "departures"
HOUR_MS = 3_600_000


@pytest.fixture(scope="session")
def broker_settings():
    """Groups start without delay."""
    return GROUP_BROKER


@pytest.fixture(scope="session")
def now_ms():
    """The commits get the time of the broker, so the records lie around it."""
    return int(time.time() * 1000)


@pytest.fixture(scope="session")
def history(broker, now_ms):
    """60 records an hour ago, 40 in an hour; in between the group commits 30 and 20 of the two partitions."""
    create_topic(broker, TOPIC, 2)

    def fields(first_ms):
        return lambda n: {"value": str(n).encode(), "partition": n % 2, "timestamp": first_ms + n}

    publish(broker, 0, 60, fields(now_ms - HOUR_MS), topic=TOPIC)
    consumer = consumer_of(broker, **{"group.id": GROUP})
    try:
        offsets = [TopicPartition(TOPIC, 0, 30), TopicPartition(TOPIC, 1, 20)]
        consumer.commit(offsets=offsets, asynchronous=False)
    finally:
        consumer.close()
    publish(broker, 60, 40, fields(now_ms + HOUR_MS), topic=TOPIC)
    return {0: 30, 1: 20}


@pytest.fixture
def tables(spark, broker, history):
    """The records, and the lag of every hour."""
    assert history
    options = {"kafka.bootstrap.servers": broker.bootstrap_servers}
    records = spark.read.format("kafka_lite").options(**options, subscribe=TOPIC).load()
    internal = spark.read.format("kafka_lite").options(**options, subscribe="__consumer_offsets").load()
    return records, commits_over_time(commits(internal))


@pytest.fixture
def lag(spark, tables, now_ms):
    records, committed = tables
    asked = every(spark, timedelta(hours=1), at(now_ms - HOUR_MS // 2), at(now_ms + 2 * HOUR_MS))
    return lag_over_time(asked, ends_over_time(records), committed).localCheckpoint()


@pytest.mark.points(5, task=6)
def test_the_end_and_the_commit_of_each_hour(lag, history):
    """Before the commit, after it, and an hour later"""
    rows = {(row["time"], row["partition"]): (row["end"], row["committed"], row["lag"]) for row in rows_of(lag)}
    times = sorted({time for time, _ in rows})
    assert len(times) == 3, f"three hours were asked for, the rows have {len(times)} times"
    for partition, committed in history.items():
        got = [rows[time, partition] for time in times]
        want = [(30, None, None), (30, committed, 30 - committed), (50, committed, 50 - committed)]
        assert got == want, f"partition {partition}: (end, committed, lag) are {want}; you have {got}"


@pytest.mark.points(5, task=6)
def test_the_last_lag_is_that_of_the_client(lag, broker):
    """Beside the client's watermarks and committed()"""
    consumer = consumer_of(broker, **{"group.id": GROUP})
    try:
        places = [TopicPartition(TOPIC, number) for number in (0, 1)]
        want = sum(consumer.get_watermark_offsets(each, timeout=20)[1] - found.offset
                   for each, found in zip(places, consumer.committed(places, timeout=20), strict=True))  # fmt: skip
    finally:
        consumer.close()
    last = max(rows_of(lag_of_groups(lag)), key=lambda row: row["time"])
    assert last["lag"] == want, f"the client computes a lag of {want} records, your last row says {last['lag']}"
    assert last["worst_partition"] == 1, f"partition 1 is the worst at the end, not {last['worst_partition']}"


@pytest.mark.points(5, task=6)
def test_the_age_of_what_waits(lag, tables):
    """In milliseconds"""
    rows = rows_of(time_lag(lag, tables[0]))
    got = {row["partition"]: row["behind_ms"] for row in rows if row["lag"] in (0, 10)}
    # Partition 0 has read everything; partition 1 waits at offset 20, message 41, half an hour after the first time.
    want = {0: 0, 1: HOUR_MS + HOUR_MS // 2 - 41}
    assert got == want, f"half an hour after the commit, partitions 0 and 1 are {want} ms behind; you have {got}"
