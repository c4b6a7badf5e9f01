"""Members that keep reading while their group rebalances (KIP-429). The coordinator is a script."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from kafka_lite.clients.cluster import Cluster
from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.assignors.partition_assignor import (
    Assignment,
    PartitionAssignor,
    RebalanceProtocol,
    Subscription,
    deserialize_assignment,
    deserialize_subscription,
)
from kafka_lite.consumer.consumer_errors import WakeupError
from kafka_lite.consumer.group.member_state import MemberState
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupResponse
from tests.support.scripted_broker import ScriptedBroker
from tests.support.scripted_members import T0, T1, U0, Listener, another, heartbeat_with, joined, member, poll
from tests.unit.consumer.conftest import ConsumerFactory

COOPERATIVE = "cooperative-sticky"
NONE: list[TopicPartition] = []


def cooperative(new_consumer: ConsumerFactory, listener: Listener, *topics: str, **configs: Any) -> KafkaConsumer:
    """A consumer that has joined as the only member."""
    consumer = new_consumer("g", partition_assignment_strategy=COOPERATIVE, **configs)
    consumer.subscribe(topics or ["t"], listener)
    joined(consumer)
    return consumer


def hold_join_responses(broker: ScriptedBroker, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Park every JoinGroup until the returned function is called."""
    held: list[tuple[Any, ...]] = []
    answer = broker.answer
    monkeypatch.setattr(
        broker, "answer", lambda *it: held.append(it) if isinstance(it[2], JoinGroupResponse) else answer(*it)
    )

    def release() -> None:
        monkeypatch.setattr(broker, "answer", answer)
        for each in held:
            answer(*each)

    return release


