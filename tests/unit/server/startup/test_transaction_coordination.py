"""How a broker's transaction coordinator finds leaders, other coordinators and the size of its topic."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

from kafka_lite.cluster.finalized_features import FinalizedFeatures
from kafka_lite.common.errors import Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.protocol.messages.api_06_update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
)
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.startup.transaction_coordination import TransactionCoordination, transaction_config
from kafka_lite.server.transactions.add_partitions_to_txn_manager import TransactionSupportedOperation
from tests.support.patience import patient_s

ME, OTHER, DEAD = 1, 2, 9
ABORTABLE = TransactionSupportedOperation.GENERIC_ERROR_SUPPORTED
ORDERS = TopicPartition("orders", 0)
PRODUCER = ProducerIdAndEpoch(7, 0)
KEYS = {"zookeeper.connect": "zk", "broker.id": str(ME), "request.timeout.ms": "30000"}


class Broker:
    """Broker 1 with one partition of ``__transaction_state``, and what the controller has told it."""

    def __init__(self, **keys: str) -> None:
        given = {key.replace("_", "."): value for key, value in keys.items()}
        self.replicas = MagicMock()
        self.cache = MetadataCache(ME)
        self.coordination = TransactionCoordination(
            KafkaConfig({**KEYS, "transaction.state.log.num.partitions": "1", **given}, do_log=False),
            self.replicas, self.cache, MagicMock(), lambda: 0, MetricsRegistry(), MockScheduler(MockTime()),
            FinalizedFeatures(None), MockTime(),
        )  # fmt: skip

    def hears(self, leaders: Mapping[TopicPartition, int], port_of_other: int = 1) -> None:
        """The controller tells it the leaders; brokers 1 and 2 are alive."""
        brokers = [
            UpdateMetadataBroker(id=ME, v0_host="127.0.0.1", v0_port=1),
            UpdateMetadataBroker(id=OTHER, v0_host="127.0.0.1", v0_port=port_of_other),
        ]
        states = [
            UpdateMetadataPartitionState(
                topic_name=topic, partition_index=partition, leader=leader, isr=[leader], replicas=[leader]
            )
            for (topic, partition), leader in leaders.items()
        ]
        self.cache.update_cache(UpdateMetadataRequest(ungrouped_partition_states=states, live_brokers=brokers))

    def verify(self) -> Callable[[], Errors]:
        """Ask for a transaction's partition; returns a function that waits for the error."""
        errors: list[Errors] = []
        answered = threading.Event()

        def respond(error: Errors, _guard: object) -> None:
            errors.append(error)
            answered.set()

        self.coordination.verification.verify_offsets("id", PRODUCER, ORDERS, ABORTABLE, respond)

        def wait() -> Errors:
            assert answered.wait(patient_s(30))
            return errors[0]

        return wait


@pytest.fixture
def broker() -> Iterator[Broker]:
    broker = Broker()
    broker.replicas.get_leader_log.return_value = (None, None, MagicMock(config=SimpleNamespace(magic=2)))
    yield broker
    broker.coordination.shutdown()


def zookeeper(partitions: int | None) -> Any:
    """One whose topic ``__transaction_state`` has so many partitions, or which has none."""
    topic = None if partitions is None else SimpleNamespace(partitions={number: [ME] for number in range(partitions)})
    return MagicMock(get_topic_assignment=lambda name: topic if name == "__transaction_state" else None)


def numbers_of_partitions(coordination: TransactionCoordination) -> set[int]:
    return {coordination.manager.partition_for(f"id-{number}") for number in range(500)}


def test_the_keys_about_transactions_are_passed_on() -> None:
    keys = {
        "transaction.state.log.num.partitions": ("7", "topic_num_partitions", 7),
        "transaction.state.log.load.buffer.size": ("1000", "load_buffer_size", 1000),
        "transaction.max.timeout.ms": ("2000", "max_timeout_ms", 2000),
        "transactional.id.expiration.ms": ("3000", "transactional_id_expiration_ms", 3000),
        "transaction.remove.expired.transaction.cleanup.interval.ms": ("4000", "remove_expired_interval_ms", 4000),
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": ("5000", "abort_timed_out_interval_ms", 5000),
        "request.timeout.ms": ("6000", "request_timeout_ms", 6000),
    }
    given = {key: value for key, (value, _, _) in keys.items()}
    config = transaction_config(KafkaConfig({**KEYS, **given}, do_log=False))
    assert {name: getattr(config, name) for _, name, _ in keys.values()} == {name: n for _, name, n in keys.values()}


