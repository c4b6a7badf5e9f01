"""The states of a member of a group of KIP-848, and the transitions between them.

Kafka 4.1: group-coordinator/.../group/modern/MemberState.java · book 5.4.2
"""

from __future__ import annotations

from enum import IntEnum


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

VALID_PREVIOUS_STATES: dict[MemberState, frozenset[MemberState]] = {
    MemberState.STABLE: frozenset(MemberState),
    MemberState.UNREVOKED_PARTITIONS: frozenset(MemberState),
    MemberState.UNRELEASED_PARTITIONS: frozenset(MemberState),
    MemberState.UNKNOWN: frozenset({MemberState.UNKNOWN}),
}
"""UNKNOWN is only read from the log."""
