"""Task 6: a compacted topic of a real broker, read by Spark, beside confluent-kafka and a dict."""

import pytest
from confluent_kafka import TopicPartition

from kafka_learn.labs.clients import consumer_of, create_topic, publish, read_all
from kafka_learn.labs.rows import at, rows_of
from pipeline.nycflights import load_flights
from pipeline.tables.changelog import changes_between, table_at, table_of

PARTITIONS = 3
COUNT = 900


@pytest.fixture(scope="session")
def flights():
    """The first 900 flights of 2013 with an aircraft: its number, where it went, and the scheduled departure in ms."""
    first = load_flights().dropna(subset=["tailnum"]).head(COUNT)
    hours = first["time_hour"].astype("datetime64[ns, UTC]").dt.as_unit("ms").astype("int64") + first["minute"] * 60_000
    return list(zip(first["tailnum"], first["dest"], hours, strict=True))


@pytest.fixture(scope="session")
def broker_settings():
    """A cleaner that has its work done at once."""
    return {"log.cleaner.backoff.ms": "100", "log.cleaner.dedupe.buffer.size": "2097152"}


@pytest.fixture(scope="session")
def positions(broker, flights):
    """The compacted topic ``positions``: where each aircraft went; those that went to Boston leave the fleet."""

    def fields(number):
        aircraft, destination, time = flights[number]
        value = None if destination == "BOS" else destination.encode()
        return {"key": aircraft, "value": value, "timestamp": int(time)}

    config = {"cleanup.policy": "compact", "segment.bytes": "8192", "min.cleanable.dirty.ratio": "0.01"}
    create_topic(broker, "positions", PARTITIONS, **config)
    publish(broker, 0, COUNT, fields, topic="positions", partitioner="murmur2_random")
    return "positions"


@pytest.fixture
def load(spark, broker, positions):
    def read():
        options = {"kafka.bootstrap.servers": broker.bootstrap_servers, "subscribe": positions}
        return spark.read.format("kafka_lite").options(**options).load()

    return read


def table(found):
    return {row["key"]: row["value"] for row in rows_of(found)}


def dict_of(messages):
    kept = {}
    for message in messages:
        kept.pop(message.key(), None) if message.value() is None else kept.update({message.key(): message.value()})
    return kept


@pytest.mark.points(5, task=6)
def test_the_table_of_a_real_topic(load, broker, positions):
    """900 flights: the table is what a consumer keeps in a dict"""
    by_partition = read_all(broker, PARTITIONS, positions)
    want = dict_of(message for messages in by_partition.values() for message in messages)
    got = table(table_of(load()))
    assert got == want, f"{len(got)} aircraft in Spark, {len(want)} in the dict: {set(got.items()) ^ set(want.items())}"


@pytest.mark.points(5, task=6)
def test_the_broker_agrees_on_where_the_log_ended(load, broker, positions, flights):
    """The table at a time, by the broker's own offsets_for_times"""
    time = int(flights[450][2])
    asked = [TopicPartition(positions, partition, time + 1) for partition in range(PARTITIONS)]
    consumer = consumer_of(broker)
    try:
        ends = {found.partition: found.offset for found in consumer.offsets_for_times(asked, timeout=20)}
    finally:
        consumer.close()
    messages = read_all(broker, PARTITIONS, positions)
    want = dict_of(
        message
        for partition, end in ends.items()
        for message in messages[partition]
        if end < 0 or message.offset() < end
    )
    got = table(table_at(load(), at(time)))
    assert got == want, f"by offsets_for_times the ends are {ends}: {set(got.items()) ^ set(want.items())} differ"


@pytest.mark.points(5, task=6)
def test_compaction_leaves_the_current_table_alone(load, broker, positions, flights):
    """After the cleaner has been at work"""
    before = table_of(load()).localCheckpoint()
    # One more flight per partition, so that a log has a newer segment and the cleaner may touch the others.
    publish(broker, 0, COUNT, lambda n: {"key": flights[n][0], "value": b"LAX", "timestamp": int(flights[-1][2])},
            topic=positions, partitioner="murmur2_random")  # fmt: skip
    records = 2 * COUNT
    for _ in range(200):
        records = sum(map(len, read_all(broker, PARTITIONS, positions).values()))
        if records < 2 * COUNT:
            break
    assert records < 2 * COUNT, f"the cleaner has removed nothing\n{broker.log_tail()}"
    got = table(table_of(load()))
    assert got == {aircraft.encode(): b"LAX" for aircraft, _, _ in flights}, "all aircraft are in Los Angeles now"
    changes = {row["change"] for row in rows_of(changes_between(before, table_of(load())))}
    assert "removed" not in changes, "no aircraft has left the fleet since, though older records are gone"
