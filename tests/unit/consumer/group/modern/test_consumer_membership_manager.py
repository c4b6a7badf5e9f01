"""A consumer in a group whose broker assigns: polls, heartbeats, ends of the membership."""

from __future__ import annotations

import re
from collections.abc import Collection

import pytest

from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer, SubscriptionPattern
from kafka_lite.consumer.consumer_errors import CommitFailedError
from kafka_lite.consumer.consumer_group_metadata import ConsumerGroupMetadata
from kafka_lite.consumer.group.modern.member_state import MemberState
from kafka_lite.protocol.api_key import ApiKey
from tests.support.scripted_members import T0, T1, U0, Listener, poll
from tests.support.scripted_modern_group import (
    HEARTBEAT,
    INTERVAL_MS,
    VERSIONS,
    ScriptedModernGroup,
    heartbeat_turns,
    manager,
    topic_id,
)
from tests.unit.consumer.group.modern.conftest import MemberFactory

S = MemberState


def reading(broker: ScriptedModernGroup, consumer: KafkaConsumer, listener: Listener | None = None) -> Listener:
    """The member has T0 and T1, and has read two records of T0."""
    listener = listener or Listener()
    broker.append(T0, b"a", b"b")
    broker.assign(t=[0, 1])
    consumer.subscribe(["t"], listener)
    assert poll(consumer, 6) == [b"a", b"b"]
    assert manager(consumer).state is S.STABLE
    return listener


def next_heartbeat(consumer: KafkaConsumer, time: MockTime) -> list[bytes]:
    """Poll once the next heartbeat is due, as often as it takes to handle the response."""
    time.sleep(INTERVAL_MS)
    return poll(consumer, 4)


def test_a_member_joins_reads_and_acknowledges(broker: ScriptedModernGroup, new_member: MemberFactory) -> None:
    consumer = new_member()
    listener = reading(broker, consumer)
    assert listener.events == [("assigned", [T0, T1])]
    first, second = broker.heartbeats[:2]
    assert (first.member_epoch, first.subscribed_topic_names, first.rebalance_timeout_ms) == (0, ["t"], 300_000)
    assert first.member_id == second.member_id == manager(consumer).membership.member_id
    assert (second.member_epoch, [each.partitions for each in second.topic_partitions]) == (1, [[0, 1]])
    assert not broker.of(ApiKey.JOIN_GROUP)


def test_heartbeats_go_on_while_the_user_processes_records(
    broker: ScriptedModernGroup, new_member: MemberFactory, time: MockTime
) -> None:
    consumer = new_member()
    reading(broker, consumer)
    before = len(broker.heartbeats)
    for _ in range(3):
        time.sleep(INTERVAL_MS)
        heartbeat_turns(consumer)
    sent = broker.heartbeats[before:]
    assert [(each.member_epoch, each.topic_partitions) for each in sent] == [(1, None)] * 3


def test_partitions_move_without_a_pause_of_the_others(
    broker: ScriptedModernGroup, new_member: MemberFactory, time: MockTime
) -> None:
    consumer = new_member()
    listener = reading(broker, consumer)
    broker.assign(t=[0])
    broker.append(T0, b"c")
    assert next_heartbeat(consumer, time) == [b"c"]
    assert listener.events[1:] == [("revoked", [T1]), ("assigned", [])]
    assert consumer.assignment == {T0}
    owned = [each.topic_partitions for each in broker.heartbeats if each.topic_partitions]
    assert [each.partitions for each in owned[-1]] == [[0]]
    assert consumer.position(T0) == 3, "what stays keeps its position"


def test_a_topic_whose_name_is_not_known_yet_is_looked_up(
    broker: ScriptedModernGroup, new_member: MemberFactory, time: MockTime
) -> None:
    consumer = new_member()
    listener = reading(broker, consumer)
    del broker.topics["u"]
    broker.assign(t=[0, 1], u=[0])
    consumer.subscribe(["t", "u"], listener)
    poll(consumer, 5)
    assert (consumer.assignment, manager(consumer).state) == ({T0, T1}, S.RECONCILING)
    broker.create("u", 1)
    poll(consumer, 10)
    assert (consumer.assignment, manager(consumer).state) == ({T0, T1, U0}, S.STABLE)
    assert listener.events[1:] == [("assigned", [U0])]


def test_another_subscription_is_sent_at_once(broker: ScriptedModernGroup, new_member: MemberFactory) -> None:
    consumer = new_member()
    reading(broker, consumer)
    consumer.subscribe(["u"])
    broker.assign(u=[0])
    poll(consumer, 4)
    assert consumer.assignment == {U0}
    assert [each.subscribed_topic_names for each in broker.heartbeats if each.subscribed_topic_names] == [["t"], ["u"]]


