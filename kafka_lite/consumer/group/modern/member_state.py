"""The states of a member of a group of KIP-848, as the member itself knows them.

Kafka 4.1: clients/.../consumer/internals/MemberState.java · book 5.1.1
"""

from __future__ import annotations

from enum import Enum, auto


class MemberState(Enum):
    """The state of a member. A response of the coordinator, or the user, causes the transition."""

    UNSUBSCRIBED = auto()
    """action: commit if the user says so, send no heartbeats · transition: JOINING with a subscription."""
    JOINING = auto()
    """action: send heartbeats of epoch 0 · transition: RECONCILING with the response."""
    RECONCILING = auto()
    """action: commit, call the user's listener, take over the assignment; send heartbeats meanwhile · transition:
    ACKNOWLEDGING when that is done, FENCED if it takes longer than the rebalance timeout."""
    ACKNOWLEDGING = auto()
    """action: send a heartbeat at once that says which partitions the member has now · transition: STABLE when it is
    sent, RECONCILING if there is a newer assignment by then."""
    STABLE = auto()
    """action: consume, send heartbeats · transition: RECONCILING with another assignment."""
    FENCED = auto()
    """action: call the listener for the lost partitions; send no heartbeats · transition: JOINING with the next
    poll."""
    PREPARE_LEAVING = auto()
    """action: none; the listener has been called · transition: LEAVING."""
    LEAVING = auto()
    """action: send a heartbeat of epoch -1, or -2 for a static member · transition: UNSUBSCRIBED when it is sent, STALE
    if the user does not poll."""
    FATAL = auto()
    """action: every poll raises the error · transition: none. Another consumer is needed."""
    STALE = auto()
    """action: send no heartbeats, for the user has not polled within max.poll.interval.ms · transition: JOINING with
    the next poll, which first calls the listener for the lost partitions."""

    @property
    def takes_assignments(self) -> bool:
        """Whether a response may bring an assignment."""
        return self in VALID_PREVIOUS_STATES[MemberState.RECONCILING]

    @property
    def is_in_group(self) -> bool:
        """Whether heartbeats are to be sent."""
        return self not in NOT_IN_GROUP


S = MemberState
NOT_IN_GROUP = frozenset({S.UNSUBSCRIBED, S.FENCED, S.FATAL, S.STALE})
"""States without heartbeats."""
URGENT = frozenset({S.JOINING, S.ACKNOWLEDGING, S.LEAVING})
"""States whose heartbeat does not wait for the interval."""

VALID_PREVIOUS_STATES: dict[MemberState, frozenset[MemberState]] = {
    S.UNSUBSCRIBED: frozenset({S.PREPARE_LEAVING, S.LEAVING, S.FENCED, S.STALE}),
    S.JOINING: frozenset({S.UNSUBSCRIBED, S.FENCED, S.STALE}),
    S.RECONCILING: frozenset({S.JOINING, S.RECONCILING, S.ACKNOWLEDGING, S.STABLE}),
    S.ACKNOWLEDGING: frozenset({S.RECONCILING}),
    S.STABLE: frozenset({S.JOINING, S.RECONCILING, S.ACKNOWLEDGING}),
    S.FENCED: frozenset({S.JOINING, S.RECONCILING, S.ACKNOWLEDGING, S.STABLE}),
    S.PREPARE_LEAVING: frozenset({S.JOINING, S.RECONCILING, S.ACKNOWLEDGING, S.STABLE}),
    S.LEAVING: frozenset({S.PREPARE_LEAVING}),
    S.FATAL: frozenset(MemberState) - {S.FATAL, S.FENCED, S.STALE},
    S.STALE: frozenset({S.LEAVING}),
}
"""As in Kafka, but a member that was stale when the user unsubscribed is UNSUBSCRIBED. Kafka's joins again."""
