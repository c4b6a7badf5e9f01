"""Writes to ZooKeeper whose response was lost, or that another broker was faster with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.zookeeper import paths
from kafka_lite.zookeeper.data import LeaderAndIsr, LeaderIsrAndControllerEpoch, ProducerIdsBlock, TopicAssignment
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.zk_errors import NoNodeError
from tests.support.fake_zookeeper import FakeZooKeeper, Tree, fake_zk

TP = TopicPartition("t", 0)


def state(leader: int, version: int) -> LeaderIsrAndControllerEpoch:
    return LeaderIsrAndControllerEpoch(LeaderAndIsr(leader, [1, 2], 0, version), 1)


class SentTwice(FakeZooKeeper):
    """The response to the first ``set`` is lost, and the client sends it again; ``between`` happens before that."""

    between: Callable[[], object] | None = None

    def set(self, path: str, data: bytes | None, version: int = -1) -> int:
        written = super().set(path, data, version)
        if self.between is None:
            return written
        between, self.between = self.between, None
        between()
        return super().set(path, data, version)


@pytest.fixture
def zk() -> KafkaZkClient:
    """The state of t-0 is in version 0, written by a leader 1."""
    client = fake_zk(Tree())
    client.create_topic_assignment("t", TopicAssignment({0: [1, 2]}))
    client.create_partition_state(TP, state(1, 0))
    return client


def sent_twice(zk: KafkaZkClient, between: Callable[[], object] = lambda: None) -> KafkaZkClient:
    """A client with the same data whose next write is sent twice."""
    fake: FakeZooKeeper = zk.zookeeper  # type: ignore[assignment]
    session = SentTwice(fake.tree)
    session.between = between
    client = fake_zk(fake.tree)
    client.zookeeper = session  # type: ignore[assignment]
    return client


def test_an_isr_is_written_for_the_version_that_is_known(zk: KafkaZkClient) -> None:
    assert zk.update_partition_state(TP, state(2, 0)) == 1
    assert zk.update_partition_state(TP, state(1, 0)) is None, "the version is an old one"
    assert zk.get_partition_state(TP) == state(2, 1)
    assert zk.update_partition_state(TopicPartition("t", 9), state(1, 0)) is None


def test_an_isr_whose_response_was_lost_is_written(zk: KafkaZkClient) -> None:
    assert sent_twice(zk).update_partition_state(TP, state(2, 0)) == 1
    assert zk.get_partition_state(TP) == state(2, 1)


def test_the_isr_of_another_broker_is_not_taken_for_our_own(zk: KafkaZkClient) -> None:
    """Even if it is equal: its next write has another version."""
    assert zk.update_partition_state(TP, state(2, 0)) == 1
    assert zk.update_partition_state(TP, state(2, 1)) == 2
    assert zk.update_partition_state(TP, state(2, 0)) is None
    assert (
        sent_twice(zk, lambda: zk.update_partition_state(TP, state(1, 3))).update_partition_state(TP, state(2, 2))
        is None
    )
    assert zk.get_partition_state(TP) == state(1, 4)


def test_an_isr_of_a_topic_that_was_deleted_meanwhile_is_not_written(zk: KafkaZkClient) -> None:
    assert sent_twice(zk, lambda: zk.delete_topic_znode("t")).update_partition_state(TP, state(2, 0)) is None


def test_a_block_of_producer_ids_belongs_to_who_wrote_it(zk: KafkaZkClient) -> None:
    ours, theirs = ProducerIdsBlock(1, 0, 999), ProducerIdsBlock(2, 0, 999)
    assert zk.get_producer_id_block() is None
    assert zk.create_producer_id_block(theirs)
    assert not zk.create_producer_id_block(ours)
    assert zk.get_producer_id_block() == (theirs, 0)
    assert sent_twice(zk).set_producer_id_block(ours, 0)
    assert not zk.set_producer_id_block(theirs, 0)
    assert zk.get_producer_id_block() == (ours, 1)


def grown(assignment: TopicAssignment) -> TopicAssignment:
    """With one more partition."""
    return replace(assignment, partitions={**assignment.partitions, len(assignment.partitions): [1]})


def test_a_change_of_an_assignment_whose_response_was_lost_happens_once(zk: KafkaZkClient) -> None:
    sent_twice(zk).change_topic_assignment("t", grown)
    assignment = zk.get_topic_assignment("t")
    assert assignment is not None
    assert list(assignment.partitions) == [0, 1]


def test_a_change_of_an_assignment_keeps_what_another_client_has_changed_meanwhile(zk: KafkaZkClient) -> None:
    other = fake_zk(zk.zookeeper.tree)  # type: ignore[attr-defined]
    first = True

    def change(assignment: TopicAssignment) -> TopicAssignment:
        nonlocal first
        if first:
            first = False
            other.change_topic_assignment("t", lambda found: replace(found, partitions={0: [2, 1], 1: [2]}))
        return grown(assignment)

    zk.change_topic_assignment("t", change)
    assignment = zk.get_topic_assignment("t")
    assert assignment is not None
    assert assignment.partitions == {0: [2, 1], 1: [2], 2: [1]}


def test_the_assignment_of_a_deleted_topic_cannot_be_changed(zk: KafkaZkClient) -> None:
    with pytest.raises(NoNodeError):
        zk.change_topic_assignment("gone", grown)


def test_an_unreadable_topic_does_not_hide_the_others(zk: KafkaZkClient, caplog: pytest.LogCaptureFixture) -> None:
    zk.zookeeper.create_recursive(paths.topic("broken"), b"{")
    assert zk.get_replica_assignment(["broken", "gone", "t"]) == {TP: [1, 2]}
    assert "Ignoring topic broken" in caplog.text