# ── expressions ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_broker_resolves_a_subscription_pattern(broker: ScriptedModernGroup, new_member: MemberFactory) -> None:
    broker.append(U0, b"x")
    broker.assign(u=[0])
    consumer = new_member()
    consumer.subscribe(SubscriptionPattern("u|v"))
    assert poll(consumer, 8) == [b"x"]
    assert (broker.heartbeats[0].subscribed_topic_regex, broker.heartbeats[0].subscribed_topic_names) == ("u|v", [])
    asked = [each.topic_id for request in broker.of(ApiKey.METADATA) for each in request.topics]
    assert set(asked) == {topic_id("u")}, "only by the id"
    consumer.unsubscribe()
    consumer.subscribe(["t"])
    broker.assign(t=[0])
    poll(consumer, 6)
    assert consumer.assignment == {T0}


def test_the_consumer_resolves_a_pattern_of_re(broker: ScriptedModernGroup, new_member: MemberFactory) -> None:
    broker.assign(t=[0])
    consumer = new_member()
    consumer.subscribe(re.compile("t.*"))
    poll(consumer, 6)
    assert consumer.assignment == {T0}
    assert (broker.heartbeats[0].subscribed_topic_names, broker.heartbeats[0].subscribed_topic_regex) == (["t"], "")


def test_an_older_broker_says_that_it_has_no_expressions(
    broker: ScriptedModernGroup, new_member: MemberFactory, time: MockTime
) -> None:
    older = ScriptedModernGroup(time, VERSIONS | {HEARTBEAT: (0, 0)})
    broker.handlers[ApiKey.API_VERSIONS] = older.handlers[ApiKey.API_VERSIONS]
    consumer = new_member()
    consumer.subscribe(SubscriptionPattern("t.*"))
    with pytest.raises(ApiError, match="does not resolve regular expressions") as raised:
        poll(consumer, 6)
    assert raised.value.error is Errors.UNSUPPORTED_VERSION


# ── the ends ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("error", [Errors.FENCED_MEMBER_EPOCH, Errors.UNKNOWN_MEMBER_ID])
def test_a_fenced_member_has_lost_its_partitions_and_joins_again(
    broker: ScriptedModernGroup, new_member: MemberFactory, time: MockTime, error: Errors
) -> None:
    consumer = new_member(enable_auto_commit=False)
    listener = reading(broker, consumer)
    known = consumer.group_metadata()
    broker.append(T0, b"c")
    broker.fail_next(HEARTBEAT, error)
    time.sleep(INTERVAL_MS)
    heartbeat_turns(consumer)
    assert manager(consumer).state is S.FENCED
    with pytest.raises(CommitFailedError):
        consumer.commit_sync()
    assert consumer.group_metadata() == known, "a transaction of before is refused"
    assert poll(consumer, 6) == [b"a", b"b", b"c"], "from the committed offset"
    assert listener.events[1:] == [("lost", [T0, T1]), ("assigned", [T0, T1])]
    rejoin = next(each for each in broker.heartbeats[2:] if each.member_epoch == 0)
    assert (rejoin.topic_partitions, rejoin.subscribed_topic_names) == ([], ["t"])


def test_a_member_whose_user_does_not_poll_leaves_and_comes_back(
    broker: ScriptedModernGroup, new_member: MemberFactory, time: MockTime
) -> None:
    consumer = new_member(max_poll_interval_ms=10_000)
    listener = reading(broker, consumer)
    time.sleep(10_001)
    heartbeat_turns(consumer)
    assert (manager(consumer).state, broker.heartbeats[-1].member_epoch) == (S.STALE, -1)
    heartbeat_turns(consumer)
    assert broker.heartbeats[-1].member_epoch == -1, "it sends no more"
    poll(consumer, 4)
    assert listener.events[1:] == [("lost", [T0, T1]), ("assigned", [T0, T1])]
    assert manager(consumer).state is S.STABLE


@pytest.mark.parametrize(("instance_id", "epoch"), [(None, -1), ("i", -2)])
def test_unsubscribing_gives_up_the_partitions_and_leaves(
    broker: ScriptedModernGroup, new_member: MemberFactory, instance_id: str | None, epoch: int
) -> None:
    consumer = new_member(group_instance_id=instance_id)
    listener = reading(broker, consumer)
    consumer.unsubscribe()
    consumer.close()
    assert listener.events[1:] == [("revoked", [T0, T1])]
    assert (broker.heartbeats[-1].member_epoch, broker.heartbeats[-1].instance_id) == (epoch, instance_id)
    assert len([each for each in broker.heartbeats if each.member_epoch < 0]) == 1, "closing does not leave once more"


def test_closing_commits_and_leaves(broker: ScriptedModernGroup, new_member: MemberFactory) -> None:
    consumer = new_member()
    listener = reading(broker, consumer)
    consumer.close()
    assert broker.committed[T0] == (2, "")
    assert broker.heartbeats[-1].member_epoch == -1
    assert listener.events[1:] == [("revoked", [T0, T1])]


def test_a_consumer_may_close_without_leaving(broker: ScriptedModernGroup, new_member: MemberFactory) -> None:
    consumer = new_member(internal_leave_group_on_close=False)
    reading(broker, consumer)
    consumer.close()
    assert all(each.member_epoch >= 0 for each in broker.heartbeats)


