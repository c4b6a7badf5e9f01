"""The states of a group of KIP-848, and the transitions between them.

Kafka 4.1: group-coordinator/.../group/modern/consumer/ConsumerGroup.java (ConsumerGroupState)
· book 5.4.2
"""

from __future__ import annotations

from enum import Enum


class ConsumerGroupState(Enum):
    """The state of a group. It follows from the group's epochs and members. The value is its name on the wire."""

    EMPTY = "Empty"
    """The group has no members, but offsets. Transition: to ASSIGNING when a member joins, to DEAD when the last offset
    has expired or the group is deleted."""
    ASSIGNING = "Assigning"
    """The group epoch is above that of the target assignment. Action: the next heartbeat computes a target. Transition:
    to RECONCILING, or to STABLE if no member has to change anything, to EMPTY when the last member leaves."""
    RECONCILING = "Reconciling"
    """There is a target, and some members are not there yet. Action: each heartbeat leads its member one step towards
    the target. Transition: to STABLE when all are there, to ASSIGNING when the group epoch grows, to EMPTY."""
    STABLE = "Stable"
    """Each member has its target assignment in the target's epoch. Transition: to ASSIGNING when a member joins,
    leaves, fails or changes its subscription, or when the topics change; to EMPTY."""
    DEAD = "Dead"
    """The group has been removed. This state is final."""


_ALIVE = frozenset(ConsumerGroupState) - {ConsumerGroupState.DEAD}

VALID_PREVIOUS_STATES: dict[ConsumerGroupState, frozenset[ConsumerGroupState]] = {
    ConsumerGroupState.EMPTY: _ALIVE,
    ConsumerGroupState.ASSIGNING: _ALIVE,
    ConsumerGroupState.RECONCILING: _ALIVE,
    ConsumerGroupState.STABLE: _ALIVE,
    ConsumerGroupState.DEAD: frozenset(ConsumerGroupState),
}
"""There are no steps that every member takes at the same time, so a group may go from any state to any other."""
