"""The states of a worker's membership in its group.

Kafka 0.10.2: connect/runtime/.../connect/runtime/distributed/DistributedHerder.java (rebalanceResolved, canReadConfigs,
stopping) · book 8.3.4
"""

from __future__ import annotations

from enum import Enum


class Membership(Enum):
    """The state of a worker, as its herder knows it. Requests are served in ACTIVE only; otherwise they wait."""

    JOINING = "joining"
    """action: stop what ran, find the coordinator, join · transition: ASSIGNED when the group has agreed, or STOPPED"""
    ASSIGNED = "assigned"
    """action: read the config topic up to the offset of the assignment · transition: ACTIVE when the work was started,
    JOINING if the assignment has failed or the worker has read beyond it, UNSYNCED if reading takes too long"""
    ACTIVE = "active"
    """action: run the assignment, serve requests, apply changed configurations · transition: JOINING when the group
    rebalances, or STOPPED"""
    UNSYNCED = "unsynced"
    """action: stay out of the group, and read the config topic to its end · transition: JOINING when it was read, or
    STOPPED"""
    STOPPED = "stopped"
    """action: none; the worker has left the group · transition: none"""


_M = Membership
VALID_PREVIOUS_STATES: dict[Membership, frozenset[Membership]] = {
    _M.JOINING: frozenset({_M.JOINING, _M.ASSIGNED, _M.ACTIVE, _M.UNSYNCED}),
    _M.ASSIGNED: frozenset({_M.JOINING}),
    _M.ACTIVE: frozenset({_M.ASSIGNED}),
    _M.UNSYNCED: frozenset({_M.ASSIGNED, _M.UNSYNCED}),
    _M.STOPPED: frozenset({_M.JOINING, _M.ASSIGNED, _M.ACTIVE, _M.UNSYNCED}),
}
"""The states that may come before a state. Any other change is a bug, and raises RuntimeError."""
