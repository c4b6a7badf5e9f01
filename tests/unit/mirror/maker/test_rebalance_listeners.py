"""Partitions are given up after flush and commit, and the user's listener is called last."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import CommitFailedError
from kafka_lite.consumer.consumer_rebalance_listener import ConsumerRebalanceListener
from kafka_lite.mirror.maker.mirror_maker_commits import MirrorMakerCommits
from kafka_lite.mirror.maker.mirror_maker_state import MirrorMakerState
from kafka_lite.mirror.maker.rebalance_listeners import (
    InternalRebalanceListenerForNewConsumer,
    InternalRebalanceListenerForOldConsumer,
)
from kafka_lite.old_consumer.topic_count import ConsumerThreadId
from tests.support.mirrors import P0, P1, FakeConsumer, FakeProducer


class Custom(ConsumerRebalanceListener):
    def __init__(self, calls: list[str]) -> None:
        self.calls = calls

    def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:
        self.calls.append(f"revoked {len(partitions)}")

    def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
        self.calls.append(f"assigned {len(partitions)}")

    def on_partitions_lost(self, partitions: Collection[TopicPartition]) -> None:
        self.calls.append(f"lost {len(partitions)}")


class Consumer(FakeConsumer):
    def forget(self, partitions: Collection[TopicPartition]) -> None:
        self.calls.append(f"forget {len(partitions)}")


class Flushing:
    def __init__(self, producer: FakeProducer) -> None:
        self._producer = producer

    def flush(self) -> None:
        self._producer.flush()


@pytest.fixture
def calls() -> list[str]:
    return []


def listener(consumer: Consumer) -> InternalRebalanceListenerForNewConsumer:
    commits = MirrorMakerCommits(Flushing(FakeProducer(consumer.calls)), MirrorMakerState(), MockTime())
    return InternalRebalanceListenerForNewConsumer(consumer, commits, Custom(consumer.calls))


def test_revoked_partitions_are_committed_then_forgotten(calls: list[str]) -> None:
    listener(Consumer(calls)).on_partitions_revoked([P0, P1])
    assert calls == ["flush", "commit 0", "forget 2", "revoked 2"]


def test_a_refused_commit_is_not_made_up_for_later(calls: list[str]) -> None:
    consumer = Consumer(calls)
    consumer.commit_errors = [CommitFailedError()]
    listener(consumer).on_partitions_revoked([P0])
    assert calls == ["flush", "commit 0", "forget 1", "revoked 1"]


def test_lost_partitions_are_not_committed(calls: list[str]) -> None:
    listener(Consumer(calls)).on_partitions_lost([P0])
    assert calls == ["forget 1", "lost 1"]


def test_assigned_partitions_are_the_users_business(calls: list[str]) -> None:
    listener(Consumer(calls)).on_partitions_assigned([P0])
    assert calls == ["assigned 1"]


class OldCustom:
    def __init__(self, calls: list[str]) -> None:
        self.calls = calls

    def before_releasing_partitions(self, partition_ownership: Mapping[str, set[int]]) -> None:
        self.calls.append(f"release {dict(partition_ownership)}")

    def before_starting_fetchers(
        self, consumer_id: str, partition_assignment: Mapping[str, Mapping[int, ConsumerThreadId]]
    ) -> None:
        self.calls.append(f"start {consumer_id}")


class OldConsumer:
    def __init__(self, calls: list[str]) -> None:
        self.calls = calls

    def request_and_wait_for_commit(self) -> None:
        self.calls.append("wait for commit")


def test_the_old_consumers_rebalance_waits_for_the_commit(calls: list[str]) -> None:
    with_custom = InternalRebalanceListenerForOldConsumer(OldConsumer(calls), OldCustom(calls))
    with_custom.before_releasing_partitions({"t": {0}})
    with_custom.before_starting_fetchers("g_1", {})
    assert calls == ["wait for commit", "release {'t': {0}}", "start g_1"]


def test_without_a_listener_of_the_user_it_only_waits(calls: list[str]) -> None:
    alone = InternalRebalanceListenerForOldConsumer(OldConsumer(calls))
    alone.before_releasing_partitions({})
    alone.before_starting_fetchers("g_1", {})
    assert calls == ["wait for commit"]
