"""Where a follower truncates its log, depending on the leader's end offset for an epoch."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.log.checkpoints.leader_epoch_checkpoint_file import EpochEntry
from kafka_lite.server.replication.leader_end_point import EpochEnd
from kafka_lite.server.replication.truncation import OffsetTruncationState, truncation_state

END, HIGH_WATERMARK = 20, 8
# The follower's epochs: 1 from 0, 3 from 10, 5 from 15, up to its end 20.
ENDS = {0: EpochEntry(0, 0), 1: EpochEntry(1, 10), 2: EpochEntry(1, 10), 3: EpochEntry(3, 15), 5: EpochEntry(5, 20)}


def own_end(epoch: int) -> EpochEntry:
    return ENDS.get(epoch, EpochEntry(-1, -1))


@pytest.mark.parametrize(
    ("leader_epoch", "end_offset", "expected"),
    [
        pytest.param(5, 17, OffsetTruncationState(17, True), id="the leader's epoch ends first"),
        pytest.param(5, 30, OffsetTruncationState(20, True), id="the leader has more of it"),
        pytest.param(3, 12, OffsetTruncationState(12, True), id="the leader never had epoch 5"),
        pytest.param(3, 18, OffsetTruncationState(15, True), id="the follower's epoch 3 ends first"),
        pytest.param(2, 13, OffsetTruncationState(10, False), id="the follower never had epoch 2: ask for epoch 1"),
        pytest.param(4, 13, OffsetTruncationState(13, True), id="the follower knows no end of so new an epoch"),
        pytest.param(-1, -1, OffsetTruncationState(8, True), id="the leader does not know: to the high watermark"),
        pytest.param(-1, 14, OffsetTruncationState(14, True), id="an old leader names the offset only"),
        pytest.param(-1, 40, OffsetTruncationState(20, True), id="an old leader, whose log is longer"),
    ],
)
def test_the_log_is_truncated_where_it_diverges_from_the_leaders(
    leader_epoch: int, end_offset: int, expected: OffsetTruncationState
) -> None:
    leader = EpochEnd(Errors.NONE, leader_epoch, end_offset)
    assert truncation_state(leader, END, HIGH_WATERMARK, own_end) == expected
