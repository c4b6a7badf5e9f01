"""Taking over an assignment: commit, revoke, assign, acknowledge, in this order, and what may come in between."""

from __future__ import annotations

from collections.abc import Callable, Collection

import pytest

from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import WakeupError
from kafka_lite.consumer.group.modern.member_state import MemberState
from kafka_lite.protocol.api_key import ApiKey
from tests.support.scripted_members import T0, T1, U0, Listener, poll
from tests.support.scripted_modern_group import (
    HEARTBEAT,
    INTERVAL_MS,
    ScriptedModernGroup,
    heartbeat_turns,
    manager,
    topic_id,
)
from tests.unit.consumer.group.modern.conftest import MemberFactory
from tests.unit.consumer.group.modern.test_consumer_membership_manager import next_heartbeat, reading

S = MemberState


class Interrupted(Listener):
    """Does something within a call."""

    def __init__(self) -> None:
        super().__init__()
        self.within: dict[str, Callable[[], None]] = {}

    def _call(self, event: str) -> None:
        if event in self.within:
            self.within.pop(event)()

    def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:
        self._call("revoked")
        super().on_partitions_revoked(partitions)

    def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
        self._call("assigned")
        super().on_partitions_assigned(partitions)


def owned_last(broker: ScriptedModernGroup) -> list[list[int]]:
    """The partitions that the broker was told last."""
    told = [each.topic_partitions for each in broker.heartbeats if each.topic_partitions is not None]
    return [each.partitions for each in told[-1]]


def failing() -> None:
    raise RuntimeError("of the user")


def woken() -> None:
    raise WakeupError("by another thread")


def test_the_position_is_committed_before_the_listener_is_called_and_the_broker_is_told_last(
    broker: ScriptedModernGroup, new_member: MemberFactory, time: MockTime
) -> None:
    consumer, order = new_member(auto_commit_interval_ms=1_000_000), []
    listener = Interrupted()
    reading(broker, consumer, listener)
    listener.within["revoked"] = lambda: order.append((dict(broker.committed), owned_last(broker)))
    broker.assign(t=[1])
    next_heartbeat(consumer, time)
    assert order == [({T0: (2, "")}, [[0, 1]])]
    assert owned_last(broker) == [[1]]


def test_only_what_is_given_up_is_committed(
    broker: ScriptedModernGroup, new_member: MemberFactory, time: MockTime
) -> None:
    consumer = new_member(auto_commit_interval_ms=1_000_000)
    reading(broker, consumer)
    broker.assign(t=[0], u=[0])
    consumer.subscribe(["t", "u"])
    next_heartbeat(consumer, time)
    (commit,) = broker.of(ApiKey.OFFSET_COMMIT)
    assert [each.partition_index for each in commit.topics[0].partitions] == [1]
    assert (commit.generation_id_or_member_epoch, commit.member_id) == (2, manager(consumer).membership.member_id)


def test_a_partition_returns_nothing_while_its_position_is_committed(
    broker: ScriptedModernGroup, new_member: MemberFactory, time: MockTime
) -> None:
    consumer = new_member(auto_commit_interval_ms=1_000_000)
    listener = reading(broker, consumer)
    broker.fail_next(ApiKey.OFFSET_COMMIT, *[Errors.COORDINATOR_LOAD_IN_PROGRESS] * 100)
    broker.assign(t=[1])
    assert next_heartbeat(consumer, time) == []
    assert manager(consumer).state is S.RECONCILING
    broker.append(T0, b"not ours")
    broker.append(T1, b"ours")
    assert poll(consumer, 10) == [b"ours"]
    assert listener.events[1:] == []
    broker.assign(t=[0, 1])
    assert next_heartbeat(consumer, time) + poll(consumer, 6) == [b"not ours"], "it may stay after all"
    assert (consumer.assignment, listener.events[1:]) == ({T0, T1}, [])


@pytest.mark.parametrize("error", [Errors.COORDINATOR_LOAD_IN_PROGRESS, Errors.STALE_MEMBER_EPOCH])
def test_the_commit_is_repeated_until_it_succeeds(
    broker: ScriptedModernGroup, new_member: MemberFactory, time: MockTime, error: Errors
) -> None:
    consumer = new_member(auto_commit_interval_ms=1_000_000)
    reading(broker, consumer)
    broker.fail_next(ApiKey.OFFSET_COMMIT, error, error)
    broker.assign(t=[1])
    next_heartbeat(consumer, time)
    poll(consumer, 10)
    assert (broker.committed[T0], consumer.assignment) == ((2, ""), {T1})
    assert len(broker.of(ApiKey.OFFSET_COMMIT)) == 3


