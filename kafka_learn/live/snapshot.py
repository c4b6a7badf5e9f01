"""A running cluster as plain JSON for a page: brokers, partitions with each replica's LEO and HW, the group.

Not in Kafka. It reads the brokers' own objects from outside and takes no lock, so a world that is looked at has the
same events as one that is not. Each figure is what that broker believes: after a fault, two may believe that they lead.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from kafka_lite.testing.simulation.cluster import Broker

DOWN, PAUSED, STARTING, UP = "down", "paused", "starting", "up"
RUNNING: Final = "RUNNING_AS_BROKER"


def broker_rows(brokers: Sequence[Broker]) -> list[dict[str, Any]]:
    """Number, state, number of threads and whether it is the controller, for each broker."""
    return [
        {
            "broker": broker.number, "state": broker_state(broker), "is_controller": _is_controller(broker.parts),
            "threads": len(broker.process.owner.tasks) if broker.process is not None and _is_alive(broker) else 0,
        }
        for broker in brokers
    ]  # fmt: skip


def broker_state(broker: Broker) -> str:
    """``down``, ``paused``, ``starting`` or ``up``."""
    if broker.process is None or not _is_alive(broker):
        return DOWN
    if broker.process.owner.is_paused:
        return PAUSED
    state = getattr(broker.parts, "state", None)
    return UP if state is not None and state.name == RUNNING else STARTING


def _is_alive(broker: Broker) -> bool:
    return broker.process is not None and broker.process.is_running


def _is_controller(server: Any) -> bool:
    controller = getattr(server, "controller", None)
    return controller is not None and controller.is_active


def partition_rows(servers: Iterable[tuple[int, Any]], topics: Collection[str]) -> list[dict[str, Any]]:
    """Leader, epoch, ISR and replicas of each partition of these topics.

    ``servers``: number and KafkaServer of each broker that runs. The leader, its epoch and the ISR are those of the
    leader with the newest epoch.
    """
    rows: dict[tuple[str, int], dict[str, Any]] = {}
    for number, server in servers:
        manager = getattr(server, "replica_manager", None)
        for partition in manager.partitions if manager is not None else ():
            topic, index = partition.topic_partition
            if topic in topics:
                new = {
                    "topic": topic, "partition": index, "leader": None, "epoch": -1, "isr": [], "assigned": [],
                    "lso": None, "replicas": {},
                }  # fmt: skip
                _add(rows.setdefault((topic, index), new), number, partition)
    return [rows[place] for place in sorted(rows)]


def _add(row: dict[str, Any], broker: int, partition: Any) -> None:
    """Add what one broker knows of a partition."""
    replica = partition.get_replica()
    if replica is not None and replica.log is not None:
        row["replicas"][str(broker)] = {
            "leo": replica.log_end_offset.message_offset, "hw": replica.high_watermark.message_offset,
        }  # fmt: skip
    if partition.leader_id == broker and partition.leader_epoch > row["epoch"]:
        in_sync, assigned = (
            sorted(replica.broker_id for replica in replicas)
            for replicas in (partition.in_sync_replicas, partition.assigned_replicas)
        )
        row.update(leader=broker, epoch=partition.leader_epoch, isr=in_sync, assigned=assigned)
        row["lso"] = replica.last_stable_offset.message_offset if replica is not None else None


def topic_row(servers: Iterable[tuple[int, Any]], topic: str) -> dict[str, Any] | None:
    """Number of partitions and replicas of a topic, and the settings that a leader has; None if nobody leads.

    The number of replicas is the smallest of the topic while partitions are being reassigned.
    """
    servers = list(servers)
    rows = [row for row in partition_rows(servers, {topic}) if row["leader"] is not None]
    places = {(row["leader"], row["partition"]) for row in rows}
    logs = [
        partition.log
        for number, server in servers
        for partition in (server.replica_manager.partitions if getattr(server, "replica_manager", None) else ())
        if partition.topic_partition.topic == topic and (number, partition.topic_partition.partition) in places
    ]
    log = next(filter(None, logs), None)
    if log is None:
        return None
    return {
        "partitions": 1 + max(row["partition"] for row in rows),
        "replicas": min(len(row["assigned"]) for row in rows),
        "min.insync.replicas": str(log.config.min_insync_replicas),
        "unclean.leader.election.enable": str(log.config.unclean_leader_election_enable).lower(),
    }


def transaction_row(servers: Iterable[tuple[int, Any]], transactional_id: str) -> dict[str, Any] | None:
    """Metadata of a transactional id as its coordinator has it; None if no broker has any."""
    for number, server in servers:
        manager = getattr(getattr(server, "transactions", None), "manager", None)
        metadata = manager.peek(transactional_id) if manager is not None else None
        if metadata is not None:
            current = metadata.current
            return {
                "coordinator": number, "state": current.state.name, "producer_id": current.producer_id,
                "epoch": current.producer_epoch,
                "partitions": sorted(f"{each.topic}-{each.partition}" for each in current.topic_partitions),
            }  # fmt: skip
    return None


def group_row(servers: Iterable[tuple[int, Any]], group_id: str) -> dict[str, Any] | None:
    """State, generation and members of a group, by its coordinator with the newest generation; None without one."""
    found: dict[str, Any] | None = None
    for number, server in servers:
        manager = getattr(getattr(server, "groups", None), "group_manager", None)
        group = manager.get_group(group_id) if manager is not None else None
        if group is not None and (found is None or group.generation_id > found["generation"]):
            members = sorted(member.client_id for member in group.members.values())
            found = {
                "group": group_id, "coordinator": number, "state": group.state.name, "generation": group.generation_id,
                "members": members,
            }  # fmt: skip
    return found
