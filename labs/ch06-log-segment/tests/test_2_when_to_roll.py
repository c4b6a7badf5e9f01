"""Task 2: an append that must go to a new segment."""

import pytest

SIZE = 205  # of a batch of three messages in format v2


@pytest.mark.points(2, task=2)
def test_a_segment_may_be_exactly_full(segment_with, rolls):
    """The size limit"""
    fits = rolls(segment_with(3, segment_bytes=4 * SIZE))
    assert not fits, f"3 batches and one more are exactly segment.bytes = {4 * SIZE}: it still fits"


@pytest.mark.points(1, task=2)
def test_one_byte_too_many(segment_with, rolls):
    """One byte beyond the limit"""
    over = rolls(segment_with(3, segment_bytes=4 * SIZE - 1))
    assert over, f"with segment.bytes = {4 * SIZE - 1} a fourth batch of {SIZE} bytes does not fit: roll"


@pytest.mark.points(2, task=2)
def test_an_empty_segment_is_kept(new_segment, time, rolls):
    """An empty segment"""
    segment = new_segment(segment_bytes=100, segment_ms=1)
    time.sleep(10_000)
    rolled = rolls(segment, offset=20)
    why = "a new segment would have the same base offset, so the same files"
    assert not rolled, f"nothing has been written to this segment, so neither size nor age count: {why}"


@pytest.mark.points(1, task=2)
def test_an_offset_that_does_not_fit(new_segment, rolls):
    """An offset too far away, even in an empty segment"""
    rolled = rolls(new_segment(), offset=20 + 2**31)
    assert rolled, "2**31 above the base offset cannot be stored in the index: roll, even if the segment is empty"
    rolled = rolls(new_segment(), offset=20 + 2**31 - 2)
    assert rolled, "the last offset of this batch is 2**31 above the base: v2 is indexed by its last one, so roll"


@pytest.mark.points(2, task=2)
def test_age_is_measured_by_timestamps(segment_with, time, rolls):
    """segment.ms, by the messages' timestamps"""
    segment = segment_with(2, segment_ms=5000, segment_bytes=10_000)
    time.sleep(3_600_000)
    why = "age counts from the first message's time to the new one's, or a follower that catches up rolls elsewhere"
    assert not rolls(segment, timestamp=2000), f"an hour has passed on the clock, a second in the messages: {why}"
    assert rolls(segment, timestamp=6100), "from 1002 (first batch) to 6102 is more than 5000 ms: roll"
    assert rolls(segment, timestamp=6001), "from 1002 (first batch, not the last one) to 6003 are 5001 ms: roll"


@pytest.mark.points(1, task=2)
def test_exactly_as_old_as_allowed(segment_with, rolls):
    """5000 ms of 5000"""
    segment = segment_with(2, segment_ms=5000, segment_bytes=10_000)
    assert not rolls(segment, timestamp=6000), "from 1002 to 6002 are exactly 5000 ms, which are allowed: no roll"


@pytest.mark.points(1, task=2)
def test_a_message_of_long_ago(segment_with, rolls):
    """A message that is older than the segment"""
    segment = segment_with(2, timestamps=[100_000, 100_010], segment_ms=5000, segment_bytes=10_000)
    why = "it makes the segment no older, and with a roll for each late message there would be thousands of segments"
    assert not rolls(segment, timestamp=1000), f"the new message is 99 s older than the first one: {why}"


@pytest.mark.points(1, task=2)
def test_the_year_1970(new_segment, batch, rolls):
    """0 is a timestamp, too"""
    segment = new_segment(segment_ms=5000, segment_bytes=10_000)
    segment.log.append(batch(20, count=1, timestamp=0))
    assert rolls(segment, offset=21, timestamp=6000), "the first message has the timestamp 0, only -1 is none: 6002 ms"


@pytest.mark.points(1, task=2)
def test_a_compacted_log(segment_with, rolls):
    """max.compaction.lag.ms"""
    lag = {"cleanup_policy": "compact", "max_compaction_lag_ms": 1000}
    segment = segment_with(2, segment_ms=5000, segment_bytes=10_000, **lag)
    assert rolls(segment, timestamp=3000), (
        "the cleaner must get these messages after 1000 ms, and it does not touch the active segment: "
        "ask config.max_segment_ms, not segment_ms"
    )


@pytest.mark.points(1, task=2)
def test_the_jitter_is_subtracted(segment_with, rolls):
    """segment.jitter.ms"""
    segment = segment_with(2, segment_ms=5000, segment_bytes=10_000)
    segment.roll_jitter_ms = 3000
    assert rolls(segment, timestamp=4000), "3000 ms in messages, 5000 allowed less a jitter of 3000: roll"


@pytest.mark.points(1, task=2)
def test_without_timestamps_the_clock_counts(segment_with, time, rolls):
    """Messages of format v0 have no timestamps"""
    segment = segment_with(2, magic=0, segment_ms=5000, segment_bytes=10_000)
    assert not rolls(segment), "format v0 has no timestamps, and no time has passed on the clock: no roll"
    time.sleep(5001)
    assert rolls(segment), (
        "format v0 has no timestamps: 5001 ms on the clock since the segment was created are too many"
    )


@pytest.mark.points(1, task=2)
def test_a_full_index(segment_with, rolls):
    """An index without space"""
    segment = segment_with(3, index=[(25, 205), (28, 410)], segment_index_bytes=24, segment_bytes=10_000)
    assert not segment.offset_index.is_full
    assert not rolls(segment), "both indexes have space for one more entry: no reason to roll"
    other = segment_with(3, index=[(22, 0), (25, 205), (28, 410)], segment_index_bytes=24, segment_bytes=10_000)
    assert rolls(other), "the offset index has no space for one more entry: roll"
    segment.time_index.maybe_append(1022, 28)
    assert segment.time_index.is_full
    assert rolls(segment), "the time index is full (its last slot is reserved for the close): roll"
