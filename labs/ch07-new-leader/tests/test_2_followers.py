"""Task 2: what a leader knows of its followers when it begins."""

import pytest

from kafka_lite.log.log_offset_metadata import LogOffsetMetadata


def reset(replicated, is_new_leader):
    replicated.partition._reset_followers(replicated.replica(), is_new_leader)


@pytest.mark.points(4, task=2)
def test_a_new_leader_knows_nothing(replicated):
    """Broker 2 fetched up to 5 from broker 1, some leaders ago"""
    replicated.append(6, epoch=0)
    replicated.leads_without_your_code(epoch_start=6)
    replicated.replica(2).update_log_end_offset(LogOffsetMetadata(5))
    reset(replicated, is_new_leader=True)
    found = replicated.replica(2).log_end_offset
    assert found is LogOffsetMetadata.UNKNOWN, (
        "broker 2 said 5 under its first leadership, and may have truncated its log since: forget it, you keep "
        f"{found.message_offset}"
    )
    assert replicated.replica().log_end_offset.message_offset == 6, "the local replica ends where its log does"


@pytest.mark.points(4, task=2)
def test_all_followers(replicated):
    """Broker 3, which is not in the ISR, once fetched from 5"""
    replicated.append(6, epoch=0)
    replicated.leads_without_your_code(epoch_start=6)
    replicated.replica(3).update_log_end_offset(LogOffsetMetadata(5))
    reset(replicated, is_new_leader=True)
    found = replicated.replica(3).log_end_offset
    assert found is LogOffsetMetadata.UNKNOWN, (
        "broker 3 is not in the ISR, but a leader that believes its old LEO lets it in: forget it as well, you keep "
        f"{found.message_offset}"
    )


@pytest.mark.points(3, task=2)
def test_the_end_that_a_follower_must_reach(replicated):
    """The high watermark is 2, the log ends at 6, and broker 2 fetches from 6"""
    replicated.append(6, epoch=0)
    replicated.leads_without_your_code(epoch_start=6)
    replicated.high_watermark = 2
    for is_new_leader in (True, False):
        replicated.replica(2).last_caught_up_time_ms = 1.0
        reset(replicated, is_new_leader)
        now_ms = replicated.time.hi_res_ms()
        assert replicated.replica(2).last_caught_up_time_ms == now_ms, (
            f"every new epoch gives the ISR its time anew, with is_new_leader={is_new_leader}, too"
        )
        found = replicated.replica(2)._last_fetch_leader_log_end_offset
        assert found == 6, f"a follower has caught up at 6, where the leader's log ends now; you passed {found}"


@pytest.mark.points(3, task=2)
def test_the_same_leader_keeps_what_it_knows(replicated):
    """A newer epoch, the same leader"""
    replicated.append(6, epoch=0)
    replicated.leads_without_your_code(epoch_start=6)
    replicated.replica(2).update_log_end_offset(LogOffsetMetadata(5))
    reset(replicated, is_new_leader=False)
    assert replicated.replica(2).log_end_offset.message_offset == 5, (
        "it led already, so broker 2 told this very leader: LEO 5 stays, or producers wait for one more fetch"
    )


@pytest.mark.points(4, task=2)
def test_time_to_show_up(replicated):
    """Broker 2 is in the ISR, broker 3 is not; neither fetches"""
    replicated.append(6, epoch=0)
    replicated.leads_without_your_code(epoch_start=6)
    reset(replicated, is_new_leader=True)
    now_ms = replicated.time.hi_res_ms()
    assert replicated.replica(2).last_caught_up_time_ms == now_ms, (
        "broker 2 is in the ISR and has a whole replica.lag.time.max.ms from now on, "
        f"not from {replicated.replica(2).last_caught_up_time_ms:g} ms"
    )
    assert replicated.replica(3).last_caught_up_time_ms == 0, (
        "broker 3 was not in sync, so no time of catching up is known: 0, not "
        f"{replicated.replica(3).last_caught_up_time_ms:g} ms"
    )
    replicated.time.sleep(9_000)
    replicated.partition.maybe_shrink_isr(10_000)
    assert replicated.isr == [1, 2], "9 of 10 seconds later broker 2 is still in the ISR"
    replicated.time.sleep(2_000)
    replicated.partition.maybe_shrink_isr(10_000)
    assert replicated.isr == [1], f"2 seconds later it is not: the ISR is {replicated.isr}"


@pytest.mark.points(4, task=2)
def test_what_it_knows_of_its_followers(replicated):
    """Broker 2 fetched up to 6 under an earlier leadership of broker 1"""
    replicated.lead(epoch=0)
    replicated.append(6, epoch=0)
    replicated.fetches(2, 6)
    replicated.fetches(3, 6)
    replicated.follow(2, epoch=1)
    replicated.append(2, epoch=1)
    replicated.lead(epoch=2, isr=(1, 2))
    assert replicated.replica(2).log_end_offset.message_offset == -1, (
        "broker 2 may have truncated its log since: make_leader calls _reset_followers with is_new_leader=True, which "
        "forgets its LEO 6"
    )
    replicated.fetches(2, 8)
    replicated.lead(epoch=3, isr=(1, 2))
    assert replicated.replica(2).log_end_offset.message_offset == 8, (
        "broker 1 led already when epoch 3 began: make_leader passes is_new_leader=False, and LEO 8 stays"
    )


@pytest.mark.points(3, task=2)
def test_not_alone_in_the_isr(replicated):
    """Broker 2 was at 6 under an earlier leadership; its log may be shorter now"""
    replicated.lead(epoch=0, isr=(1, 2))
    replicated.append(4, epoch=0)
    replicated.fetches(2, 4)
    replicated.follow(2, epoch=1)
    replicated.append(2, epoch=1)
    replicated.replica(2).update_log_end_offset(LogOffsetMetadata(6))
    replicated.lead(epoch=2, isr=(1, 2))
    assert replicated.high_watermark == 4, (
        "broker 2 has not fetched from the new leader yet, so nothing more is committed: make_leader resets the "
        "followers first, and then calls _maybe_increment_leader_high_watermark; the high watermark stays at 4, "
        f"yours is {replicated.high_watermark}"
    )
