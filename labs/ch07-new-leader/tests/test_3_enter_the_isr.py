"""Task 3: a follower wants to enter the ISR of a new leader."""

import pytest


def leading(replicated, high_watermark):
    """Broker 1 leads epoch 2 since offset 4, has 6 records, and broker 2 in the ISR."""
    replicated.append(4, epoch=1)
    replicated.leads_without_your_code(epoch_start=4)
    replicated.append(2, epoch=2)
    replicated.high_watermark = high_watermark
    return replicated


@pytest.mark.points(12, task=3)
def test_not_below_the_start_of_the_epoch(replicated):
    """The high watermark is 2, the epoch began at 4; broker 3 fetches from 2"""
    leading(replicated, high_watermark=2)
    replicated.fetches(3, 2)
    assert replicated.isr == [1, 2], (
        "broker 1 had 4 records when it began to lead, and its predecessor may have committed all 4. If broker 3 "
        f"enters at 2 and then leads, they are lost (KAFKA-7128); your ISR is {replicated.isr}"
    )
    replicated.fetches(3, 3)
    assert replicated.isr == [1, 2], "3 is not enough either"
    replicated.fetches(3, 4)
    assert replicated.isr == [1, 2, 3], (
        f"at 4 it has everything that can be committed, though the leader ends at 6; your ISR is {replicated.isr}"
    )
    assert replicated.written == [[1, 2, 3]], f"written to ZooKeeper once; you wrote {replicated.written}"
    assert replicated.changes == ["EXPAND"], f"the ISR grows: IsrChange.EXPAND, not {replicated.changes}"


@pytest.mark.points(7, task=3)
def test_nor_below_the_high_watermark(replicated):
    """Much later: 8 records are committed"""
    leading(replicated, high_watermark=2)
    replicated.append(3, epoch=2)
    replicated.fetches(2, 8)
    replicated.high_watermark = 8
    replicated.fetches(3, 6)
    assert replicated.isr == [1, 2], (
        "the epoch began at 4, but 6 and 7 are committed as well: broker 3 does not have them; "
        f"your ISR is {replicated.isr}"
    )
    replicated.fetches(3, 8)
    assert replicated.isr == [1, 2, 3], (
        f"at 8 it has reached the high watermark, which is enough, and nobody else leaves; your ISR is {replicated.isr}"
    )


@pytest.mark.points(6, task=3)
def test_nothing_to_write(replicated):
    """Broker 2 is in the ISR already; then ZooKeeper refuses broker 3"""
    leading(replicated, high_watermark=2)
    replicated.fetches(2, 6)
    assert replicated.written == [], f"a member that fetches is no change of the ISR; you wrote {replicated.written}"
    replicated.refuses = True
    replicated.fetches(3, 6)
    assert replicated.isr == [1, 2], "ZooKeeper has a newer state: broker 3 is not in the ISR"
