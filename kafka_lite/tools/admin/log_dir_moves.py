"""Moves of replicas to log directories that a reassignment names: their progress, and how they are started.

Kafka 1.1: core/.../admin/ReassignPartitionsCommand.scala (alterReplicaLogDirs), KIP-113; 2.6: the same file
(LogDirMoveState, findLogDirMoveStates, executeMoves) · book 7.1.6
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.tools.admin.partition_json import LogDirs, Replica
from kafka_lite.tools.common.tool_errors import ToolError

RETRY_MS = 100


@dataclass(frozen=True)
class ReplicaLogDirs:
    """Where a replica is, and where it is being copied to."""

    current: str | None = None
    future: str | None = None


class LogDirService(Protocol):
    """The brokers, as far as moves between log directories need them."""

    def alter_log_dirs(self, moves: LogDirs) -> set[Replica]:
        """Start moves; returns those replicas whose brokers have them. Raises ToolError for any other error."""
        ...


def is_active(found: ReplicaLogDirs) -> bool:
    """Whether the replica is being moved."""
    return found.future is not None


def move_status(replica: Replica, target: str, found: ReplicaLogDirs) -> str:
    """The line of ``--verify``, as Kafka writes it."""
    broker, tp = replica
    if found.current is None:
        return (
            f"Partition {tp} is not found in any live log dir on broker {broker}. There is likely an offline log "
            "directory on the broker."
        )
    if found.future == target:
        return f"Reassignment of replica {tp}-{broker} is still in progress."
    if found.future is not None:
        return f"Partition {tp} on broker {broker} is being moved to log dir {found.future} instead of {target}."
    if found.current == target:
        return f"Reassignment of replica {tp}-{broker} completed successfully."
    return f"Partition {tp} on broker {broker} is not being moved from log dir {found.current} to {target}."


def execute_moves(service: LogDirService, moves: LogDirs, timeout_ms: float, time: Time = SYSTEM_TIME) -> None:
    """Start the moves. A broker that does not have a replica yet remembers its directory; it is asked again.

    Raises ToolError if some have not been started after ``timeout_ms``.
    """
    pending = dict(moves)
    deadline_ms = time.hi_res_ms() + timeout_ms
    while True:
        started = service.alter_log_dirs(pending)
        if started:
            print(f"Successfully started log directory move{_plural(started)} for: {names(started)}")
        pending = {replica: target for replica, target in pending.items() if replica not in started}
        if not pending:
            return
        if time.hi_res_ms() >= deadline_ms:
            raise ToolError(
                f"Timed out before log directory move{_plural(pending)} could be started for: {names(pending)}"
            )
        time.sleep(RETRY_MS)


def moves_back(targets: LogDirs, found: Mapping[Replica, ReplicaLogDirs]) -> LogDirs:
    """The moves that cancel ``targets``: each replica that is being moved is sent back to its current directory."""
    return {
        replica: dirs.current
        for replica, dirs in found.items()
        if dirs.current is not None and dirs.future is not None and targets.get(replica) == dirs.future
    }


def names(replicas: Mapping[Replica, object] | set[Replica]) -> str:
    """``orders-0-101,orders-1-102``: topic, partition and broker."""
    return ",".join(f"{tp}-{broker}" for tp, broker in sorted((tp, broker) for broker, tp in replicas))


def _plural(things: Mapping[Replica, object] | set[Replica]) -> str:
    return "" if len(things) == 1 else "s"
