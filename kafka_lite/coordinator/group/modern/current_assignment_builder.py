"""Leads a member step by step from its current assignment to the target.

Kafka 4.1: group-coordinator/.../group/modern/consumer/CurrentAssignmentBuilder.java · book 5.3.2
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.modern.consumer_group_member import ConsumerGroupMember
from kafka_lite.coordinator.group.modern.member_state import VALID_PREVIOUS_STATES, MemberState
from kafka_lite.coordinator.group.modern.topic_partitions import (
    TopicIdPartitions,
    common,
    grouped,
    pairs,
    union,
    without,
)

NO_EPOCH = -1
"""The epoch of a partition without an owner."""
EpochOf = Callable[[UUID, int], int]
"""The epoch of a partition's owner, or NO_EPOCH."""


def next_assignment(
    member: ConsumerGroupMember,
    target_epoch: int,
    target: TopicIdPartitions,
    epoch_of: EpochOf,
    owned: TopicIdPartitions | None,
) -> ConsumerGroupMember:
    """The member after its next step; the same one if it cannot take any.

    ::

                        ╭─ has to give up some ─▶ UNREVOKED_PARTITIONS ─ does not own them any more ─╮
        STABLE ─ target ┤                                                                            ├─▶ STABLE
                        ╰─ waits for some that others have ─▶ UNRELEASED_PARTITIONS ─ they are free ─╯

    A partition is only given to the member once no other has it, and a member is only led to the next epoch once it has
    given up what it must. So a partition never has two owners, and a member that lost a partition in its epoch can
    still commit its offset. ``owned`` is what the member says that it has; None if its heartbeat does not say.

    Raises FENCED_MEMBER_EPOCH for a member in an unknown state that owns partitions.
    """
    if member.state is MemberState.STABLE and member.member_epoch == target_epoch:
        return member
    epoch = member.member_epoch
    if member.state is MemberState.UNREVOKED_PARTITIONS:
        if _still_owns(owned, member.pending_revocation):
            return member
        epoch += 1
    elif member.state is MemberState.UNKNOWN:
        if owned is None or owned:
            raise Errors.FENCED_MEMBER_EPOCH.exception("The member is in an unknown state and must rejoin.")
        epoch = target_epoch
    return _step(member, epoch, target_epoch, target, epoch_of, owned)


def _step(
    member: ConsumerGroupMember,
    epoch: int,
    target_epoch: int,
    target: TopicIdPartitions,
    epoch_of: EpochOf,
    owned: TopicIdPartitions | None,
) -> ConsumerGroupMember:
    """The member after it was told to give up what is not in its target, or else has got what is free.

    It keeps what it is assigned and shall have. As long as it may still own some of the rest, it is asked to give up
    that rest: UNREVOKED_PARTITIONS, in ``epoch``. Otherwise it is led to the target's epoch, and is assigned each
    missing partition that has no owner: STABLE if these are all, UNRELEASED_PARTITIONS if not.
    """
    kept = common(member.assigned, target)
    revoked = without(member.assigned, kept)
    if revoked and _still_owns(owned, revoked):
        return _moved(member, MemberState.UNREVOKED_PARTITIONS, epoch, kept, revoked)
    missing = list(pairs(without(target, kept)))
    free = [pair for pair in missing if epoch_of(*pair) == NO_EPOCH]
    state = MemberState.STABLE if len(free) == len(missing) else MemberState.UNRELEASED_PARTITIONS
    return _moved(member, state, target_epoch, union(kept, grouped(free)), {})


def _still_owns(owned: TopicIdPartitions | None, revoked: TopicIdPartitions) -> bool:
    """Whether the member may still have one of the partitions."""
    return owned is None or bool(common(owned, revoked))


def _moved(
    member: ConsumerGroupMember,
    state: MemberState,
    epoch: int,
    assigned: TopicIdPartitions,
    pending_revocation: TopicIdPartitions,
) -> ConsumerGroupMember:
    assert member.state in VALID_PREVIOUS_STATES[state]
    return replace(
        member,
        state=state,
        member_epoch=epoch,
        previous_member_epoch=member.member_epoch,
        assigned=assigned,
        pending_revocation=pending_revocation,
    )
