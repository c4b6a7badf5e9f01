"""Task 3: a follower's log after a response."""

import pytest

from kafka_learn.labs.raising import must_raise
from kafka_lite.common.topic_partition import TopicPartition

PARTITION = TopicPartition("demo", 0)


@pytest.mark.points(8, task=3)
def test_records_and_high_watermark(following, append):
    """Three records, the leader's high watermark is 2, then 9"""
    append(following.leader, 3)
    following.process(0, high_watermark=2)
    assert following.log.log_end_offset == 3, (
        f"three records were fetched; your log ends at {following.log.log_end_offset}"
    )
    assert following.high_watermark == 2, f"the leader says that 2 are committed; yours is {following.high_watermark}"
    following.process(3, high_watermark=9)
    assert following.high_watermark == 3, (
        f"the high watermark is never beyond the own end, 3; yours is {following.high_watermark}"
    )
    following.process(3, high_watermark=1)
    assert following.high_watermark == 1, (
        f"it follows the leader's, also back: a new leader may know less; 1, not {following.high_watermark}"
    )


@pytest.mark.points(5, task=3)
def test_not_for_this_offset(following, append):
    """A response for offset 0, when the log ends at 2"""
    append(following.leader, 2)
    following.process(0, high_watermark=0)
    why = "the response begins at 0, the log ends at 2: appending it would repeat records"
    must_raise(RuntimeError, why, lambda: following.process(0, high_watermark=0))
    assert following.log.log_end_offset == 2, "appending it would repeat records: raise RuntimeError"
    data, why = following.response(0, 0), "the response begins at 5, the log ends at 2: there would be a gap"
    must_raise(RuntimeError, why, following.fetcher.process_partition_data, PARTITION, 5, data)


@pytest.mark.points(2, task=3)
def test_the_quota_of_a_throttled_partition(following, append):
    """Not throttled, then throttled"""
    append(following.leader, 4)
    following.process(0, high_watermark=0)
    assert following.quota.recorded == [], "the partition is not throttled: nothing is recorded in the quota"
    append(following.leader, 1)
    following.quota.throttled = True
    size = following.response(4, 0).records.valid_bytes
    following.process(4, high_watermark=0)
    recorded = following.quota.recorded
    assert recorded == [size], f"throttled: record the valid bytes, {size}, or the quota limits nothing; not {recorded}"


@pytest.mark.points(3, task=3)
def test_the_start_follows(following, append):
    """The leader has deleted its first two records"""
    append(following.leader, 4)
    following.process(0, high_watermark=4, start=2)
    start = following.log.log_start_offset
    assert start == 2, f"the leader's log starts at 2, so must the follower's, or it could never lead; yours {start}"


@pytest.mark.points(5, task=3)
def test_beyond_the_leaders_end(following, append):
    """After an unclean election the follower has 5 records, the leader 3"""
    append(following.log, 5)
    append(following.leader, 3)
    following.high_watermark = 5
    next_offset = following.out_of_range()
    assert following.log.log_end_offset == 3, (
        f"the follower is beyond the leader's end, 3: cut it there; your log ends at {following.log.log_end_offset}"
    )
    assert next_offset == 3, f"the next fetch is from 3, not {next_offset}"
    assert following.high_watermark == 3, f"no high watermark beyond the end; yours is {following.high_watermark}"


@pytest.mark.points(5, task=3)
def test_below_the_leaders_start(following, append):
    """The follower was away for long: it ends at 2, the leader starts at 4"""
    append(following.log, 2)
    append(following.leader, 6)
    following.leader.maybe_increment_log_start_offset(4)
    next_offset = following.out_of_range()
    found = (following.log.log_start_offset, following.log.log_end_offset)
    assert found == (4, 4), f"between 2 and 4 there would be a gap: empty the log and start at 4; yours is {found}"
    assert next_offset == 4, f"the next fetch is from 4, not {next_offset}"


@pytest.mark.points(1, task=3)
@pytest.mark.parametrize("start", [2, 4])
def test_neither(following, append, start):
    """The leader starts before or at the follower's end: by now it may fetch again"""
    append(following.log, 4)
    append(following.leader, 6)
    following.leader.maybe_increment_log_start_offset(start)
    next_offset = following.out_of_range()
    found = (following.log.log_start_offset, following.log.log_end_offset)
    assert found == (0, 4), (
        f"the leader's log goes from {start} to 6, the follower ends at 4: no gap, nothing is removed; yours {found}"
    )
    assert next_offset == 4, f"the next fetch is from 4, not {next_offset}"
