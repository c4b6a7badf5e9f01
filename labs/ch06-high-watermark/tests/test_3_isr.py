"""Task 3: replicas leave and enter the ISR."""

import pytest

from kafka_lite.cluster.isr_writes import IsrChange
from kafka_lite.cluster.partition import PartitionState


@pytest.mark.points(5, task=3)
def test_a_lagging_follower_leaves(leading):
    """Broker 3 does not fetch for longer than the limit"""
    leading.append(3)
    leading.fetches(2, 3)
    leading.time.sleep(5_000)
    leading.fetches(2, 3)
    leading.time.sleep(6_000)
    moved = leading.shrinks(10_000)
    assert leading.written == [[1, 2]], f"broker 3 leaves: ISR [1, 2] goes to ZooKeeper; you wrote {leading.written}"
    assert leading.isr == [1, 2], f"and the leader remembers it; its ISR is {leading.isr}"
    assert leading.high_watermark == 3, (
        "without broker 3 the smallest LEO is 3: the shrink itself commits three records; "
        f"your high watermark is {leading.high_watermark}"
    )
    assert moved is True, "the high watermark moved: return True, since producers wait for that"
    assert leading.changes == [IsrChange.SHRINK], f"the ISR becomes smaller: a SHRINK; yours {leading.changes}"


@pytest.mark.points(4, task=3)
def test_zookeeper_refuses(leading):
    """The controller has written in the meantime"""
    leading.append(3)
    leading.fetches(2, 3)
    leading.time.sleep(20_000)
    leading.refuses = True
    moved = leading.shrinks(10_000)
    assert leading.isr == [1, 2, 3], f"the ISR could not be written, so it stays [1, 2, 3]; yours is {leading.isr}"
    assert leading.high_watermark == 0, "nothing changed, so nothing is committed"
    assert moved is False, "nothing moved: return False"
    assert leading.refused == 1, f"the same write is refused again: once is enough; you wrote {leading.refused} times"


@pytest.mark.points(3, task=3)
def test_a_shrink_that_commits_nothing(leading):
    """Broker 3 lags, but nobody has more than what is committed; and a broker that leads no more"""
    leading.append(3)
    leading.fetches(2, 3)
    leading.high_watermark = 3
    leading.time.sleep(6_000)
    leading.fetches(2, 3)
    leading.time.sleep(6_000)
    moved = leading.shrinks(10_000)
    assert leading.isr == [1, 2], f"broker 3 leaves: the ISR is [1, 2], not {leading.isr}"
    assert moved is False, "the ISR shrank, but the high watermark was 3 and stays 3: return False"
    leading.partition.make_follower(PartitionState(1, 2, 1, [1, 2], 1, [1, 2, 3]))
    try:
        moved = leading.shrinks(0)
    except AttributeError as error:
        pytest.fail(f"a broker that does not lead has no ISR to shrink: return False; {error}")
    assert moved is False, "a broker that does not lead has no ISR to shrink: return False"


@pytest.mark.points(2, task=3)
def test_an_expansion_that_is_refused(leading_with):
    """And one that is written in time"""
    leading = leading_with(1)
    leading.append(6)
    leading.high_watermark = 4
    leading.refuses = True
    leading.fetches(3, 4)
    assert leading.isr == [1], f"the ISR could not be written, so it stays [1]; yours is {leading.isr}"
    assert leading.refused <= 1, (
        "ZooKeeper has another state than the leader believes, so the same write is refused again: wait for the "
        f"controller and the next fetch; you wrote {leading.refused} times"
    )
    leading.refuses, leading.high_watermark = False, 4
    leading.fetches(3, 4)
    assert leading.isr == [1, 3], (
        "broker 3 has all that is committed, 4: it enters, and only then the high watermark may move; yours: "
        f"ISR {leading.isr}, high watermark {leading.high_watermark}"
    )
    assert leading.high_watermark == 4, f"with broker 3 in the ISR it stays 4, not {leading.high_watermark}"
    assert leading.changes == [IsrChange.EXPAND], f"the ISR becomes larger: an EXPAND; yours {leading.changes}"


@pytest.mark.points(4, task=3)
def test_a_new_leader(leading_with):
    """Broker 1 had 4 records when it began to lead; its high watermark is still 2"""
    leading = leading_with(1, 2)
    leading.append(4)
    leading.high_watermark = 2
    leading.partition.make_follower(PartitionState(1, 2, 1, [1, 2], 1, [1, 2, 3]))
    leading.partition.make_leader(PartitionState(1, 1, 2, [1, 2], 2, [1, 2, 3]))
    leading.fetches(3, 2)
    assert leading.isr == [1, 2], (
        "what the leader had when it began to lead may be committed, though its high watermark does not say so yet: "
        f"broker 3 may not enter at 2; your ISR is {leading.isr}"
    )
    leading.fetches(3, 4)
    assert leading.isr == [1, 2, 3], f"at 4 it has all of that: it enters; your ISR is {leading.isr}"


@pytest.mark.points(3, task=3)
def test_back_at_the_high_watermark(leading_with):
    """Broker 3 catches up: to 2, to 4; the high watermark is 4, the leader ends at 6"""
    leading = leading_with(1, 2)
    leading.append(6)
    leading.fetches(2, 4)
    leading.fetches(3, 2)
    assert leading.isr == [1, 2], f"broker 3 lacks committed records: it may not enter; your ISR is {leading.isr}"
    leading.fetches(3, 4)
    assert leading.isr == [1, 2, 3], (
        f"broker 3 has everything that is committed: it enters, though the leader ends at 6; your ISR is {leading.isr}"
    )
    assert leading.written == [[1, 2, 3]], f"written to ZooKeeper once; you wrote {leading.written}"


@pytest.mark.points(4, task=3)
def test_nothing_to_write(leading):
    """All are in sync: fetches and checks write nothing"""
    leading.append(1)
    for follower in (2, 3):
        leading.fetches(follower, 1)
    leading.time.sleep(60_000)
    shrunk = leading.shrinks(10_000)
    assert shrunk is False, f"all of the ISR are at the end of the log, nobody leaves it: return False, not {shrunk}"
    assert leading.isr == [1, 2, 3], "nothing was written for a minute: followers at the end do not lag"
    assert leading.written == [], f"a member that fetches is no change of the ISR; you wrote {leading.written}"
