"""Task 2: a follower's fetch, and when it was last at the leader's end."""

import pytest

from kafka_learn.labs.raising import must_raise
from kafka_lite.cluster.partition import PartitionState
from kafka_lite.cluster.replica import Replica
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition


@pytest.mark.points(6, task=2)
def test_two_rounds(leading):
    """One record is copied by both followers, then both fetch again"""
    leading.append()
    assert leading.fetches(2, 0) is False, "2 has asked for offset 0, so it has no record yet: return False"
    assert leading.fetches(3, 0) is False, "both have asked for offset 0: the leader knows of no copy yet"
    assert leading.fetches(2, 1) is False, "2 has the record, 3 is not known to have it: not committed"
    assert leading.fetches(3, 1) is True, "3 fetches from offset 1, so all of the ISR have the record: return True"
    assert leading.high_watermark == 1, f"offset 0 is committed: the high watermark is 1, not {leading.high_watermark}"


@pytest.mark.points(5, task=2)
def test_not_a_follower(leading):
    """Broker 7 fetches, and a client with the id of the leader"""
    for stranger, why in ((7, "broker 7 has no replica"), (1, "broker 1 is the leader itself")):
        try:
            leading.fetches(stranger, 0)
        except (ApiError, ValueError) as error:
            found = getattr(error, "error", error)
            assert found is Errors.NOT_LEADER_OR_FOLLOWER, f"{why}: raise NOT_LEADER_OR_FOLLOWER, not {found!r}"
        else:
            pytest.fail(f"{why}: NOT_LEADER_OR_FOLLOWER")
    leading.partition.make_follower(PartitionState(1, 2, 1, [2, 3], 1, [1, 2, 3]))
    why = "broker 1 leads no more, so it has no leader replica"
    raised = must_raise(ApiError, why, leading.fetches, 3, 0)
    assert raised.error is Errors.NOT_LEADER_OR_FOLLOWER, f"{why}: NOT_LEADER_OR_FOLLOWER, not {raised.error.name}"


@pytest.mark.points(4, task=2)
def test_when_it_was_caught_up(leading):
    """The end of the log is that before the fetch was read, if that is given"""
    leading.append(3)
    replica = leading.partition.get_replica(2)
    for offset, leader_end, what in (
        (3, None, "it fetches at the end, 3"),
        (2, 2, "the log ended at 2 then"),
        (0, 0, "at 0"),
    ):
        leading.time.sleep(1_000)
        leading.fetches(2, offset, leader_end)
        now_ms, found = leading.time.hi_res_ms(), replica.last_caught_up_time_ms
        assert found == now_ms, f"a fetch from {offset}, {what}: caught up now, at {now_ms:g} ms, not at {found:g}"
    leading.time.sleep(1_000)
    leading.fetches(2, 2)
    found = replica.last_caught_up_time_ms
    assert found == now_ms, (
        f"it fetches from 2, and the log ends at 3: not caught up now; its time stays {now_ms:g}; {found:g}"
    )


@pytest.mark.points(5, task=2)
def test_a_busy_leader():
    """The follower always has what the leader had at the fetch before"""
    replica = Replica(2, TopicPartition("demo", 0))
    for number in range(1, 6):
        replica.update_last_caught_up_time(
            fetch_offset=10 * (number - 1), leader_log_end_offset=10 * number, now_ms=100.0 * number
        )
    caught_up_ms = replica.last_caught_up_time_ms
    assert caught_up_ms > 0, "at 500 ms it asks for offset 40, where the leader ended at 400 ms: it keeps up"
    assert caught_up_ms == 400, (
        f"it had everything at 400 ms, when the leader ended at 40; your time is {caught_up_ms:g}"
    )


@pytest.mark.points(5, task=2)
def test_at_the_end_and_behind():
    """A follower at the end, then one that gets nothing done"""
    replica = Replica(2, TopicPartition("demo", 0))
    replica.update_last_caught_up_time(5, 5, 100.0)
    assert replica.last_caught_up_time_ms == 100, "it fetches at the leader's end: caught up now"
    for now_ms in (200.0, 300.0):
        replica.update_last_caught_up_time(5, 9, now_ms)
    replica.update_last_caught_up_time(6, 9, 400.0)
    assert replica.last_caught_up_time_ms < 300, (
        "since 200 ms the leader ends at 9, and the follower has not got there: "
        f"it was last caught up before that, not at {replica.last_caught_up_time_ms:g}"
    )
    replica = Replica(2, TopicPartition("demo", 0))
    replica.last_caught_up_time_ms = 1_000
    replica.update_last_caught_up_time(0, 10, 100.0)
    replica.update_last_caught_up_time(10, 20, 200.0)
    assert replica.last_caught_up_time_ms == 1_000, (
        f"the time never goes back: it was caught up at 1000, and stays so; yours is {replica.last_caught_up_time_ms:g}"
    )
