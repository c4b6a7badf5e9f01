"""Transactions over our brokers and Kafka 3.9.1's: coordinators and partitions of both, and either is killed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path

import pytest
from confluent_kafka import Producer

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_names import TRANSACTION_STATE_TOPIC_NAME
from kafka_lite.common.utils import java_abs, java_string_hash
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.server.broker_process import HOST
from tests.support.eventually import eventually
from tests.support.mixed_cluster import (
    OURS,
    MixedBroker,
    MixedCluster,
    assert_replicas_are_equal,
    mixed_cluster,
    replicated_over,
)
from tests.support.real_kafka import TODAYS
from tests.support.transaction_scripts import COMMIT, ScriptedProducer, add, describe, init, produce
from tests.support.transactional_producers import read_with_librdkafka

pytestmark = [pytest.mark.jvm, pytest.mark.timeout(240)]

TOPIC, PARTITIONS = "accounts", 4
TIMEOUT_S = 90
OUR_BROKERS, THEIR_BROKERS = (1, 2), (3, 4)
RING = (1, 3, 2, 4)
"""Leaders and followers in turn: ours, theirs, ours, theirs."""
BEFORE_ALL_KNOW = {Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.NOT_LEADER_OR_FOLLOWER, Errors.NOT_ENOUGH_REPLICAS}
SETTINGS = {
    "inter.broker.protocol.version": "2.6",
    "log.message.format.version": "2.6",
    "transaction.state.log.num.partitions": str(PARTITIONS),
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
}


def name_in(partition: int, prefix: str) -> str:
    """A transactional id in a partition of ``__transaction_state``."""
    names = (f"{prefix}-{number}" for number in count())
    return next(name for name in names if java_abs(java_string_hash(name)) % PARTITIONS == partition)


class Transfers:
    """A producer with its id in one partition of ``__transaction_state``; it writes to all partitions of TOPIC."""

    def __init__(self, cluster: MixedCluster, partition: int) -> None:
        self.name = name_in(partition, "transfers")
        self.committed: list[bytes] = []
        self._written: list[bytes] = []
        self._number = count()
        config = {"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": self.name, "log_level": 0}
        self._producer = Producer(config | {"transaction.timeout.ms": 240_000, "message.timeout.ms": 200_000})
        self._producer.init_transactions(TIMEOUT_S)

    def begin(self) -> None:
        """Write to all partitions in a new transaction; afterwards the records are in the logs."""
        self._producer.begin_transaction()
        number = next(self._number)
        self._written = [f"{self.name}-{number}-{partition}".encode() for partition in range(PARTITIONS)]
        for partition, value in enumerate(self._written):
            self._producer.produce(TOPIC, value, partition=partition)
        assert self._producer.flush(TIMEOUT_S) == 0

    def end(self, *, commit: bool) -> None:
        """Commit or abort."""
        if commit:
            self._producer.commit_transaction(TIMEOUT_S)
            self.committed += self._written
        else:
            self._producer.abort_transaction(TIMEOUT_S)


def coordinators(cluster: MixedCluster) -> list[int]:
    states = cluster.states(TRANSACTION_STATE_TOPIC_NAME)
    return [states[partition].leader for partition in range(PARTITIONS)]


def coordinator_among(cluster: MixedCluster, brokers: Sequence[int]) -> tuple[int, int]:
    """A partition of ``__transaction_state`` that one of the brokers leads, and its leader."""
    return next((partition, leader) for partition, leader in enumerate(coordinators(cluster)) if leader in brokers)


def assert_atomic(cluster: MixedCluster, transfers: list[Transfers]) -> None:
    """Readers of committed records see every committed one, no other, and wait for none that hangs."""
    expected = sorted(value for each in transfers for value in each.committed)

    def found() -> list[bytes]:
        return read_with_librdkafka(cluster.bootstrap_servers, TOPIC, "read_committed", PARTITIONS)

    eventually(lambda: len(found()) >= len(expected))
    assert found() == expected


def connect(broker: MixedBroker) -> BlockingChannel:
    channel = BlockingChannel(HOST, broker.port, client_id="scripted", read_timeout_ms=60_000)
    channel.connect()
    return channel


def settled(error: Errors) -> str | None:
    """The name of the error; None if a broker has not heard of the new topic yet, or cannot verify at the moment."""
    return None if error in BEFORE_ALL_KNOW else error.name


def assert_verified(cluster: MixedCluster, coordinators: Sequence[int], leader: int) -> None:
    """A leader of one kind refuses batches that the coordinator, of the other kind, does not know of."""
    partition, coordinator = coordinator_among(cluster, coordinators)
    topic = f"led-by-{leader}"
    followers = [broker for broker in RING if broker not in (leader, coordinator)]
    cluster.create_assigned(topic, {0: [leader, *followers]})
    name = name_in(partition, topic)
    with connect(cluster.brokers[coordinator]) as to_coordinator, connect(cluster.brokers[leader]) as to_leader:
        producer = ScriptedProducer(to_coordinator, name)
        steps = [
            (to_coordinator, init(), "NONE"), (to_leader, produce(topic), "INVALID_TXN_STATE"),
            (to_coordinator, add(topic), "NONE"), (to_leader, produce(topic, epoch=1), "INVALID_PRODUCER_EPOCH"),
            (to_leader, produce(topic), "NONE"), (to_coordinator, COMMIT, "NONE"),
            (to_coordinator, describe("CompleteCommit"), "NONE"), (to_leader, produce(topic), "INVALID_TXN_STATE"),
        ]  # fmt: skip
        for number, (channel, step, expected) in enumerate(steps):
            producer.channel = channel
            assert eventually(lambda step=step: settled(step(producer))) == expected, number


def test_transactions_outlive_coordinators_and_leaders_of_either_kind(tmp_path: Path) -> None:
    with mixed_cluster(tmp_path, {1: OURS, 2: OURS, 3: TODAYS, 4: TODAYS}, SETTINGS) as cluster:
        cluster.start_broker(*cluster.ids)
        for topic in (TRANSACTION_STATE_TOPIC_NAME, TOPIC):
            cluster.create_assigned(topic, replicated_over(*RING, partitions=PARTITIONS))
        transfers = [Transfers(cluster, partition) for partition in range(PARTITIONS)]
        for commit in (True, False, True):
            for each in transfers:
                each.begin()
                each.end(commit=commit)
        assert_atomic(cluster, transfers)
        assert_verified(cluster, OUR_BROKERS, leader=THEIR_BROKERS[0])
        assert_verified(cluster, THEIR_BROKERS, leader=OUR_BROKERS[0])
        for brokers in (OUR_BROKERS, THEIR_BROKERS):
            for each in transfers:
                each.begin()
            _, killed = coordinator_among(cluster, brokers)
            cluster.brokers[killed].kill()
            for number, each in enumerate(transfers):
                each.end(commit=number > 0)
            assert killed not in coordinators(cluster)
            for each in transfers:
                each.begin()
                each.end(commit=True)
            cluster.start_broker(killed)
            cluster.await_in_sync(TOPIC, TRANSACTION_STATE_TOPIC_NAME)
        assert_atomic(cluster, transfers)
        assert_replicas_are_equal(cluster, TOPIC)
