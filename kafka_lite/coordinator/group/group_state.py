"""The states of a consumer group, and which may follow which.

Kafka 0.10.2: core/.../coordinator/GroupMetadata.scala (GroupState) · book 5.4.2
"""

from __future__ import annotations

from enum import Enum


class GroupState(Enum):
    """Where a group stands between two generations; the value is its name on the wire (DescribeGroups)."""

    PREPARING_REBALANCE = "PreparingRebalance"
    """The members are asked to join again. Action: park JoinGroup requests; answer heartbeats and SyncGroup with
    REBALANCE_IN_PROGRESS; take commits of the old generation. Transition: to AWAITING_SYNC when every member has
    joined or the time is up, to EMPTY when nobody is left, to DEAD when the partition moves away."""
    AWAITING_SYNC = "CompletingRebalance"
    """A generation has begun, and its leader works out who gets what. Kafka has called it CompletingRebalance since
    1.1. Action: park SyncGroup requests; refuse commits with REBALANCE_IN_PROGRESS. Transition: to STABLE when the
    leader's assignment is in the log, to PREPARING_REBALANCE when a member comes, changes, goes or fails, to DEAD when
    the partition moves away."""
    STABLE = "Stable"
    """Everybody knows his part. Action: answer heartbeats, SyncGroup (with the assignment) and JoinGroup of followers
    that have not changed; take commits. Transition: to PREPARING_REBALANCE when a member comes, changes, goes or fails
    or the leader joins again, to DEAD when the partition moves away."""
    DEAD = "Dead"
    """The group is being taken out of the cache; who still finds it is told to look again. It is final."""
    EMPTY = "Empty"
    """No members, but offsets; also the only state of groups that use Kafka for their offsets alone. Action: take
    JoinGroup of new members and commits without a generation. Transition: to PREPARING_REBALANCE when a member comes,
    to DEAD when the last offset has expired, the group is deleted, or its partition moves away."""


VALID_PREVIOUS_STATES: dict[GroupState, frozenset[GroupState]] = {
    GroupState.EMPTY: frozenset({GroupState.PREPARING_REBALANCE}),
    GroupState.PREPARING_REBALANCE: frozenset({GroupState.EMPTY, GroupState.STABLE, GroupState.AWAITING_SYNC}),
    GroupState.AWAITING_SYNC: frozenset({GroupState.PREPARING_REBALANCE}),
    GroupState.STABLE: frozenset({GroupState.AWAITING_SYNC}),
    GroupState.DEAD: frozenset(GroupState),
}