def test_a_member_whose_coordinator_is_unknown_leaves_without_a_request(
    broker: ScriptedModernGroup, new_member: MemberFactory
) -> None:
    consumer = new_member()
    reading(broker, consumer)
    manager(consumer).finder.mark_unknown("as the test says")
    consumer.unsubscribe()
    assert manager(consumer).state is S.UNSUBSCRIBED
    assert all(each.member_epoch >= 0 for each in broker.heartbeats)


# ── other uses ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_assigned_partitions_need_no_membership(broker: ScriptedModernGroup, new_member: MemberFactory) -> None:
    broker.append(T0, b"a")
    consumer = new_member(enable_auto_commit=False)
    consumer.assign([T0])
    assert poll(consumer, 5) == [b"a"]
    consumer.commit_sync()
    commit = broker.of(ApiKey.OFFSET_COMMIT)[-1]
    assert (commit.generation_id_or_member_epoch, commit.member_id) == (-1, "")
    assert not broker.heartbeats


def test_group_metadata_names_the_epoch(broker: ScriptedModernGroup, new_member: MemberFactory) -> None:
    consumer = new_member(group_instance_id="i")
    assert consumer.group_metadata() == ConsumerGroupMetadata("g", group_instance_id="i")
    reading(broker, consumer)
    member_id = manager(consumer).membership.member_id
    assert consumer.group_metadata() == ConsumerGroupMetadata("g", 1, member_id, "i")


def test_a_rebalance_cannot_be_enforced(
    broker: ScriptedModernGroup, new_member: MemberFactory, caplog: pytest.LogCaptureFixture
) -> None:
    consumer = new_member()
    reading(broker, consumer)
    consumer.enforce_rebalance()
    assert "not supported in new consumer group protocol" in caplog.text


def test_the_rack_and_the_assignor_are_told(broker: ScriptedModernGroup, new_member: MemberFactory) -> None:
    consumer = new_member(client_rack="r", group_remote_assignor="range")
    reading(broker, consumer)
    assert (broker.heartbeats[0].rack_id, broker.heartbeats[0].server_assignor) == ("r", "range")


def test_a_heartbeat_thread_that_fails_is_heard_of(broker: ScriptedModernGroup, new_member: MemberFactory) -> None:
    consumer = new_member()
    reading(broker, consumer)
    thread = manager(consumer)._heartbeat_thread
    assert thread is not None
    thread.failure = RuntimeError("as the test says")
    with pytest.raises(RuntimeError, match="as the test says"):
        consumer.poll(0)
    consumer.poll(0)
    assert manager(consumer)._heartbeat_thread is not thread


def coordinator_metrics(consumer: KafkaConsumer) -> dict[str, float]:
    return {name.name: metric.value for name, metric in consumer.metrics().items() if "coordinator" in name.group}


def test_metrics_know_the_heartbeats_and_the_partitions(broker: ScriptedModernGroup, new_member: MemberFactory) -> None:
    consumer = new_member()
    reading(broker, consumer)
    values = coordinator_metrics(consumer)
    assert (values["assigned-partitions"], values["rebalance-total"]) == (2, 1)
    assert values["heartbeat-total"] == 2
    assert not [name for name in values if name.startswith(("join-", "sync-"))], "it sends no JoinGroup"


class Refusing(Listener):
    """Does not take over an assignment."""

    def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
        raise ValueError(f"not {partitions}")


def test_a_rebalance_fails_if_the_member_is_fenced_in_it(
    broker: ScriptedModernGroup, new_member: MemberFactory, time: MockTime
) -> None:
    consumer = new_member()
    broker.assign(t=[0, 1])
    consumer.subscribe(["t"], Refusing())
    with pytest.raises(KafkaError, match="User rebalance callback"):
        poll(consumer, 6)
    assert manager(consumer).state is S.RECONCILING
    for error, failed in ((Errors.COORDINATOR_LOAD_IN_PROGRESS, 0), (Errors.FENCED_MEMBER_EPOCH, 1)):
        broker.fail_next(HEARTBEAT, error)
        time.sleep(INTERVAL_MS)
        heartbeat_turns(consumer)
        values = coordinator_metrics(consumer)
        assert (values["failed-rebalance-total"], values["rebalance-total"]) == (failed, 0), error


def test_a_member_that_is_fenced_while_it_reads_has_failed_no_rebalance(
    broker: ScriptedModernGroup, new_member: MemberFactory, time: MockTime
) -> None:
    consumer = new_member()
    reading(broker, consumer)
    broker.fail_next(HEARTBEAT, Errors.FENCED_MEMBER_EPOCH)
    time.sleep(INTERVAL_MS)
    heartbeat_turns(consumer)
    assert manager(consumer).state is S.FENCED
    assert coordinator_metrics(consumer)["failed-rebalance-total"] == 0
