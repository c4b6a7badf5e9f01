"""Rebalances that are disturbed: by a wakeup, a failing listener, a lost coordinator."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

import pytest

from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import WakeupError
from kafka_lite.protocol.api_key import ApiKey
from tests.support.scripted_broker import KAFKA_0_10_2, ScriptedBroker
from tests.support.scripted_members import T0, T1, Listener, joined, member, poll
from tests.unit.consumer.conftest import ConsumerFactory
from tests.unit.consumer.test_cooperative_rebalancing import (
    COOPERATIVE,
    cooperative,
    fewer_turns_than,
    hold_join_responses,
)


class WokenUp(Listener):
    """Raises WakeupError on the first revocation, as a synchronous commit might."""

    def __init__(self) -> None:
        super().__init__()
        self.wakeups = 1

    def _wake_up(self) -> None:
        self.wakeups -= 1
        if self.wakeups >= 0:
            raise WakeupError

    def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:
        super().on_partitions_revoked(partitions)
        if partitions:
            self._wake_up()

    def on_partitions_lost(self, partitions: Collection[TopicPartition]) -> None:
        super().on_partitions_lost(partitions)
        self._wake_up()


def test_after_a_wakeup_in_on_revoked_the_next_poll_revokes_again(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    listener = WokenUp()
    consumer = new_consumer("g")
    consumer.subscribe(["t"], listener)
    joined(consumer)
    consumer.enforce_rebalance()
    with pytest.raises(WakeupError):
        poll(consumer)
    assert len(broker.of(ApiKey.JOIN_GROUP)) == 2, "not before the listener has returned"
    joined(consumer)
    assert listener.events[-3:] == [("revoked", [T0, T1]), ("revoked", [T0, T1]), ("assigned", [T0, T1])]


def test_after_a_wakeup_in_on_lost_partitions_are_read_from_the_committed_offset(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    listener = WokenUp()
    consumer = cooperative(new_consumer, listener, enable_auto_commit=False)
    broker.append(T0, b"a", b"b", b"c")
    assert poll(consumer) == [b"a", b"b", b"c"]
    member(consumer).reset_generation("test")
    broker.committed[T0] = (2, "")  # by another member
    with pytest.raises(WakeupError):
        poll(consumer)
    assert poll(consumer) == [b"c"]
    assert listener.events == [("assigned", [T0, T1]), ("lost", [T0, T1]), ("lost", [T0, T1]), ("assigned", [T0, T1])]


def test_unsubscribe_leaves_even_if_the_listener_fails(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    class Broken(Listener):
        def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:
            if partitions:
                raise RuntimeError("of the user")

    consumer = new_consumer("g")
    consumer.subscribe(["t"], Broken())
    joined(consumer)
    with pytest.raises(KafkaError, match="of the user"):
        consumer.unsubscribe()
    assert len(broker.of(ApiKey.LEAVE_GROUP)) == 1
    assert (consumer.subscription, consumer.assignment) == (frozenset(), frozenset())


@pytest.mark.parametrize("strategy", ["range", COOPERATIVE])
def test_an_error_in_on_assigned_is_raised_once_and_the_partitions_are_read(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, strategy: str
) -> None:
    class Broken(Listener):
        def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
            super().on_partitions_assigned(partitions)
            raise RuntimeError("of the user")

    listener = Broken()
    consumer = new_consumer("g", partition_assignment_strategy=strategy)
    consumer.subscribe(["t"], listener)
    broker.append(T0, b"a")
    with pytest.raises(KafkaError, match="of the user"):
        poll(consumer)
    assert poll(consumer) == [b"a"]
    assert listener.events[-1] == ("assigned", [T0, T1])
    assert [event for event, _ in listener.events].count("assigned") == 1


@pytest.mark.parametrize("auto_commit", [True, False])
@pytest.mark.parametrize("is_silent", [True, False])
def test_a_lost_coordinator_does_not_make_poll_spin(
    broker: ScriptedBroker,
    new_consumer: ConsumerFactory,
    monkeypatch: pytest.MonkeyPatch,
    time: MockTime,
    is_silent: bool,
    auto_commit: bool,
) -> None:
    """A heartbeat and a commit are due, and cannot be sent."""
    consumer = cooperative(new_consumer, Listener(), enable_auto_commit=auto_commit, auto_commit_interval_ms=1000)
    consumer.pause(consumer.assignment)  # since this broker lets time pass in fetches
    find = broker.handlers[ApiKey.FIND_COORDINATOR]

    def is_away(request: Any, version: int) -> Any:
        response: Any = find(request, version)
        response.error_code = Errors.COORDINATOR_NOT_AVAILABLE.code
        return None if is_silent else response

    broker.handlers[ApiKey.FIND_COORDINATOR] = is_away
    member(consumer).finder.mark_unknown("test")
    time.sleep(4000)
    with fewer_turns_than(500, broker, monkeypatch):
        consumer.poll(5000)


def test_a_member_joins_again_when_its_pattern_matches_a_first_topic(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, time: MockTime
) -> None:
    """It is not the leader, which may subscribe to other topics and would not notice."""
    consumer = new_consumer("g", metadata_max_age_ms=1000)
    join = broker.handlers[ApiKey.JOIN_GROUP]

    def led_by_another(request: Any, version: int) -> Any:
        response: Any = join(request, version)
        response.leader = "other"
        return response

    broker.handlers[ApiKey.JOIN_GROUP] = led_by_another
    consumer.subscribe(re.compile("u.*"))
    poll(consumer, 10)
    joins = len(broker.of(ApiKey.JOIN_GROUP))
    broker.create("u1", 1)
    time.sleep(1001)
    poll(consumer, 10)
    assert len(broker.of(ApiKey.JOIN_GROUP)) > joins


def test_a_commit_before_leaving_does_not_delay_the_next_join(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    """The join does not wait for its response either."""
    consumer = new_consumer("g", auto_commit_interval_ms=100_000)
    consumer.subscribe(["t"])
    joined(consumer)
    broker.append(T0, b"a")
    assert poll(consumer) == [b"a"]
    for key in (ApiKey.OFFSET_COMMIT, ApiKey.LEAVE_GROUP):
        broker.handlers[key] = lambda _request, _version: None
    consumer.enforce_rebalance()
    poll(consumer, 2)
    joins = len(broker.of(ApiKey.JOIN_GROUP))
    consumer.unsubscribe()
    consumer.subscribe(["t"])
    consumer.poll(0)
    consumer.poll(0)
    assert len(broker.of(ApiKey.JOIN_GROUP)) == joins + 1


@pytest.mark.parametrize("strategy", ["range", COOPERATIVE])
def test_a_failing_commit_delays_the_join_no_longer_than_the_rebalance_timeout(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, time: MockTime, strategy: str
) -> None:
    """For example if a topic was deleted. Also within a single poll, however long its timeout."""
    consumer = new_consumer("g", partition_assignment_strategy=strategy, max_poll_interval_ms=10_000)
    consumer.subscribe(["t"])
    joined(consumer)
    commit = broker.handlers[ApiKey.OFFSET_COMMIT]

    def refuse(request: Any, version: int) -> Any:
        response: Any = commit(request, version)
        for topic in response.topics:
            for partition in topic.partitions:
                partition.error_code = Errors.UNKNOWN_TOPIC_OR_PARTITION.code
        return response

    broker.handlers[ApiKey.OFFSET_COMMIT] = refuse
    consumer.enforce_rebalance()
    began_ms = time.hi_res_ms()
    joins_ms: list[float] = []
    join = broker.handlers[ApiKey.JOIN_GROUP]

    def note(request: Any, version: int) -> Any:
        joins_ms.append(time.hi_res_ms() - began_ms)
        return join(request, version)

    broker.handlers[ApiKey.JOIN_GROUP] = note
    consumer.poll(30_000)
    assert 10_000 <= joins_ms[0] < 11_000


def test_a_generation_that_ends_during_a_revocation_loses_the_other_partitions(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, time: MockTime
) -> None:
    """The heartbeat thread learns of it while the listener runs. The broker requires no member id."""
    broker.handlers[ApiKey.API_VERSIONS] = ScriptedBroker(time, KAFKA_0_10_2).handlers[ApiKey.API_VERSIONS]
    broker.create("u", 1)

    class Slow(Listener):
        def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:
            super().on_partitions_revoked(partitions)
            member(consumer).reset_generation("test")

    listener = Slow()
    consumer = cooperative(new_consumer, listener, "t", "u", enable_auto_commit=False)
    consumer.subscribe(["t"], listener)
    joined(consumer)
    assert [event for event, _ in listener.events] == ["assigned", "revoked", "lost", "assigned"]
    assert listener.events[2] == ("lost", [T0, T1])


def test_lookups_of_a_coordinator_that_is_lost_at_once_back_off(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The response to the join of a member that has left closes its connection."""
    consumer = cooperative(new_consumer, Listener(), enable_auto_commit=False)
    release = hold_join_responses(broker, monkeypatch)
    consumer.enforce_rebalance()
    poll(consumer, 3)
    consumer.unsubscribe()
    consumer.assign([T1])
    release()
    broker.append(T1, b"a")
    find, found = broker.handlers[ApiKey.FIND_COORDINATOR], 0

    def count(request: Any, version: int) -> Any:
        nonlocal found
        found += 1
        assert found < 100, "retry.backoff.ms between two lookups"
        return find(request, version)

    broker.handlers[ApiKey.FIND_COORDINATOR] = count
    assert poll(consumer, 20) == [b"a"]