@pytest.mark.parametrize(("existing", "expected"), [(5, 5), (None, 3)])
def test_an_existing_topic_says_how_many_partitions_it_has(existing: int | None, expected: int) -> None:
    broker = Broker(transaction_state_log_num_partitions="3")
    broker.coordination.startup(zookeeper(existing))
    assert numbers_of_partitions(broker.coordination) == set(range(expected))
    broker.coordination.shutdown()


def test_a_shutdown_leaves_no_thread() -> None:
    before = set(threading.enumerate())
    broker = Broker()
    broker.coordination.startup(zookeeper(None))
    broker.coordination.shutdown()
    assert set(threading.enumerate()) <= before


# ── whom it asks whether a partition is part of a transaction ─────────────────────────────────────────────────────


@pytest.mark.parametrize("leader", [None, DEAD])
def test_a_coordinator_that_is_not_alive_is_not_asked(broker: Broker, leader: int | None) -> None:
    broker.hears({} if leader is None else {TopicPartition("__transaction_state", 0): leader})
    assert broker.verify()() is Errors.COORDINATOR_NOT_AVAILABLE


def test_this_brokers_own_coordinator_is_asked_directly(broker: Broker) -> None:
    broker.hears({TopicPartition("__transaction_state", 0): ME})
    assert broker.verify()() is Errors.NOT_COORDINATOR, "it has not read the partition"


def test_another_coordinator_is_asked_over_a_connection_of_that_purpose(broker: Broker) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        broker.hears({TopicPartition("__transaction_state", 0): OTHER}, other.getsockname()[1])
        error = broker.verify()
        assert b"broker-1-txn-verifier" in first_request(other)
        assert error() is not Errors.NONE


def first_request(server: socket.socket) -> bytes:
    """The first bytes of the first connection, which is closed then."""
    server.settimeout(patient_s(30))
    connection, _ = server.accept()
    with connection:
        connection.settimeout(patient_s(30))
        return connection.recv(1000)


# ── where markers go ──────────────────────────────────────────────────────────────────────────────────────────────


class Completion:
    """A transaction that has been decided; its markers are noted as they are done."""

    commit, coordinator_epoch = True, 3
    metadata = SimpleNamespace(transactional_id="id")
    producer = ProducerIdAndEpoch(7, 0)

    def __init__(self) -> None:
        self.done: list[TopicPartition] = []

    def remove(self, partitions: list[TopicPartition]) -> None:
        self.done += partitions

    def may_finish(self) -> bool:
        return False

    def is_current(self, _manager: object) -> bool:
        return False


def add(broker: Broker) -> Completion:
    completion: Any = Completion()
    broker.coordination.markers.add(completion, [ORDERS])
    return completion


def test_a_partition_that_does_not_exist_needs_no_marker(broker: Broker) -> None:
    broker.hears({})
    assert add(broker).done == [ORDERS]


def test_a_partition_with_a_dead_leader_waits_for_another_one(broker: Broker) -> None:
    broker.hears({ORDERS: DEAD})
    assert add(broker).done == []
    assert broker.coordination.markers.markers_without_leader == 1


def test_this_brokers_own_partitions_get_their_markers_without_a_connection(broker: Broker) -> None:
    broker.hears({ORDERS: ME})
    add(broker)
    ((_, acks, _, entries, *_), _) = broker.replicas.append_records.call_args
    assert (acks, list(entries)) == (-1, [ORDERS])


def test_another_leader_is_sent_its_markers_over_a_connection_of_that_purpose(broker: Broker) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        broker.hears({ORDERS: OTHER}, other.getsockname()[1])
        add(broker)
        request = first_request(other)
        assert b"broker-1-txn-marker-sender" in request
        assert b"orders" in request
