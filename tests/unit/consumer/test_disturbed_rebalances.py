"""Rebalances into which something comes: a wakeup, a listener that fails, a coordinator that is gone."""

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
from tests.unit.consumer.conftest import ConsumerFactory
from tests.unit.consumer.test_consumer_group import T0, T1, Listener, joined, member, poll
from tests.unit.consumer.test_cooperative_rebalancing import (
    COOPERATIVE,
    cooperative,
    fewer_turns_than,
    hold_join_answers,
)


class WokenUp(Listener):
    """Is woken up when partitions are taken from it for the first time, as by a commit that is waited for."""

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


def test_who_is_woken_up_giving_partitions_up_gives_them_up_with_the_next_poll(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    listener = WokenUp()
    consumer = new_consumer("g")
    consumer.subscribe(["t"], listener)
    joined(consumer)
    consumer.enforce_rebalance()
    with pytest.raises(WakeupError):
        poll(consumer)
    assert len(broker.of(ApiKey.JOIN_GROUP)) == 2, "not before the listener has done what it has to"
    joined(consumer)
    assert listener.events[-3:] == [("revoked", [T0, T1]), ("revoked", [T0, T1]), ("assigned", [T0, T1])]


def test_who_is_woken_up_losing_partitions_reads_them_from_where_others_have_come(
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


def test_who_unsubscribes_leaves_also_when_its_listener_fails(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
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
def test_a_listener_that_fails_with_new_partitions_is_told_of_once_and_they_are_read(
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
def test_a_coordinator_that_is_away_costs_no_busy_loop(
    broker: ScriptedBroker,
    new_consumer: ConsumerFactory,
    monkeypatch: pytest.MonkeyPatch,
    time: MockTime,
    is_silent: bool,
    auto_commit: bool,
) -> None:
    """A heartbeat and a commit are due, and cannot be sent."""
    consumer = cooperative(new_consumer, Listener(), enable_auto_commit=auto_commit, auto_commit_interval_ms=1000)
    consumer.pause(consumer.assignment)  # for this broker lets time pass in fetches
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


def test_a_member_whose_pattern_met_nothing_joins_again_when_it_does(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, time: MockTime
) -> None:
    """It does not lead: whoever does may want other topics, and would not notice."""
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


def test_a_commit_that_a_member_began_before_it_left_is_none_of_its_next_join(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    """Nor does the join wait for its answer."""
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
def test_a_commit_that_never_succeeds_holds_up_the_join_no_longer_than_a_rebalance_may_take(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, time: MockTime, strategy: str
) -> None:
    """As when a topic is deleted; also within one poll, however long that may wait."""
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


def test_a_generation_that_ends_while_partitions_are_given_up_takes_the_others_too(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, time: MockTime
) -> None:
    """The heartbeat thread hears of it while the listener works. The broker asks nobody to join with a member id."""
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


def test_a_coordinator_that_is_lost_as_soon_as_found_is_looked_for_with_pauses(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer to the join of a member that has left meanwhile ends its connection."""
    consumer = cooperative(new_consumer, Listener(), enable_auto_commit=False)
    release = hold_join_answers(broker, monkeypatch)
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
        assert found < 100, "retry.backoff.ms between two questions"
        return find(request, version)

    broker.handlers[ApiKey.FIND_COORDINATOR] = count
    assert poll(consumer, 20) == [b"a"]
