"""Task 6: the ``__consumer_offsets`` of a real broker, after a group of confluent-kafka's has come, grown and gone."""

import pytest
from confluent_kafka import TopicPartition

from kafka_learn.labs.clients import consumer_of, create_topic, publish
from kafka_learn.labs.groups import GROUP_BROKER, TheirMember, poll_until, settle, together
from kafka_learn.labs.rows import rows_of
from pipeline.tables.group_history import assignments, commits, generations

GROUP, TOPIC, COUNT = "riders", "flights", 300


@pytest.fixture(scope="session")
def broker_settings():
    """Groups start without delay."""
    return GROUP_BROKER


@pytest.fixture(scope="session")
def history(broker):
    """One member reads and commits; a second one joins, both commit; all leave. What was committed, by the client."""
    create_topic(broker, TOPIC, 2)
    publish(broker, 0, COUNT, topic=TOPIC)
    with together(TheirMember(broker, GROUP, [TOPIC], **{"client.id": "first"})) as (first,):
        poll_until([first], lambda: len(first.read) == COUNT, f"{COUNT} messages")
        first.commit()
        with together(TheirMember(broker, GROUP, [TOPIC], **{"client.id": "second"})) as (second,):
            settle([first, second], [[f"{TOPIC}-0"], [f"{TOPIC}-1"]])
            publish(broker, COUNT, COUNT, topic=TOPIC)
            poll_until([first, second], lambda: len(first.read) + len(second.read) == 2 * COUNT, f"{COUNT} more")
            first.commit()
            second.commit()
    consumer = consumer_of(broker, **{"group.id": GROUP})
    try:
        places = [TopicPartition(TOPIC, 0), TopicPartition(TOPIC, 1)]
        return {each.partition: each.offset for each in consumer.committed(places, timeout=20)}
    finally:
        consumer.close()


@pytest.fixture
def internal(spark, broker, history):
    """The topic, with all that ``history`` has written."""
    assert history
    options = {"kafka.bootstrap.servers": broker.bootstrap_servers, "subscribe": "__consumer_offsets"}
    return spark.read.format("kafka_lite").options(**options).load()


@pytest.mark.points(5, task=6)
def test_the_last_commits_are_those_that_the_client_gets(internal, history):
    """Beside the client's committed()"""
    last = {}
    for row in sorted(rows_of(commits(internal)), key=lambda row: row["log_offset"]):
        assert row["group"] == GROUP, f"only the group {GROUP} has committed, not {row['group']}"
        last[row["partition"]] = row["committed_offset"]
    assert last == history, f"the client gets {history}, your last rows say {last}"


@pytest.mark.points(5, task=6)
def test_the_generations_in_their_order(internal):
    """One member, two, and none"""
    rows = sorted(rows_of(generations(internal)), key=lambda row: row["log_offset"])
    numbers = [row["generation"] for row in rows]
    assert numbers == sorted(numbers), f"generations only go up, yours are {numbers}"
    sizes = [len(row["members"] or ()) for row in rows]
    assert {1, 2} <= set(sizes), f"there was a generation with one member and one with two; yours had {sizes}"
    assert sizes[-1] == 0, f"in the end all have left: the last generation is empty, not of {sizes[-1]}"


@pytest.mark.points(5, task=6)
def test_each_partition_had_one_member_in_each_generation(internal):
    """Who had what"""
    rows = rows_of(assignments(generations(internal)))
    shared = {row["generation"] for row in rows if row["client_id"] == "second" and row["partition"] is not None}
    assert shared, "the second member had a partition in one generation"
    for generation in shared:
        places = sorted((row["topic"], row["partition"]) for row in rows if row["generation"] == generation)
        assert places == [(TOPIC, 0), (TOPIC, 1)], f"generation {generation} shares two partitions; you have {places}"
