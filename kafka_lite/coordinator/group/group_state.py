"""The states of a consumer group, and the transitions between them.

Kafka 0.10.2: core/.../coordinator/GroupMetadata.scala (GroupState) · book 5.4.2
"""

from __future__ import annotations

from enum import Enum


class GroupState(Enum):
    """The state of a group between two generations. The value is its name on the wire (DescribeGroups)."""

    PREPARING_REBALANCE = "PreparingRebalance"
    """The members are asked to join again. Action: park JoinGroup requests; respond to heartbeats and SyncGroup with
    REBALANCE_IN_PROGRESS; accept commits of the old generation. Transition: to AWAITING_SYNC when every member has
    joined or the timeout expires, to EMPTY when no member is left, to DEAD when the partition moves to another
    broker."""
    AWAITING_SYNC = "CompletingRebalance"
    """A generation has begun, and its leader computes the assignment. Kafka has called this state CompletingRebalance
    since 1.1. Action: park SyncGroup requests; refuse commits with REBALANCE_IN_PROGRESS. Transition: to STABLE when
    the leader's assignment is in the log, to PREPARING_REBALANCE when a member joins, changes, leaves or fails, to DEAD
    when the partition moves to another broker."""
    STABLE = "Stable"
    """Every member has its assignment. Action: accept heartbeats and commits; respond to SyncGroup with the assignment,
    and to JoinGroup of unchanged followers with the current generation. Transition: to PREPARING_REBALANCE when a
    member joins, changes, leaves or fails or the leader joins again, to DEAD when the partition moves to another
    broker."""
    DEAD = "Dead"
    """The group is being removed from the cache. A request that still finds it is told to look up the coordinator
    again. This state is final."""
    EMPTY = "Empty"
    """The group has offsets but no members; a group that only stores offsets in Kafka is always in this state. Action:
    accept JoinGroup of new members and commits without a generation. Transition: to PREPARING_REBALANCE when a member
    joins, to DEAD when the last offset expires, the group is deleted, or its partition moves to another broker."""


VALID_PREVIOUS_STATES: dict[GroupState, frozenset[GroupState]] = {
    GroupState.EMPTY: frozenset({GroupState.PREPARING_REBALANCE}),
    GroupState.PREPARING_REBALANCE: frozenset({GroupState.EMPTY, GroupState.STABLE, GroupState.AWAITING_SYNC}),
    GroupState.AWAITING_SYNC: frozenset({GroupState.PREPARING_REBALANCE}),
    GroupState.STABLE: frozenset({GroupState.AWAITING_SYNC}),
    GroupState.DEAD: frozenset(GroupState),
}
