"""The promises of the high watermark, as its hunt asks for them."""

from __future__ import annotations

import pytest

from kafka_learn.labs.hunting.high_watermark_hunt import Leading, main
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata


def test_a_high_watermark_that_moves_back_or_is_above_a_replica_is_named() -> None:
    leading = Leading()
    leading.log.log_end_offset = 9
    for follower in (2, 3):
        leading.partition.update_follower_log_end_offset(follower, LogOffsetMetadata(7), 9)
    leading.look()
    leader = leading.partition.get_replica()
    assert leader is not None
    assert leader.high_watermark.message_offset == 7
    leader.high_watermark = LogOffsetMetadata(8)
    with pytest.raises(AssertionError, match="is 8, but broker 2 is in the ISR and its log ends at 7"):
        leading.look()
    assert leading.is_broken
    leader.high_watermark = LogOffsetMetadata(5)
    with pytest.raises(AssertionError, match="has moved back, from 8 to 5"):
        leading.look()


def test_pythons_own_threads_keep_the_promises() -> None:
    main()
