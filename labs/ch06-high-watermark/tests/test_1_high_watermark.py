"""Task 1: the smallest LEO of the ISR."""

import pytest


def move(leading):
    return leading.partition._maybe_increment_leader_high_watermark(leading.leader)


@pytest.mark.points(6, task=1)
def test_smallest_of_the_isr(leading):
    """The leader has 5 records, its followers 3 and 4"""
    leading.append(5)
    leading.knows(2, 3)
    leading.knows(3, 4)
    moved = move(leading)
    assert leading.high_watermark == 3, (
        f"all of the ISR have everything below 3, and no more: HW 3, not {leading.high_watermark}"
    )
    assert moved is True, "the high watermark moved from 0 to 3: return True"


@pytest.mark.points(6, task=1)
def test_only_the_isr_counts(leading_with):
    """Broker 3 has nothing, and is not in the ISR"""
    leading = leading_with(1, 2)
    leading.append(5)
    leading.knows(2, 4)
    leading.knows(3, 0)
    move(leading)
    assert leading.high_watermark == 4, (
        f"broker 3 is not in the ISR, so nobody waits for it: HW 4, not {leading.high_watermark}"
    )


@pytest.mark.points(2, task=1)
def test_alone_in_the_isr(leading_with):
    """The leader is in its ISR, too"""
    leading = leading_with(1)
    leading.append(5)
    move(leading)
    assert leading.high_watermark == 5, (
        f"the ISR is the leader alone, whose log ends at 5: HW 5, not {leading.high_watermark}"
    )


@pytest.mark.points(6, task=1)
def test_never_back(leading):
    """A follower reports less than the high watermark"""
    leading.append(5)
    leading.high_watermark = 4
    leading.knows(2, 5)
    leading.knows(3, 2)
    moved = move(leading)
    assert leading.high_watermark == 4, (
        f"consumers have read up to 4: the high watermark never moves back, but yours is {leading.high_watermark}"
    )
    assert moved is False, "the high watermark did not move: return False, or waiting requests are checked in vain"
