"""The states of a group of KIP-848 and of its members, and the transitions between them.

Kafka 4.1: group-coordinator/.../group/modern/consumer/ConsumerGroup.java (ConsumerGroupState), modern/MemberState.java
· book 5.4.2
"""

from __future__ import annotations

from enum import Enum, IntEnum


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


class MemberState(IntEnum):
    """How far a member is on its way to the target assignment. The number is in its record."""

    STABLE = 0
    """The member is in the epoch of its assignment, and waits for nothing. Transition: to any with a new target."""
    UNREVOKED_PARTITIONS = 1
    """The member must give up partitions. Its epoch stays, so that it can commit their offsets. Action: fence it if it
    takes longer than its rebalance timeout. Transition: to any state, in the next epoch, once its heartbeats do not
    list those partitions any more."""
    UNRELEASED_PARTITIONS = 2
    """The member is in the target's epoch, and waits for partitions that others have not given up. Action: give it each
    partition that is free, with its next heartbeat. Transition: to STABLE once it has them all."""
    UNKNOWN = 127
    """A state of a later version. Action: fence the member, unless it owns nothing."""

    @classmethod
    def of(cls, number: int) -> MemberState:
        """The state with this number; UNKNOWN for one of a later version."""
        return cls(number) if number in _KNOWN else cls.UNKNOWN


_KNOWN = frozenset(map(int, MemberState))

VALID_PREVIOUS_MEMBER_STATES: dict[MemberState, frozenset[MemberState]] = {
    MemberState.STABLE: frozenset(MemberState),
    MemberState.UNREVOKED_PARTITIONS: frozenset(MemberState),
    MemberState.UNRELEASED_PARTITIONS: frozenset(MemberState),
    MemberState.UNKNOWN: frozenset({MemberState.UNKNOWN}),
}
"""UNKNOWN is only read from the log."""
