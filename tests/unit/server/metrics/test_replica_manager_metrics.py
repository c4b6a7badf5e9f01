"""The beans of a replica manager, read over real partitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from kafka_lite.cluster.isr_writes import IsrChange
from kafka_lite.common.purgatory.delayed_operation import DelayedOperationPurgatory
from kafka_lite.metrics.metric import AttributeValue
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.server.metrics.replica_manager_metrics import ReplicaManagerMetrics, measure_purgatory
from tests.support.replica_managers import TP, TP1, Broker

MAX_TIMEOUT_MS = 60_000


class Measured:
    """The metrics of a broker's partitions, in a registry of their own."""

    def __init__(self, broker: Broker) -> None:
        self.registry = MetricsRegistry()
        self.metrics = ReplicaManagerMetrics(
            self.registry, broker.time, lambda: broker.replicas.partitions, MAX_TIMEOUT_MS
        )

    def beans(self) -> dict[str, Mapping[str, AttributeValue]]:
        return {str(name): attributes for name, attributes in self.registry.beans().items()}

    def manager(self, name: str) -> AttributeValue:
        return self.beans()[f"kafka.server:type=ReplicaManager,name={name}"]["Value"]

    def partition(self, name: str, number: int = 0) -> AttributeValue:
        return self.beans()[f"kafka.cluster:type=Partition,name={name},topic=orders,partition={number}"]["Value"]

    def count(self, bean: str) -> AttributeValue:
        return self.beans()[f"kafka.server:type={bean}"]["Count"]


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    broker = Broker(tmp_path / "logs")
    yield broker
    broker.close()


def test_leaders_and_partitions_are_counted(broker: Broker) -> None:
    measured = Measured(broker)
    assert (measured.manager("LeaderCount"), measured.manager("PartitionCount")) == (0, 0)
    broker.lead(TP)
    broker.lead(TP1, leader=2, isr=(1, 2))
    assert (measured.manager("LeaderCount"), measured.manager("PartitionCount")) == (1, 2)
    broker.stop(TP, delete=True)
    assert (measured.manager("LeaderCount"), measured.manager("PartitionCount")) == (0, 1)


def test_only_the_leader_counts_replicas_and_those_that_are_missing(broker: Broker) -> None:
    measured = Measured(broker)
    broker.lead(TP, isr=(1, 3), replicas=(1, 2, 3))
    assert (measured.partition("ReplicasCount"), measured.partition("InSyncReplicasCount")) == (3, 2)
    assert (measured.partition("UnderReplicated"), measured.manager("UnderReplicatedPartitions")) == (1, 1)
    broker.lead(TP, leader=2, epoch=1, isr=(2,), replicas=(1, 2, 3))
    assert (measured.partition("ReplicasCount"), measured.partition("InSyncReplicasCount")) == (0, 0)
    assert (measured.partition("UnderReplicated"), measured.manager("UnderReplicatedPartitions")) == (0, 0)


def test_the_beans_of_a_partition_go_with_it(broker: Broker) -> None:
    measured = Measured(broker)
    broker.lead(TP, TP1)
    broker.stop(TP, delete=True)
    names = [name for name in measured.beans() if name.startswith("kafka.cluster")]
    assert len(names) == 3
    assert all("partition=1" in name for name in names)


def test_a_transaction_is_late_when_no_producer_could_have_asked_for_so_much_time(broker: Broker) -> None:
    """Five minutes more than the longest timeout."""
    measured = Measured(broker)
    broker.lead(TP)
    builder = MemoryRecordsBuilder(producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True)
    builder.append(broker.time.milliseconds(), None, b"v")
    broker.log(TP).append_as_leader(bytearray(builder.build()), 0)
    broker.time.sleep(MAX_TIMEOUT_MS + 5 * 60_000)
    assert measured.manager("PartitionsWithLateTransactionsCount") == 0
    broker.time.sleep(1)
    assert measured.manager("PartitionsWithLateTransactionsCount") == 1


def test_changes_of_isrs_are_counted_by_their_direction(broker: Broker) -> None:
    measured = Measured(broker)
    for change in (IsrChange.SHRINK, IsrChange.EXPAND, IsrChange.EXPAND):
        measured.metrics.isr_changed(change)
    assert measured.count("ReplicaManager,name=IsrShrinksPerSec") == 1
    assert measured.count("ReplicaManager,name=IsrExpandsPerSec") == 2


def test_fetches_that_waited_in_vain_are_counted_by_who_fetched(broker: Broker) -> None:
    measured = Measured(broker)
    for from_follower in (True, False, True):
        measured.metrics.fetch_expired(from_follower)
    assert measured.count("DelayedFetchMetrics,name=ExpiresPerSec,fetcherType=follower") == 2
    assert measured.count("DelayedFetchMetrics,name=ExpiresPerSec,fetcherType=consumer") == 1


def test_expired_produce_requests_are_counted_in_total_and_by_partition(broker: Broker) -> None:
    measured = Measured(broker)
    for topic_partition in (TP, TP, TP1):
        measured.metrics.produce_expired(topic_partition)
    bean = "DelayedProduceMetrics,name=ExpiresPerSec"
    assert measured.count(bean) == 3
    assert [measured.count(f"{bean},topic=orders,partition={number}") for number in (0, 1)] == [2, 1]
    measured.metrics.remove_partition(TP)
    measured.metrics.remove_partition(TP)
    assert f"kafka.server:type={bean},topic=orders,partition=0" not in measured.beans()
    assert measured.count(bean) == 3
    measured.metrics.produce_expired(TP)
    assert measured.count(f"{bean},topic=orders,partition=0") == 1, "the partition is back, and counted from the start"


def test_a_purgatory_shows_what_it_holds(broker: Broker) -> None:
    registry = MetricsRegistry()
    fetches: DelayedOperationPurgatory[object] = broker.replicas.delayed_fetch_purgatory  # type: ignore[assignment]
    measure_purgatory(registry, broker.time, fetches)
    prefix = "kafka.server:type=DelayedOperationPurgatory,name="
    broker.lead(TP)
    for waiting in (0, 1):
        beans = {str(name): each["Value"] for name, each in registry.beans().items()}
        assert beans == {
            f"{prefix}PurgatorySize,delayedOperation=Fetch": waiting,
            f"{prefix}NumDelayedOperations,delayedOperation=Fetch": waiting,
        }
        broker.fetch(TP, 0, max_wait_ms=60_000)
