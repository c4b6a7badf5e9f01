"""The states of a stream thread.

Kafka 0.10.2: streams/.../processor/internals/StreamThread.java (State) · book 9.1.3
"""

from __future__ import annotations

from enum import Enum


class StreamThreadState(Enum):
    """One row per state: what the thread does in it (action), and what leads out of it (transition)."""

    CREATED = "created"
    """action: none · transition: RUNNING when the thread starts"""
    RUNNING = "running"
    """action: poll, process, punctuate, commit · transition: PARTITIONS_REVOKED or ASSIGNING_PARTITIONS (if it had no
    partitions) when the group rebalances"""
    PARTITIONS_REVOKED = "partitions revoked"
    """action: suspend all tasks, wait for the other members · transition: ASSIGNING_PARTITIONS when the leader has
    assigned"""
    ASSIGNING_PARTITIONS = "assigning partitions"
    """action: close, resume and create tasks, restore stores · transition: RUNNING when all tasks are ready"""
    PENDING_SHUTDOWN = "pending shutdown"
    """action: close all tasks and clients · transition: DEAD"""
    DEAD = "dead"
    """action: none · transition: none"""


_S = StreamThreadState
VALID_PREVIOUS_STATES: dict[StreamThreadState, frozenset[StreamThreadState]] = {
    _S.CREATED: frozenset(),
    _S.RUNNING: frozenset({_S.CREATED, _S.ASSIGNING_PARTITIONS}),
    _S.PARTITIONS_REVOKED: frozenset({_S.RUNNING, _S.PARTITIONS_REVOKED}),
    # From RUNNING: our consumer, like Kafka's since 2.4, does not call the listener if nothing is revoked.
    _S.ASSIGNING_PARTITIONS: frozenset({_S.PARTITIONS_REVOKED, _S.RUNNING}),
    _S.PENDING_SHUTDOWN: frozenset({_S.CREATED, _S.RUNNING, _S.PARTITIONS_REVOKED, _S.ASSIGNING_PARTITIONS}),
    _S.DEAD: frozenset({_S.PENDING_SHUTDOWN}),
}
"""The states that may come before a state. Any other change is a bug, and raises RuntimeError."""