@contextmanager
def fewer_turns_than(limit: int, broker: ScriptedBroker, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The block must poll the network, but only a few times per ``retry.backoff.ms``."""
    turns = 0
    poll_network = broker.poll

    def count(timeout_ms: float) -> None:
        nonlocal turns
        turns += 1
        assert turns < limit, "a few per retry.backoff.ms"
        poll_network(timeout_ms)

    with monkeypatch.context() as patch:
        patch.setattr(broker, "poll", count)
        yield
    assert turns


def test_only_moving_partitions_are_revoked_and_a_second_rebalance_assigns_them(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    listener = Listener()
    consumer = cooperative(new_consumer, listener)
    broker.append(T0, b"a", b"b")
    broker.append(T1, b"c")
    assert sorted(poll(consumer)) == [b"a", b"b", b"c"]
    broker.other_members = [another("t")]
    consumer.enforce_rebalance()
    poll(consumer, 20)
    assert listener.events == [("assigned", [T0, T1]), ("revoked", [T1]), ("assigned", NONE), ("assigned", NONE)]
    assert (set(consumer.assignment), broker.generation) == ({T0}, 3)
    assert deserialize_assignment(broker.assignments["other"]).partitions == (T1,)
    broker.append(T0, b"d")
    assert poll(consumer) == [b"d"], "T0 continues at its position"


def test_kept_partitions_keep_position_and_pause(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    consumer = cooperative(new_consumer, Listener(), enable_auto_commit=False)
    broker.append(T0, b"a", b"b")
    assert poll(consumer) == [b"a", b"b"]
    consumer.pause([T0])
    broker.other_members = [another("t")]
    asked = len(broker.of(ApiKey.OFFSET_FETCH))
    consumer.enforce_rebalance()
    poll(consumer, 20)
    assert (set(consumer.assignment), consumer.paused, consumer.position(T0)) == ({T0}, {T0}, 2)
    assert len(broker.of(ApiKey.OFFSET_FETCH)) == asked, "no other member has had it, so no offset is fetched"


def test_a_member_reads_while_it_waits_for_the_others(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    consumer = cooperative(new_consumer, Listener(), enable_auto_commit=False)
    release = hold_join_responses(broker, monkeypatch)
    consumer.enforce_rebalance()
    poll(consumer, 3)
    assert member(consumer).state is MemberState.REBALANCING
    broker.append(T0, b"a")
    broker.append(T1, b"b")
    assert sorted(poll(consumer)) == [b"a", b"b"]
    assert (member(consumer).state, broker.generation) == (MemberState.REBALANCING, 2)
    release()
    joined(consumer)
    broker.append(T1, b"c")
    assert poll(consumer) == [b"c"]


def test_waiting_for_the_others_does_not_spin(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, monkeypatch: pytest.MonkeyPatch, time: MockTime
) -> None:
    consumer = cooperative(new_consumer, Listener(), auto_commit_interval_ms=1000)
    consumer.pause(consumer.assignment)  # since this broker lets time pass in fetches
    release = hold_join_responses(broker, monkeypatch)
    consumer.enforce_rebalance()
    time.sleep(1001)  # an automatic commit is due, which cannot be sent before the join has ended
    with fewer_turns_than(250, broker, monkeypatch):
        consumer.poll(5000)
    release()


@pytest.mark.parametrize("key", [ApiKey.JOIN_GROUP, ApiKey.FIND_COORDINATOR, ApiKey.OFFSET_FETCH])
def test_failed_requests_are_not_repeated_by_every_poll(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, time: MockTime, key: ApiKey
) -> None:
    """Such polls give the group no time, and so no time to wait for ``retry.backoff.ms``."""
    broker.create("u", 1)
    consumer = cooperative(new_consumer, Listener(), enable_auto_commit=False)
    consumer.pause(consumer.assignment)  # since this broker lets time pass in fetches
    answers = broker.handlers[key]
    error = Errors.COORDINATOR_LOAD_IN_PROGRESS

    def refuse(request: Any, version: int) -> Any:
        response: Any = answers(request, version)
        response.error_code = error.code
        return response

    broker.handlers[key] = refuse
    if key is ApiKey.FIND_COORDINATOR:
        member(consumer).finder.mark_unknown("test")
    elif key is ApiKey.OFFSET_FETCH:
        consumer.subscribe(["t", "u"])
    consumer.enforce_rebalance()
    asked = len(broker.of(key))
    for _ in range(100):
        consumer.poll(0)
    assert len(broker.of(key)) == asked + 1
    time.sleep(101)
    for _ in range(100):
        consumer.poll(0)
    assert len(broker.of(key)) == asked + 2
    broker.handlers[key] = answers
    time.sleep(101)
    joined(consumer)


def test_a_revoked_partition_is_committed_before_another_member_gets_it(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    consumer = cooperative(new_consumer, Listener(), auto_commit_interval_ms=100_000)
    broker.other_members = [another("t")]
    release = hold_join_responses(broker, monkeypatch)
    consumer.enforce_rebalance()
    poll(consumer, 3)
    broker.append(T1, b"a")
    assert poll(consumer) == [b"a"], "after the commit that started the rebalance"
    release()
    committed: list[int] = []
    join = broker.handlers[ApiKey.JOIN_GROUP]

    def note(request: Any, version: int) -> Any:
        committed.append(broker.committed[T1][0])
        return join(request, version)

    broker.handlers[ApiKey.JOIN_GROUP] = note
    poll(consumer, 20)
    assert (set(consumer.assignment), committed) == ({T0}, [1])


def test_partitions_of_an_unsubscribed_topic_are_revoked_before_the_join(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    broker.create("u", 1)
    listener = Listener()
    consumer = cooperative(new_consumer, listener, "t", "u", enable_auto_commit=False)
    broker.append(T0, b"a")
    broker.append(U0, b"b")
    consumer.subscribe(["u"], listener)
    assert poll(consumer) == [b"b"], "no records of t, which is still assigned when they arrive"
    assert listener.events == [("assigned", [T0, T1, U0]), ("revoked", [T0, T1]), ("assigned", NONE)]
    last = deserialize_subscription(broker.of(ApiKey.JOIN_GROUP)[-1].protocols[0].metadata)
    assert (last.topics, last.owned_partitions) == (("u",), (U0,))


def test_an_unsubscribed_topic_returns_no_records(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    """The commit before the join gets no response, so T0 stays assigned although it is not subscribed."""
    broker.create("u", 1)
    listener = Listener()
    consumer = cooperative(new_consumer, listener, "t", "u", auto_commit_interval_ms=100_000)
    broker.append(U0, b"x")
    assert poll(consumer) == [b"x"]
    answer = broker.handlers[ApiKey.OFFSET_COMMIT]
    broker.handlers[ApiKey.OFFSET_COMMIT] = lambda _request, _version: None
    broker.append(T0, b"a")
    broker.append(U0, b"b")
    consumer.subscribe(["u"], listener)
    assert poll(consumer) == [b"b"]
    assert T0 in consumer.assignment
    broker.handlers[ApiKey.OFFSET_COMMIT] = answer


def test_a_subscription_has_owned_partitions_and_their_generation(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    consumer = cooperative(new_consumer, Listener())
    consumer.enforce_rebalance()
    broker.fail_next(ApiKey.SYNC_GROUP, Errors.REBALANCE_IN_PROGRESS)
    poll(consumer)
    assert broker.generation == 3
    said = [deserialize_subscription(each.protocols[0].metadata) for each in broker.of(ApiKey.JOIN_GROUP)]
    assert [(each.owned_partitions, each.generation_id) for each in said] == [
        ((), -1), ((), -1),  # the first one without a member id
        ((T0, T1), 1),
        ((T0, T1), 1),  # in generation 2 it was assigned nothing
    ]  # fmt: skip


def test_a_removed_member_loses_all_partitions(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, time: MockTime
) -> None:
    listener = Listener()
    consumer = cooperative(new_consumer, listener)
    heartbeat_with(broker, consumer, time, Errors.UNKNOWN_MEMBER_ID)
    joined(consumer)
    assert listener.events == [("assigned", [T0, T1]), ("lost", [T0, T1]), ("assigned", [T0, T1])]


def test_a_generation_that_ends_during_a_join_loses_all_partitions(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener = Listener()
    consumer = cooperative(new_consumer, listener)
    release = hold_join_responses(broker, monkeypatch)
    consumer.enforce_rebalance()
    poll(consumer, 3)
    member(consumer).reset_generation("a late answer to a commit says that the member is unknown")
    release()
    joined(consumer)
    assert listener.events == [("assigned", [T0, T1]), ("lost", [T0, T1]), ("assigned", [T0, T1])]


def test_closing_loses_partitions_during_a_rebalance_and_revokes_them_otherwise(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    listener = Listener()
    consumer = cooperative(new_consumer, listener)
    consumer.close()
    assert listener.events[-1] == ("revoked", [T0, T1])
    other = cooperative(new_consumer, listener)
    release = hold_join_responses(broker, monkeypatch)
    other.enforce_rebalance()
    poll(other, 3)
    other.close(100)
    assert listener.events[-1] == ("lost", [T0, T1])
    release()


def test_after_a_wakeup_the_listener_is_called_again_with_the_same_partitions(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    class WakesUp(Listener):
        def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
            super().on_partitions_assigned(partitions)
            if len(self.events) == 1:
                raise WakeupError

    listener = WakesUp()
    consumer = new_consumer("g", partition_assignment_strategy=COOPERATIVE)
    consumer.subscribe(["t"], listener)
    with pytest.raises(WakeupError):
        poll(consumer)
    joined(consumer)
    assert listener.events == [("assigned", [T0, T1]), ("assigned", [T0, T1])]
    assert broker.generation == 1


def test_a_failing_listener_does_not_stop_the_rebalance(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    class Broken(Listener):
        def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:
            super().on_partitions_revoked(partitions)
            raise RuntimeError("of the user")

    listener = Broken()
    consumer = cooperative(new_consumer, listener)
    broker.other_members = [another("t")]
    consumer.enforce_rebalance()
    with pytest.raises(KafkaError, match="of the user"):
        poll(consumer, 20)
    poll(consumer, 20)
    assert (set(consumer.assignment), broker.generation) == ({T0}, 3)
    listener.events.clear()
    with pytest.raises(KafkaError, match="of the user"):
        consumer.close()
    assert len(broker.of(ApiKey.LEAVE_GROUP)) == 1, "the group must not wait for a member that is gone"


def test_members_that_also_list_an_eager_assignor_are_eager(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    """Some member may still know only range, so no member may own partitions while it joins."""
    listener = Listener()
    consumer = new_consumer("g", partition_assignment_strategy=f"range,{COOPERATIVE}")
    consumer.subscribe(["t"], listener)
    joined(consumer)
    assert [each.name for each in broker.of(ApiKey.JOIN_GROUP)[-1].protocols] == ["range", COOPERATIVE]
    consumer.enforce_rebalance()
    joined(consumer)
    assert listener.events[1:] == [("assigned", [T0, T1]), ("revoked", [T0, T1]), ("assigned", [T0, T1])]


class Thief(PartitionAssignor):
    """Assigns partitions that other members still own."""

    name = "thief"
    supported_protocols = (RebalanceProtocol.COOPERATIVE,)

    def assign(self, cluster: Cluster, subscriptions: Mapping[str, Subscription]) -> dict[str, Assignment]:
        last = sorted(subscriptions)[-1]
        return {each: Assignment((T0, T1) if each == last else ()) for each in subscriptions}


def test_an_assignor_that_reassigns_owned_partitions_is_refused(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    consumer = new_consumer("g", partition_assignment_strategy=f"{__name__}.Thief")
    consumer.subscribe(["t"])
    joined(consumer)
    broker.other_members = [another("t")]
    consumer.enforce_rebalance()
    with pytest.raises(KafkaError, match=r"thief .* t-0, t-1 while other members still own them"):
        poll(consumer)
    assert "other" not in broker.assignments
    broker.other_members = []


def test_assignors_without_a_protocol_in_common_are_refused(new_consumer: ConsumerFactory) -> None:
    with pytest.raises(ConfigError, match="no rebalance protocol in common"):
        new_consumer("g", partition_assignment_strategy=f"range,{__name__}.Thief")
