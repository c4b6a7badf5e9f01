"""The states of a share group, and the transitions between them.

Kafka 4.1: group-coordinator/.../group/modern/share/ShareGroup.java (ShareGroupState) · book 5.4.2
"""

from __future__ import annotations

from enum import Enum


class ShareGroupState(Enum):
    """The state of a group: only whether it has members. The value is its name on the wire."""

    EMPTY = "Empty"
    """The group has no members. Its partitions keep their state: what is acknowledged stays so. Transition: to STABLE
    when a member joins, to DEAD when the group is deleted."""
    STABLE = "Stable"
    """The group has members. Nobody waits for another member's partitions, so there is no state of reconciliation.
    Transition: to EMPTY when the last member leaves or fails."""
    DEAD = "Dead"
    """The group has been deleted. This state is final."""


_ALIVE = frozenset({ShareGroupState.EMPTY, ShareGroupState.STABLE})

VALID_PREVIOUS_STATES: dict[ShareGroupState, frozenset[ShareGroupState]] = {
    ShareGroupState.EMPTY: _ALIVE,
    ShareGroupState.STABLE: _ALIVE,
    ShareGroupState.DEAD: frozenset({ShareGroupState.EMPTY, ShareGroupState.DEAD}),
}
"""A group with members is not deleted."""
