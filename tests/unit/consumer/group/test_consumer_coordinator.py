"""A consumer's part in its group: assignments, listeners, subscriptions, commits before a rebalance."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, cast

import pytest

from kafka_lite.clients.cluster import Cluster, PartitionInfo
from kafka_lite.common.errors import KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.assignors.partition_assignor import (
    Subscription,
    deserialize_subscription,
)
from kafka_lite.consumer.assignors.range_assignor import RangeAssignor
from kafka_lite.consumer.consumer_rebalance_listener import ConsumerRebalanceListener
from kafka_lite.consumer.group.consumer_coordinator import ConsumerCoordinator
from kafka_lite.consumer.group.member_state import MemberState
from kafka_lite.protocol.api_key import ApiKey
from tests.support.scripted_broker import ScriptedBroker
from tests.support.scripted_members import T0, T1, U0, Listener, another, joined, member, poll, reading
from tests.unit.consumer.conftest import ConsumerFactory


def test_a_single_member_gets_and_reads_everything(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    broker.append(T0, b"a")
    broker.append(T1, b"b")
    listener = Listener()
    consumer = new_consumer("g")
    consumer.subscribe(["t"], listener)
    assert sorted(poll(consumer, 20)) == [b"a", b"b"]
    assert consumer.assignment == {T0, T1}
    assert listener.events == [("revoked", []), ("assigned", [T0, T1])]
    assert member(consumer).state is MemberState.STABLE
    assert [each.member_id for each in broker.of(ApiKey.JOIN_GROUP)] == ["", "me"]


def test_the_leader_assigns_partitions_to_the_others(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    broker.other_members = [another("t")]
    consumer = new_consumer("g")
    consumer.subscribe(["t"])
    joined(consumer)
    assert consumer.assignment == {T0}
    assert broker.assignments.keys() == {"me", "other"}


def test_the_leader_fetches_metadata_of_topics_that_only_others_subscribe_to(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    broker.create("u", 1)
    broker.other_members = [another("u")]
    consumer = new_consumer("g")
    consumer.subscribe(["t"])
    joined(consumer)
    assert consumer.assignment == {T0, T1}
    assert b"u" in broker.assignments["other"]


def test_listener_errors_are_raised_by_poll(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    class Broken(ConsumerRebalanceListener):
        def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
            raise RuntimeError("of the user")

    consumer = new_consumer("g")
    consumer.subscribe(["t"], Broken())
    with pytest.raises(KafkaError, match="of the user"):
        poll(consumer)


def test_more_partitions_make_the_leader_join_again(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    consumer = new_consumer("g", metadata_max_age_ms=200)
    consumer.subscribe(["t"])
    joined(consumer)
    broker.create("t", 3)
    poll(consumer, 20)
    assert consumer.assignment == {T0, T1, TopicPartition("t", 2)}


def test_another_subscription_makes_the_member_join_again(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    broker.create("u", 1)
    consumer = new_consumer("g")
    consumer.subscribe(["t"])
    joined(consumer)
    consumer.subscribe(["u"])
    poll(consumer)
    assert consumer.assignment == {U0}


def test_the_same_subscription_again_does_not_make_the_member_join(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    consumer = new_consumer("g")
    consumer.subscribe(["t"])
    joined(consumer)
    consumer.subscribe(["t"])
    poll(consumer)
    assert broker.generation == 1


def test_a_pattern_finds_new_topics_but_no_internal_ones(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    broker.create("t-internal", 1)
    broker.internal_topics.add("t-internal")
    broker.create("other", 1)
    consumer = new_consumer("g", metadata_max_age_ms=200)
    consumer.subscribe(re.compile("t.*"))
    joined(consumer)
    assert consumer.subscription == {"t"}
    assert consumer.assignment == {T0, T1}
    broker.create("t-new", 1)
    poll(consumer, 20)
    assert consumer.assignment == {T0, T1, TopicPartition("t-new", 0)}


def test_a_missing_topic_is_read_once_it_is_created(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    consumer = new_consumer("g")
    consumer.subscribe(["later"])
    poll(consumer, 5)
    assert consumer.assignment == frozenset()
    broker.create("later", 1)
    broker.append(TopicPartition("later", 0), b"a")
    assert poll(consumer, 20) == [b"a"]


def test_what_becomes_known_while_partitions_are_assigned_is_assigned_next(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread, such as that of the heartbeats, may take over new metadata meanwhile."""
    consumer = new_consumer("g")
    metadata = cast(ConsumerCoordinator, member(consumer))._metadata
    assign = RangeAssignor.assign
    counts: list[int | None] = []

    def slow(self: RangeAssignor, cluster: Cluster, subscriptions: Mapping[str, Subscription]) -> Any:
        counts.append(cluster.partition_count_for_topic("late"))
        if len(counts) == 1:
            broker.create("late", 1)
            late = PartitionInfo("late", 0, cluster.nodes[0])
            metadata.update(replace(cluster, partitions=(*cluster.partitions, late)), 0.0)
        return assign(self, cluster, subscriptions)

    monkeypatch.setattr(RangeAssignor, "assign", slow)
    consumer.subscribe(["t", "late"])
    poll(consumer, 20)
    assert counts == [None, 1]
    assert TopicPartition("late", 0) in consumer.assignment


def test_owned_partitions_are_sent_to_the_leader(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    consumer = new_consumer("g", partition_assignment_strategy="sticky")
    consumer.subscribe(["t"])
    joined(consumer)
    consumer.enforce_rebalance()
    joined(consumer)
    last = deserialize_subscription(broker.of(ApiKey.JOIN_GROUP)[-1].protocols[0].metadata)
    assert last.user_data is not None  # the sticky assignor's own


def test_positions_are_committed_before_partitions_are_given_up(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    consumer = reading(broker, new_consumer("g", auto_commit_interval_ms=100_000))
    member(consumer).request_rejoin("test")
    joined(consumer)
    assert broker.committed[T0] == (2, "")
    consumer.seek(T0, 1)
    consumer.close()
    assert broker.committed[T0] == (1, "")


def test_a_listener_may_commit_on_revoke_and_seek_on_assign(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    broker.append(T0, b"a", b"b")
    consumer = new_consumer("g", enable_auto_commit=False)

    class Careful(ConsumerRebalanceListener):
        def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:
            if partitions:
                consumer.commit_sync()

        def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
            consumer.seek(T0, 1)

    consumer.subscribe(["t"], Careful())
    assert poll(consumer, 20) == [b"b"]
    member(consumer).request_rejoin("test")
    assert poll(consumer, 20) == [b"b"]
    assert broker.committed[T0] == (2, "")


def test_the_commit_before_a_rebalance_is_awaited_over_any_number_of_polls(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    """However short the polls are, the next owner must not read records again."""
    consumer = reading(broker, new_consumer("g", auto_commit_interval_ms=100_000))
    answer, held = broker.handlers[ApiKey.OFFSET_COMMIT], list[Any]()
    broker.handlers[ApiKey.OFFSET_COMMIT] = lambda request, version: held.append((request, version))
    consumer.enforce_rebalance()
    for _ in range(20):
        assert consumer.poll(0).is_empty
    assert len(held) == 1
    assert broker.generation == 1, "it must not join before the response to its commit"
    assert consumer.assignment == {T0, T1}
    broker.handlers[ApiKey.OFFSET_COMMIT] = answer
    broker.lose(str(2**31 - 1))  # the response never comes, so it commits again
    for _ in range(60):
        consumer.poll(20)
    assert broker.committed[T0] == (2, "")
    assert broker.generation == 2
