"""What a recording shows of several brokers: their messages, their decisions, and the znodes that they write.

The watched methods do nothing here; they are called on objects that have what a watch looks at.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from types import SimpleNamespace as Object
from typing import Any

import pytest

from kafka_learn.recording import cluster_watches as watches
from kafka_learn.recording.recorded_run import Kind
from kafka_learn.recording.recorder import Recording, Watch
from kafka_lite.cluster.partition import Partition
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.kafka_controller import KafkaController
from kafka_lite.controller.partition_state_machine import PartitionStateMachine
from kafka_lite.protocol.messages.api_06_update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
)
from kafka_lite.server.replica_manager import ReplicaManager
from kafka_lite.server.replica_state_changes import ReplicaStateChanges
from kafka_lite.server.replication.controlled_shutdown import ControlledShutdown
from kafka_lite.server.replication.replica_fetcher_thread import ReplicaFetcherThread
from kafka_lite.server.startup.cluster_control import ClusterControl
from kafka_lite.zookeeper.admin_requests import AdminRequests
from kafka_lite.zookeeper.data import LeaderAndIsr, LeaderIsrAndControllerEpoch
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

ORDERS = TopicPartition("orders", 0)
Row = tuple[Any, ...]


def nothing(*_args: Any, **_kwargs: Any) -> Any:
    return None


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Row]]:
    """Runs a scene under watches, whose methods do nothing or what is given; returns kind, lane, text and detail."""

    def record(watched: Iterable[Watch], scene: Callable[[], object], **bodies: Callable[..., Any]) -> list[Row]:
        watched = list(watched)
        for watch in watched:
            monkeypatch.setattr(watch.owner, watch.name, bodies.get(watch.name, nothing))
        with Recording(watched) as recording:
            scene()
        return [(event.kind, event.who, event.what, event.detail) for event in recording.run]

    return record


# ── replicas ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_brokers_tell_what_they_lead_follow_and_stop(recorded: Callable[..., list[Row]]) -> None:
    partition: Any = Object(topic_partition=ORDERS, leader_epoch=3, leader_id=2, local_broker_id=1)
    changes: Any = Object(_broker_id=1)

    def scene() -> None:
        Partition.make_leader(partition)  # type: ignore[call-arg]
        Partition.make_follower(partition)  # type: ignore[call-arg]
        for delete in (True, False):
            ReplicaStateChanges._stop_replica(changes, topic_partition=ORDERS, delete=delete)

    assert [row[:3] for row in recorded(watches.watch_roles(), scene)] == [
        (Kind.NOTE, "broker 1", "leads orders-0, epoch 3"),
        (Kind.NOTE, "broker 1", "orders-0 follows broker 2, epoch 3"),
        (Kind.NOTE, "broker 1", "deletes orders-0"),
        (Kind.NOTE, "broker 1", "stops fetching orders-0"),
    ]


def test_an_isr_is_written_into_zookeeper_and_then_changed(recorded: Callable[..., list[Row]]) -> None:
    one, two = Object(broker_id=1), Object(broker_id=2)
    partition: Any = Object(topic_partition=ORDERS, local_broker_id=1, in_sync_replicas=[two, one])

    def write(subject: Any, replicas: Any) -> None:
        subject.in_sync_replicas = replicas

    rows = recorded(watches.watch_isr(), lambda: Partition._write_isr(partition, replicas=[one]), _write_isr=write)
    assert rows == [
        (Kind.PUT, "broker 1", "set …/orders/partitions/0/state", {"says": "ISR 1"}),
        (Kind.TAKE, "ZooKeeper", "set …/orders/partitions/0/state", {}),
        (Kind.STATE, "broker 1", "ISR", {"before": "1 2", "after": "1"}),
    ]


def test_a_fetch_goes_from_follower_to_leader_and_its_response_back(recorded: Callable[..., list[Row]]) -> None:
    follower: Any = Object(_config=Object(broker_id=2), source_broker=Object(id=1))
    leader: Any = Object(config=Object(broker_id=1))
    params: Any = Object(replica_id=2)
    result = Object(size_in_bytes=70, high_watermark=4, error=Object(code=0, name="NONE"))

    def fetch(_follower: Any, request: Any) -> None:
        ReplicaManager.fetch_messages(leader, params=params)  # type: ignore[call-arg]
        ReplicaManager.read_from_local_logs(leader, params=params)  # type: ignore[call-arg]

    def scene() -> None:
        positions = {ORDERS: Object(fetch_offset=5)}
        ReplicaFetcherThread.fetch(follower, request=Object(positions=positions))  # type: ignore[arg-type]

    def read(_leader: Any, params: Any) -> Any:
        return [(ORDERS, result)]

    rows = recorded(watches.watch_fetches(responses=True), scene, fetch=fetch, read_from_local_logs=read)
    assert rows == [
        (Kind.PUT, "broker 2", "Fetch", {"says": "from offset 5 on"}),
        (Kind.TAKE, "broker 1", "Fetch", {}),
        (Kind.PUT, "broker 1", "Fetch response", {"says": "70 bytes, HW 4"}),
        (Kind.TAKE, "broker 2", "Fetch response", {}),
    ]


# ── the controller ────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_order_is_sent_to_another_broker_and_noted_at_its_own(recorded: Callable[..., list[Row]]) -> None:
    state = UpdateMetadataPartitionState(topic_name="orders", partition_index=0, leader=2)
    brokers = [UpdateMetadataBroker(id=broker_id) for broker_id in (2, 1)]
    request = UpdateMetadataRequest(controller_id=1, ungrouped_partition_states=[state], live_brokers=brokers)
    control: Any = Object(config=Object(broker_id=1))

    def scene() -> None:
        for broker_id in (1, 2):
            ClusterControl.send_to_broker(control, broker_id=broker_id, request=request)  # type: ignore[call-arg]
            changes: Any = Object(_broker_id=broker_id)
            ReplicaStateChanges.maybe_update_metadata_cache(changes, request=request)  # type: ignore[call-arg]

    says = "brokers 1 2, orders-0 → 2"
    assert recorded(watches.watch_orders(), scene) == [
        (Kind.NOTE, "broker 1", f"UpdateMetadata: {says}", {}),
        (Kind.PUT, "broker 1", "UpdateMetadata", {"says": says}),
        (Kind.TAKE, "broker 2", "UpdateMetadata", {}),
    ]
    assert recorded(watches.watch_orders("StopReplica"), scene) == []


def test_a_controlled_shutdown_is_asked_for_and_has_an_outcome(recorded: Callable[..., list[Row]]) -> None:
    shutdown: Any = Object(_request=Object(broker_id=2))
    controller: Any = Object(_broker_id=1)
    outcomes = iter([False, True])

    def ask(_shutdown: Any) -> bool:
        KafkaController._process_controlled_shutdown(controller, broker_id=2)  # type: ignore[call-arg]
        return next(outcomes)

    def scene() -> None:
        for _ in range(2):
            ControlledShutdown._try(shutdown)

    rows = [row[:3] for row in recorded(watches.watch_controlled_shutdown(), scene, _try=ask)]
    request = [(Kind.PUT, "broker 2", "ControlledShutdown"), (Kind.TAKE, "broker 1", "ControlledShutdown")]
    assert rows == [
        *request, (Kind.NOTE, "broker 2", "still leads something"),
        *request, (Kind.NOTE, "broker 2", "leads nothing any more"),
    ]  # fmt: skip


def test_events_come_from_zookeeper_in_its_threads_and_else_from_the_controller(
    recorded: Callable[..., list[Row]],
) -> None:
    controller: Any = Object(_broker_id=1, epoch=7)

    def scene() -> None:
        for name in ("BrokerChange", "Other"):
            KafkaController._enqueue(controller, name=name)  # type: ignore[call-arg]
        kazoos = threading.Thread(
            target=lambda: KafkaController._enqueue(controller, name="BrokerChange"),  # type: ignore[call-arg]
            name="Thread-5",
        )
        kazoos.start()
        kazoos.join()
        KafkaController._on_controller_failover(controller)

    assert [row[:3] for row in recorded(watches.watch_controller("BrokerChange"), scene)] == [
        (Kind.NOTE, "broker 1", "BrokerChange"),
        (Kind.PUT, "ZooKeeper", "BrokerChange"),
        (Kind.TAKE, "broker 1", "BrokerChange"),
        (Kind.NOTE, "broker 1", "is the controller, epoch 7"),
    ]


def test_states_of_partitions_are_those_of_the_active_controller(recorded: Callable[..., list[Row]]) -> None:
    states = {ORDERS: Object(name="NEW")}
    machine: Any = Object(_controller_id=1, state=lambda partition: states[partition])

    def change(_machine: Any, partition: Any) -> None:
        states[partition] = Object(name="ONLINE")

    def scene() -> None:
        for _ in range(2):
            PartitionStateMachine._handle_state_change(machine, partition=ORDERS)  # type: ignore[call-arg]

    rows = recorded(watches.watch_partition_states(), scene, _handle_state_change=change)
    assert rows == [(Kind.STATE, "broker 1", "orders-0", {"before": "NEW", "after": "ONLINE"})]


# ── znodes ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_writes_into_zookeeper_are_told_with_their_znodes(recorded: Callable[..., list[Row]]) -> None:
    client: Any = Object(broker=2)
    state = LeaderIsrAndControllerEpoch(LeaderAndIsr(leader=1, leader_epoch=3, isr=[1, 2]), 7)

    def scene() -> None:
        KafkaZkClient.register_broker(client, broker_id=2)  # type: ignore[call-arg]
        KafkaZkClient.update_partition_states(client, states={ORDERS: state})  # type: ignore[call-arg]

    names = "register_broker", "update_partition_states"
    rows = recorded(watches.watch_znodes(lambda found: found.broker, *names), scene)  # type: ignore[attr-defined]
    assert [row for row in rows if row[0] is Kind.PUT] == [
        (Kind.PUT, "broker 2", "create /brokers/ids/2", {}),
        (Kind.PUT, "broker 2", "set …/orders/partitions/0/state", {"says": "leader 1, epoch 3, ISR 1 2"}),
    ]
    assert {row[1] for row in rows if row[0] is Kind.TAKE} == {"ZooKeeper"}


def test_a_reassignment_is_written_by_a_tool_and_removed_in_the_end(recorded: Callable[..., list[Row]]) -> None:
    requests: Any = Object()

    def scene() -> None:
        AdminRequests.create_reassignment(requests, target_replicas={ORDERS: [2, 3]})  # type: ignore[call-arg]
        AdminRequests.delete_reassignment(requests)

    assert recorded(watches.watch_reassignment_znode("tool"), scene) == [
        (Kind.PUT, "tool", "create /admin/reassign_partitions", {"says": "orders-0 → 2 3"}),
        (Kind.TAKE, "ZooKeeper", "create /admin/reassign_partitions", {}),
        (Kind.NOTE, "ZooKeeper", "- /admin/reassign_partitions", {}),
    ]
