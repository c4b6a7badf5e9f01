"""How far a follower must cut its log back before it may fetch from a new leader. Pure.

Kafka 0.10.2: later addition: core/.../server/AbstractFetcherThread.scala (getOffsetTruncationState), KIP-101, KIP-279 ·
book 6.2.2
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kafka_lite.log.checkpoints.leader_epoch_checkpoint_file import EpochEntry
from kafka_lite.server.replication.leader_end_point import UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET, EpochEnd


class OffsetTruncationState(NamedTuple):
    """Where to truncate. If not ``completed``, the logs may still differ below, and the leader must be asked again."""

    offset: int
    completed: bool


def truncation_state(
    leader: EpochEnd, log_end_offset: int, high_watermark: int, end_offset_for_epoch: Callable[[int], EpochEntry]
) -> OffsetTruncationState:
    """Where the follower's log and the leader's part.

    ``leader`` is the end of the follower's newest epoch on the leader, ``end_offset_for_epoch`` the follower's own end
    of an epoch::

        follower   |── epoch 1 ──|── epoch 2 ─────|        asks for epoch 2
        leader     |── epoch 1 ─────|── epoch 3 ──|        says: epoch 1, which ends here ─▶ |
                                 ▲
                                 └── the follower's own epoch 1 ends first: it truncates to there

    If the follower does not have the epoch that the leader names, it truncates to the end of its own next older epoch
    and asks for that one. If the leader does not know the epoch, the follower truncates to its high watermark, as 0.10
    always does.
    """
    if leader.end_offset == UNDEFINED_EPOCH_OFFSET:
        return OffsetTruncationState(min(high_watermark, log_end_offset), completed=True)
    if leader.leader_epoch == UNDEFINED_EPOCH:  # version 0 has only the offset
        return OffsetTruncationState(min(leader.end_offset, log_end_offset), completed=True)
    own = end_offset_for_epoch(leader.leader_epoch)
    if own.epoch == UNDEFINED_EPOCH:  # the follower has no epoch that old
        return OffsetTruncationState(min(leader.end_offset, log_end_offset), completed=True)
    if own.epoch != leader.leader_epoch:
        return OffsetTruncationState(min(own.start_offset, log_end_offset), completed=False)
    return OffsetTruncationState(min(own.start_offset, leader.end_offset, log_end_offset), completed=True)