@pytest.mark.parametrize("error", [Errors.UNKNOWN_MEMBER_ID, Errors.UNKNOWN_TOPIC_OR_PARTITION])
def test_a_refused_commit_does_not_keep_the_partition(
    broker: ScriptedModernGroup, new_member: MemberFactory, time: MockTime, error: Errors
) -> None:
    """Also not if its topic was deleted."""
    consumer = new_member(auto_commit_interval_ms=1_000_000)
    reading(broker, consumer)
    broker.fail_next(ApiKey.OFFSET_COMMIT, error)
    broker.assign(t=[1])
    next_heartbeat(consumer, time)
    assert (T0 in broker.committed, consumer.assignment) == (False, {T1})


@pytest.mark.parametrize("event", ["revoked", "assigned"])
def test_a_listener_that_raises_is_called_again_and_nothing_is_acknowledged(
    broker: ScriptedModernGroup, new_member: MemberFactory, time: MockTime, event: str
) -> None:
    consumer, listener = new_member(), Interrupted()
    reading(broker, consumer, listener)
    listener.within[event] = failing
    broker.assign(t=[1], u=[0])
    consumer.subscribe(["t", "u"], listener)
    with pytest.raises(KafkaError, match="of the user"):
        next_heartbeat(consumer, time)
    assert (manager(consumer).state, owned_last(broker)) == (S.RECONCILING, [[0, 1]])
    poll(consumer, 4)
    assert listener.events[1:] == [("revoked", [T0]), ("assigned", [U0])]
    assert (manager(consumer).state, consumer.assignment) == (S.STABLE, {T1, U0})


@pytest.mark.parametrize("event", ["revoked", "assigned"])
def test_a_wakeup_within_the_listener_changes_nothing(
    broker: ScriptedModernGroup, new_member: MemberFactory, time: MockTime, event: str
) -> None:
    consumer, listener = new_member(), Interrupted()
    reading(broker, consumer, listener)
    listener.within[event] = woken
    broker.assign(t=[1])
    with pytest.raises(WakeupError):
        next_heartbeat(consumer, time)
    poll(consumer, 4)
    assert listener.events[1:] == [("revoked", [T0]), ("assigned", [])]
    assert manager(consumer).state is S.STABLE


@pytest.mark.parametrize("event", ["revoked", "assigned"])
def test_a_member_that_is_fenced_within_the_listener_acknowledges_nothing(
    broker: ScriptedModernGroup, new_member: MemberFactory, time: MockTime, event: str
) -> None:
    consumer, listener = new_member(), Interrupted()
    reading(broker, consumer, listener)

    def fenced() -> None:
        broker.fail_next(HEARTBEAT, Errors.FENCED_MEMBER_EPOCH)
        time.sleep(INTERVAL_MS)
        heartbeat_turns(consumer)
        assert manager(consumer).state is S.FENCED

    listener.within[event] = fenced
    broker.assign(t=[1])
    next_heartbeat(consumer, time)
    poll(consumer, 4)
    expected = [("revoked", [T0]), ("lost", [T1]), ("assigned", [T1])]
    if event == "assigned":
        expected.insert(1, ("assigned", []))
    assert listener.events[1:] == expected
    assert (manager(consumer).state, consumer.assignment) == (S.STABLE, {T1})


def test_a_topic_that_was_made_again_is_read_from_its_beginning(
    broker: ScriptedModernGroup, new_member: MemberFactory, time: MockTime
) -> None:
    consumer = new_member(metadata_max_age_ms=100)
    listener = reading(broker, consumer)
    assert consumer.position(T0) == 2
    broker.ids["t"] = topic_id("t, made again")
    broker.committed.clear()
    broker.ends[T0], broker.logs[T0] = (0, 0), []
    broker.append(T0, b"new")
    broker.fail_next(ApiKey.OFFSET_COMMIT, *[Errors.UNKNOWN_MEMBER_ID] * 5)
    broker.assign(t=[0])
    assert next_heartbeat(consumer, time) == [b"new"]
    assert listener.events[1:] == [("revoked", [T0, T1]), ("assigned", [T0])]


def test_the_listener_of_a_failed_member_may_raise(
    broker: ScriptedModernGroup, new_member: MemberFactory, time: MockTime
) -> None:
    class Failing(Listener):
        def on_partitions_lost(self, partitions: Collection[TopicPartition]) -> None:
            super().on_partitions_lost(partitions)
            failing()

    consumer = new_member()
    listener = reading(broker, consumer, Failing())
    broker.fail_next(HEARTBEAT, Errors.UNKNOWN_MEMBER_ID)
    with pytest.raises(KafkaError, match="of the user"):
        next_heartbeat(consumer, time)
    poll(consumer, 4)
    assert listener.events[1:] == [("lost", [T0, T1]), ("assigned", [T0, T1])]
