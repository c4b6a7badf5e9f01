"""Task 2: what a leader knows of its followers when it begins."""

import pytest

from kafka_lite.log.log_offset_metadata import LogOffsetMetadata


def reset(replicated, is_new_leader):
    replicated.partition._reset_followers(replicated.replica(), is_new_leader)


@pytest.mark.points(10, task=2)
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


@pytest.mark.points(6, task=2)
def test_the_same_leader_keeps_what_it_knows(replicated):
    """A newer epoch, the same leader"""
    replicated.append(6, epoch=0)
    replicated.leads_without_your_code(epoch_start=6)
    replicated.replica(2).update_log_end_offset(LogOffsetMetadata(5))
    reset(replicated, is_new_leader=False)
    assert replicated.replica(2).log_end_offset.message_offset == 5, (
        "it led already, so broker 2 told this very leader: LEO 5 stays, or producers wait for one more fetch"
    )


@pytest.mark.points(9, task=2)
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
