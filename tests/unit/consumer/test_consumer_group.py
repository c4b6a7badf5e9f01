"""A member of a group: joining, heartbeats, commits, leaving; the coordinator is a script."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, cast

import pytest

from kafka_lite.clients.cluster import Cluster, PartitionInfo
from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.assignors.partition_assignor import (
    Subscription,
    deserialize_subscription,
    serialize_subscription,
)
from kafka_lite.consumer.assignors.range_assignor import RangeAssignor
from kafka_lite.consumer.consumer_errors import (
    CommitFailedError,
    ConsumerTimeoutError,
    RetriableCommitFailedError,
    WakeupError,
)
from kafka_lite.consumer.consumer_group_metadata import ConsumerGroupMetadata
from kafka_lite.consumer.consumer_rebalance_listener import ConsumerRebalanceListener
from kafka_lite.consumer.group.abstract_coordinator import AbstractCoordinator
from kafka_lite.consumer.group.consumer_coordinator import ConsumerCoordinator
from kafka_lite.consumer.group.member_state import MemberState
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupResponseMember
from kafka_lite.protocol.messages.api_14_sync_group import SyncGroupResponse
from tests.support.scripted_broker import KAFKA_0_10_2, ScriptedBroker
from tests.unit.consumer.conftest import ConsumerFactory

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)


class Listener(ConsumerRebalanceListener):
    def __init__(self) -> None:
        self.events: list[tuple[str, list[TopicPartition]]] = []

    def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:
        self.events.append(("revoked", sorted(partitions)))

    def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
        self.events.append(("assigned", sorted(partitions)))

    def on_partitions_lost(self, partitions: Collection[TopicPartition]) -> None:
        self.events.append(("lost", sorted(partitions)))


def member(consumer: KafkaConsumer) -> AbstractCoordinator:
    coordinator = consumer._coordinator
    assert coordinator is not None
    return coordinator


def joined(consumer: KafkaConsumer, polls: int = 20) -> None:
    for _ in range(polls):
        consumer.poll(50)
        if consumer.assignment and not member(consumer).rejoin_needed_or_pending():
            return
    raise AssertionError("did not join")


def another(*topics: str, member_id: str = "other") -> JoinGroupResponseMember:
    return JoinGroupResponseMember(member_id=member_id, metadata=serialize_subscription(Subscription(topics)))


def poll(consumer: KafkaConsumer, times: int = 10) -> list[Any]:
    return [record.value for _ in range(times) for record in consumer.poll(50)]


# ── Joining ───────────────────────────────────────────────────────────────────────────────────────────────────────────


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


def test_an_old_broker_does_not_require_a_member_id(
    broker: ScriptedBroker, time: MockTime, new_consumer: ConsumerFactory
) -> None:
    old = ScriptedBroker(time, KAFKA_0_10_2)
    old.create("t", 2)
    broker.__dict__.update(old.__dict__)
    for key, handler in old.handlers.items():
        broker.handlers[key] = handler
    old.append(T0, b"a")
    consumer = new_consumer("g")
    consumer.subscribe(["t"])
    assert poll(consumer, 20) == [b"a"]
    consumer.commit_sync()
    assert consumer.committed([T0]) == {T0: OffsetAndMetadata(1)}


def test_a_static_member_needs_a_broker_with_static_membership(
    broker: ScriptedBroker, time: MockTime, new_consumer: ConsumerFactory
) -> None:
    broker.handlers[ApiKey.API_VERSIONS] = ScriptedBroker(time, KAFKA_0_10_2).handlers[ApiKey.API_VERSIONS]
    consumer = new_consumer("g", group_instance_id="i")
    consumer.subscribe(["t"])
    with pytest.raises(ApiError) as raised:
        poll(consumer)
    assert raised.value.error is Errors.UNSUPPORTED_VERSION


@pytest.mark.parametrize(
    "error",
    [Errors.UNKNOWN_MEMBER_ID, Errors.REBALANCE_IN_PROGRESS, Errors.ILLEGAL_GENERATION, Errors.NOT_COORDINATOR,
     Errors.COORDINATOR_NOT_AVAILABLE, Errors.COORDINATOR_LOAD_IN_PROGRESS],
)  # fmt: skip
@pytest.mark.parametrize("key", [ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP])
def test_retriable_errors_only_delay_the_join(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, key: ApiKey, error: Errors
) -> None:
    broker.fail_next(key, error)
    consumer = new_consumer("g")
    consumer.subscribe(["t"])
    joined(consumer)
    assert consumer.assignment == {T0, T1}
    assert len(broker.of(key)) >= 2


@pytest.mark.parametrize("error", [Errors.NOT_COORDINATOR, Errors.COORDINATOR_NOT_AVAILABLE])
@pytest.mark.parametrize(
    "key", [ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP, ApiKey.OFFSET_FETCH, ApiKey.OFFSET_COMMIT], ids=lambda key: key.name
)
def test_a_coordinator_that_has_moved_is_looked_up_again(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, key: ApiKey, error: Errors
) -> None:
    broker.fail_next(key, error)
    reading(broker, new_consumer("g", enable_auto_commit=False)).commit_sync()
    assert broker.committed[T0] == (2, "")
    assert len(broker.of(ApiKey.FIND_COORDINATOR)) == 2


@pytest.mark.parametrize(
    "error", [Errors.INCONSISTENT_GROUP_PROTOCOL, Errors.INVALID_SESSION_TIMEOUT, Errors.GROUP_AUTHORIZATION_FAILED,
              Errors.GROUP_MAX_SIZE_REACHED, Errors.FENCED_INSTANCE_ID]
)  # fmt: skip
def test_fatal_errors_are_raised(broker: ScriptedBroker, new_consumer: ConsumerFactory, error: Errors) -> None:
    broker.fail_next(ApiKey.JOIN_GROUP, error)
    consumer = new_consumer("g")
    consumer.subscribe(["t"])
    with pytest.raises(ApiError) as raised:
        poll(consumer)
    assert raised.value.error is error


def test_a_join_longer_than_a_poll_continues_in_the_next_poll(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[tuple[Any, ...]] = []
    answer = broker.answer
    is_parked = True

    def respond_late(*response: Any) -> None:
        late = is_parked and isinstance(response[2], SyncGroupResponse)
        held.append(response) if late else answer(*response)

    monkeypatch.setattr(broker, "answer", respond_late)
    consumer = new_consumer("g")
    consumer.subscribe(["t"])
    poll(consumer, 10)
    assert len(held) == 1
    assert member(consumer).state is MemberState.REBALANCING
    is_parked = False
    answer(*held[0])
    joined(consumer, polls=2)
    assert (broker.generation, len(broker.of(ApiKey.SYNC_GROUP))) == (1, 1)


def test_a_wakeup_during_a_join_loses_nothing(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    class WakesUp(Listener):
        def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
            super().on_partitions_assigned(partitions)
            if len(self.events) == 2:
                raise WakeupError

    listener = WakesUp()
    consumer = new_consumer("g")
    consumer.subscribe(["t"], listener)
    with pytest.raises(WakeupError):
        poll(consumer)
    joined(consumer)
    assert [event for event, _ in listener.events] == ["revoked", "assigned", "assigned"]
    assert broker.generation == 1


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


# ── Heartbeats ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_one_heartbeat_is_sent_per_interval(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, time: MockTime
) -> None:
    consumer = new_consumer("g", heartbeat_interval_ms=1000)
    consumer.subscribe(["t"])
    joined(consumer)
    start = len(broker.of(ApiKey.HEARTBEAT))
    wait_ms = member(consumer).heartbeat_turn()
    assert wait_ms is not None
    assert 0 < wait_ms <= 1000
    time.sleep(1001)
    member(consumer).heartbeat_turn()
    member(consumer).heartbeat_turn()
    assert len(broker.of(ApiKey.HEARTBEAT)) == start + 1
    assert broker.of(ApiKey.HEARTBEAT)[-1].generation_id == 1


@pytest.mark.parametrize(
    ("error", "event"),
    [
        (Errors.REBALANCE_IN_PROGRESS, "revoked"),
        (Errors.ILLEGAL_GENERATION, "lost"),
        (Errors.UNKNOWN_MEMBER_ID, "lost"),
    ],
)
def test_a_heartbeat_response_makes_the_member_join_again(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, time: MockTime, error: Errors, event: str
) -> None:
    listener = Listener()
    consumer = new_consumer("g")
    consumer.subscribe(["t"], listener)
    joined(consumer)
    heartbeat_with(broker, consumer, time, error)
    assert member(consumer).rejoin_needed()
    joined(consumer)
    assert [each for each, _ in listener.events] == ["revoked", "assigned", event, "assigned"]
    assert broker.generation == 2


def heartbeat_with(broker: ScriptedBroker, consumer: KafkaConsumer, time: MockTime, error: Errors) -> None:
    answer = broker.handlers[ApiKey.HEARTBEAT]

    def refuse(request: Any, version: int) -> Any:
        response: Any = answer(request, version)
        response.error_code = error.code
        return response

    broker.handlers[ApiKey.HEARTBEAT] = refuse
    time.sleep(3001)
    for _ in range(3):
        member(consumer).heartbeat_turn()
    broker.handlers[ApiKey.HEARTBEAT] = answer


def test_a_removed_member_sends_no_more_heartbeats(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, time: MockTime
) -> None:
    consumer = new_consumer("g", retry_backoff_ms=10)
    consumer.subscribe(["t"])
    joined(consumer)
    answer = broker.handlers[ApiKey.HEARTBEAT]

    def refuse_late(request: Any, version: int) -> Any:
        response: Any = answer(request, version)
        response.error_code = Errors.UNKNOWN_MEMBER_ID.code
        time.sleep(11)  # the next heartbeat would be due, had the member not been removed
        return response

    broker.handlers[ApiKey.HEARTBEAT] = refuse_late
    time.sleep(3001)
    start = len(broker.of(ApiKey.HEARTBEAT))
    for _ in range(4):
        member(consumer).heartbeat_turn()
    assert len(broker.of(ApiKey.HEARTBEAT)) == start + 1


def test_a_removed_member_keeps_its_group_metadata(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    """Without a generation, the group coordinator would not check its transactions."""
    consumer = new_consumer("g")
    assert consumer.group_metadata() == ConsumerGroupMetadata("g")
    consumer.subscribe(["t"])
    joined(consumer)
    generation = member(consumer).generation
    metadata = consumer.group_metadata()
    assert metadata == ConsumerGroupMetadata("g", generation.generation_id, "me")
    assert generation.generation_id >= 0
    member(consumer).reset_generation("the coordinator has removed the member")
    assert consumer.group_metadata() == metadata


def test_a_fenced_static_member_raises(broker: ScriptedBroker, new_consumer: ConsumerFactory, time: MockTime) -> None:
    consumer = new_consumer("g", group_instance_id="i")
    consumer.subscribe(["t"])
    joined(consumer)
    heartbeat_with(broker, consumer, time, Errors.FENCED_INSTANCE_ID)
    with pytest.raises(ApiError) as raised:
        poll(consumer)
    assert raised.value.error is Errors.FENCED_INSTANCE_ID


def test_a_member_that_does_not_poll_leaves(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, time: MockTime
) -> None:
    listener = Listener()
    consumer = new_consumer("g", max_poll_interval_ms=5000)
    consumer.subscribe(["t"], listener)
    joined(consumer)
    time.sleep(5001)
    assert member(consumer).heartbeat_turn() is None
    assert len(broker.of(ApiKey.LEAVE_GROUP)) == 1
    assert member(consumer).state is MemberState.UNJOINED
    with pytest.raises(CommitFailedError):
        consumer.commit_sync({T0: OffsetAndMetadata(1)})
    joined(consumer)
    assert [event for event, _ in listener.events] == ["revoked", "assigned", "lost", "assigned"]


def test_a_silent_coordinator_is_looked_up_again(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, time: MockTime
) -> None:
    consumer = new_consumer("g", session_timeout_ms=6000)
    consumer.subscribe(["t"])
    joined(consumer)
    broker.handlers[ApiKey.HEARTBEAT] = lambda _request, _version: None
    for _ in range(4):
        time.sleep(3001)
        member(consumer).heartbeat_turn()
    assert len(broker.of(ApiKey.FIND_COORDINATOR)) >= 2


def test_a_lookup_that_fails_between_polls_is_raised(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    consumer = new_consumer("g")
    consumer.subscribe(["t"])
    joined(consumer)
    answer = broker.handlers[ApiKey.FIND_COORDINATOR]

    def refuse(request: Any, version: int) -> Any:
        response: Any = answer(request, version)
        response.error_code = Errors.GROUP_AUTHORIZATION_FAILED.code
        return response

    broker.handlers[ApiKey.FIND_COORDINATOR] = refuse
    finder = member(consumer).finder
    finder.mark_unknown("test")
    finder.lookup()
    consumer.list_topics()  # this poll also receives the response to the lookup
    assert len(broker.of(ApiKey.FIND_COORDINATOR)) == 2
    with pytest.raises(ApiError) as raised:
        consumer.poll(0)
    assert raised.value.error is Errors.GROUP_AUTHORIZATION_FAILED
    broker.handlers[ApiKey.FIND_COORDINATOR] = answer


def test_a_lost_connection_to_the_coordinator_is_replaced(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    consumer = new_consumer("g")
    consumer.subscribe(["t"])
    joined(consumer)
    coordinator = member(consumer).finder.coordinator
    assert coordinator is not None
    broker.lose(coordinator.id_string)
    poll(consumer, 5)
    consumer.commit_sync({T0: OffsetAndMetadata(1)})
    assert broker.connections[coordinator.id_string] == 2
    assert broker.generation == 1


# ── Commits ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def reading(broker: ScriptedBroker, consumer: KafkaConsumer) -> KafkaConsumer:
    """It has read ``a`` and ``b`` of T0."""
    broker.append(T0, b"a", b"b")
    consumer.subscribe(["t"])
    assert poll(consumer, 20) == [b"a", b"b"]
    return consumer


def test_a_commit_stores_the_position_where_the_next_consumer_continues(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    consumer = reading(broker, new_consumer("g", enable_auto_commit=False))
    consumer.commit_sync()
    assert broker.committed[T0] == (2, "")
    assert consumer.committed([T0, T1]) == {T0: OffsetAndMetadata(2), T1: OffsetAndMetadata(0)}
    consumer.close()
    broker.append(T0, b"c")
    second = new_consumer("g")
    second.subscribe(["t"])
    assert poll(second, 20) == [b"c"]


def test_offsets_and_metadata_of_the_user_are_committed(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    consumer = reading(broker, new_consumer("g", enable_auto_commit=False))
    consumer.commit_sync({T0: OffsetAndMetadata(1, "half")})
    assert consumer.committed([T0]) == {T0: OffsetAndMetadata(1, "half")}


@pytest.mark.parametrize(
    "error", [Errors.NOT_COORDINATOR, Errors.COORDINATOR_NOT_AVAILABLE, Errors.COORDINATOR_LOAD_IN_PROGRESS]
)
def test_a_synchronous_commit_is_retried(broker: ScriptedBroker, new_consumer: ConsumerFactory, error: Errors) -> None:
    consumer = reading(broker, new_consumer("g", enable_auto_commit=False))
    broker.fail_next(ApiKey.OFFSET_COMMIT, error, error)
    consumer.commit_sync()
    assert broker.committed[T0] == (2, "")
    assert len(broker.of(ApiKey.OFFSET_COMMIT)) == 3


@pytest.mark.parametrize("isolation_level", ["read_committed", "read_uncommitted"])
def test_a_consumer_does_not_begin_before_an_open_transaction_that_commits_its_offsets(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, isolation_level: str
) -> None:
    broker.committed[T0] = (1, "")
    broker.fail_next(ApiKey.OFFSET_FETCH, Errors.UNSTABLE_OFFSET_COMMIT, Errors.UNSTABLE_OFFSET_COMMIT)
    broker.append(T0, b"a", b"b")
    consumer = new_consumer("g", isolation_level=isolation_level)
    consumer.subscribe(["t"])
    assert poll(consumer, 20)
    assert [each.require_stable for each in broker.of(ApiKey.OFFSET_FETCH)] == [True, True, True]


@pytest.mark.parametrize("error", [Errors.UNKNOWN_MEMBER_ID, Errors.ILLEGAL_GENERATION])
def test_a_commit_outside_of_the_generation_is_refused(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, error: Errors
) -> None:
    consumer = reading(broker, new_consumer("g", enable_auto_commit=False))
    broker.fail_next(ApiKey.OFFSET_COMMIT, error)
    with pytest.raises(CommitFailedError):
        consumer.commit_sync()
    assert member(consumer).rejoin_needed()


def test_fatal_commit_errors_are_raised(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    consumer = reading(broker, new_consumer("g", enable_auto_commit=False))
    for error in (Errors.OFFSET_METADATA_TOO_LARGE, Errors.GROUP_AUTHORIZATION_FAILED, Errors.REBALANCE_IN_PROGRESS,
                  Errors.TOPIC_AUTHORIZATION_FAILED):  # fmt: skip
        broker.fail_next(ApiKey.OFFSET_COMMIT, error)
        with pytest.raises(ApiError) as raised:
            consumer.commit_sync()
        assert raised.value.error is error


def test_a_commit_without_a_response_times_out(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    consumer = reading(broker, new_consumer("g", enable_auto_commit=False))
    answer = broker.handlers[ApiKey.OFFSET_COMMIT]
    broker.handlers[ApiKey.OFFSET_COMMIT] = lambda _request, _version: None
    with pytest.raises(ConsumerTimeoutError):
        consumer.commit_sync(timeout_ms=500)
    broker.handlers[ApiKey.OFFSET_COMMIT] = answer


def test_callbacks_of_asynchronous_commits_are_called_in_order(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    consumer = reading(broker, new_consumer("g", enable_auto_commit=False))
    heard: list[tuple[int, type | None]] = []
    broker.fail_next(ApiKey.OFFSET_COMMIT, Errors.NONE, Errors.COORDINATOR_LOAD_IN_PROGRESS, Errors.ILLEGAL_GENERATION)
    for offset in (1, 2, 3):
        consumer.commit_async(
            {T0: OffsetAndMetadata(offset)},
            lambda offsets, error: heard.append((offsets[T0].offset, None if error is None else type(error))),
        )
    poll(consumer, 3)
    assert heard == [(1, None), (2, RetriableCommitFailedError), (3, CommitFailedError)]
    assert broker.committed[T0] == (1, "")


def test_a_synchronous_commit_waits_for_the_asynchronous_ones_before_it(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    consumer = reading(broker, new_consumer("g", enable_auto_commit=False))
    heard: list[str] = []
    consumer.commit_async({T0: OffsetAndMetadata(1)}, lambda _offsets, _error: heard.append("asynchronous"))
    consumer.commit_sync()
    assert heard == ["asynchronous"]
    assert broker.committed[T0] == (2, "")


def test_positions_are_auto_committed_once_per_interval(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, time: MockTime
) -> None:
    consumer = reading(broker, new_consumer("g", auto_commit_interval_ms=100_000))
    assert broker.of(ApiKey.OFFSET_COMMIT) == []
    time.sleep(100_001)
    poll(consumer, 3)
    assert broker.committed[T0] == (2, "")
    assert len(broker.of(ApiKey.OFFSET_COMMIT)) == 1


def test_records_of_the_last_poll_are_not_committed_before_the_next_poll(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, time: MockTime
) -> None:
    """At least once: a consumer that crashes while processing records has not committed them."""
    broker.append(T0, b"a", b"b")
    consumer = new_consumer("g", max_poll_records=1, auto_commit_interval_ms=0)
    consumer.subscribe(["t"])
    seen = 0
    while not seen:
        seen = len(consumer.poll(50))
    assert broker.committed.get(T0, (0, ""))[0] == 0
    consumer.poll(50)
    assert broker.committed[T0][0] == 1


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


def test_partitions_assigned_by_the_user_are_committed_to_the_group(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    broker.append(T0, b"a", b"b")
    broker.committed[T0] = (1, "")
    consumer = new_consumer("g", enable_auto_commit=False)
    consumer.assign([T0])
    assert poll(consumer) == [b"b"]
    consumer.commit_sync()
    assert broker.committed[T0] == (2, "")
    assert broker.of(ApiKey.OFFSET_COMMIT)[-1].generation_id_or_member_epoch == -1
    assert broker.of(ApiKey.JOIN_GROUP) == []


def test_committed_offsets_are_requested_until_the_coordinator_responds(
    broker: ScriptedBroker, new_consumer: ConsumerFactory
) -> None:
    broker.committed[T0] = (5, "note")
    broker.fail_next(ApiKey.OFFSET_FETCH, Errors.COORDINATOR_LOAD_IN_PROGRESS, Errors.NOT_COORDINATOR)
    consumer = new_consumer("g")
    assert consumer.committed([T0, T1]) == {T0: OffsetAndMetadata(5, "note"), T1: None}
    broker.fail_next(ApiKey.OFFSET_FETCH, Errors.GROUP_AUTHORIZATION_FAILED)
    with pytest.raises(ApiError):
        consumer.committed([T0])


# ── Leaving ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_closing_consumer_leaves(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    listener = Listener()
    consumer = new_consumer("g")
    consumer.subscribe(["t"], listener)
    joined(consumer)
    consumer.close()
    (leave,) = broker.of(ApiKey.LEAVE_GROUP)
    assert [each.member_id for each in leave.members] == ["me"]
    assert listener.events[-1] == ("revoked", [T0, T1])


def test_a_closing_static_member_does_not_leave(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    consumer = new_consumer("g", group_instance_id="i")
    consumer.subscribe(["t"])
    joined(consumer)
    consumer.close()
    assert broker.of(ApiKey.LEAVE_GROUP) == []


def test_unsubscribe_leaves_and_subscribe_joins(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    consumer = new_consumer("g")
    consumer.subscribe(["t"])
    joined(consumer)
    consumer.unsubscribe()
    assert len(broker.of(ApiKey.LEAVE_GROUP)) == 1
    assert consumer.assignment == frozenset()
    consumer.subscribe(["t"])
    joined(consumer)
    assert broker.generation == 2


def test_close_ends_in_time_without_responses(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, time: MockTime
) -> None:
    consumer = reading(broker, new_consumer("g"))
    for key in (ApiKey.OFFSET_COMMIT, ApiKey.LEAVE_GROUP, ApiKey.FIND_COORDINATOR):
        broker.handlers[key] = lambda _request, _version: None
    started = time.hi_res_ms()
    consumer.close(2000)
    assert time.hi_res_ms() - started <= 2500


def test_the_metrics_have_kafkas_names(broker: ScriptedBroker, new_consumer: ConsumerFactory) -> None:
    consumer = reading(broker, new_consumer("g"))
    consumer.commit_sync()
    groups: dict[str, dict[str, float]] = {}
    for name, metric in consumer.metrics().items():
        groups.setdefault(name.group, {})[name.name] = metric.value
    coordinator = groups["consumer-coordinator-metrics"]
    assert coordinator["assigned-partitions"] == 2
    assert coordinator["join-rate"] > 0
    assert coordinator["sync-rate"] > 0
    assert coordinator["commit-rate"] > 0
    assert {"heartbeat-rate", "heartbeat-response-time-max", "last-heartbeat-seconds-ago"} <= coordinator.keys()
    assert groups["consumer-fetch-manager-metrics"]["records-consumed-rate"] > 0


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
