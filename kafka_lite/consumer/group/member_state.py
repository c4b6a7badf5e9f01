"""The states of a group's member, as the member itself knows them.

Kafka 0.10.2: clients/.../consumer/internals/AbstractCoordinator.java (MemberState) · book 5.1.1
"""

from __future__ import annotations

from enum import Enum, auto


class MemberState(Enum):
    """The state of a member, as the member itself knows it."""

    UNJOINED = auto()
    """action: join with the next poll · transition: REBALANCING when JoinGroup is sent."""
    REBALANCING = auto()
    """action: wait for JoinGroup and SyncGroup · transition: STABLE with an assignment, UNJOINED on errors."""
    STABLE = auto()
    """action: consume, send heartbeats · transition: REBALANCING to join again, UNJOINED when it leaves or is
    removed."""


VALID_PREVIOUS_STATES: dict[MemberState, frozenset[MemberState]] = {
    MemberState.UNJOINED: frozenset(MemberState),
    MemberState.REBALANCING: frozenset({MemberState.UNJOINED, MemberState.STABLE}),
    MemberState.STABLE: frozenset({MemberState.REBALANCING}),
}
