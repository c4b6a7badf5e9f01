"""Task 3: how large a batch may be, and when the stream has caught up."""

import random

import pytest

from kafka_learn.labs.raising import must_raise
from pipeline.tuning.volume import CatchUp, Cost, catch_up, limit_for

COST = Cost(1.0, 0.01)


@pytest.mark.points(6, task=3)
def test_the_limit_for_a_time():
    """Ten seconds, of which one is fixed"""
    got = limit_for(COST, 10.0)
    assert got != 1000, "the fixed second is there too: 9 s are left for records"
    assert got == 900, f"900 records take 1 + 9 s, you say {got}"
    got = limit_for(Cost(0.5, 0.3), 2.0 + 0.29)
    assert got == 5, f"five records take 2 s and six 2.3 s, which is more than 2.29 s: 5, not {got}"
    assert isinstance(got, int), f"a limit is a whole number, not {got}"


@pytest.mark.points(4, task=3)
def test_no_limit_makes_a_batch_shorter_than_its_fixed_part():
    """Half a second, and exactly one record"""
    got = limit_for(Cost(1.0, 0.5), 1.5)
    assert got == 1, f"a batch of one record takes 1.5 s: the limit is 1, not {got}"
    for seconds in (0.5, 1.0, 1.25):
        must_raise(ValueError, f"no batch with a record takes {seconds} s or less", limit_for, Cost(1.0, 0.5), seconds)


def simulated(cost, limit, behind, arriving_per_s):
    """Batch by batch."""
    count, seconds, waiting = 0, 0.0, float(behind)
    while waiting > limit:
        taken = cost.of(limit)
        count, seconds, waiting = count + 1, seconds + taken, waiting - limit + arriving_per_s * taken
        if count > 10_000:
            return None
    return CatchUp(count + 1, seconds + cost.of(waiting))


def must_catch_up(limit, behind, arriving_per_s):
    got, want = catch_up(COST, limit, behind, arriving_per_s), simulated(COST, limit, behind, arriving_per_s)
    words = f"limit {limit}, {behind} behind, {arriving_per_s} arriving a second"
    assert want is not None
    assert got is not None, f"{words}: batch by batch it takes {want}, and you say it never catches up"
    assert got.batches == want.batches, f"{words}: batch by batch it takes {want.batches} batches, not {got.batches}"
    assert got.seconds == pytest.approx(want.seconds), (
        f"{words}: batch by batch it takes {want.seconds:.2f} s, not {got.seconds:.2f}. The last batch is not full"
    )


@pytest.mark.points(4, task=3)
def test_nothing_arrives():
    """1,000 behind, 300 a batch"""
    must_catch_up(300, 1000, 0)
    must_catch_up(300, 900, 0)
    must_catch_up(300, 300, 0)
    must_catch_up(300, 1, 0)


@pytest.mark.points(6, task=3)
def test_others_arrive_meanwhile():
    """20 cases from a seed"""
    rnd = random.Random(352)
    for _ in range(20):
        limit = rnd.randrange(100, 900)
        must_catch_up(limit, rnd.randrange(1, 20_000), rnd.randrange(0, int(limit / COST.of(limit))))


@pytest.mark.points(4, task=3)
def test_a_stream_that_never_catches_up():
    """100 a batch of two seconds, 50 arriving a second"""
    got = catch_up(COST, 100, 1000, 50)
    assert got is None, f"a batch reads 100, and 100 arrive meanwhile: never, None, not {got}"
    got = catch_up(COST, 100, 1000, 80)
    assert got is None, f"more arrive than a batch reads: never, None, not {got}"
    got = catch_up(COST, 100, 100, 80)
    assert got == CatchUp(1, 2.0), f"one batch reads all 100 that wait, whatever arrives meanwhile: not {got}"
    got = catch_up(COST, 100, 0, 80)
    assert got == CatchUp(0, 0.0), f"nothing waits: no batch, no seconds, not {got}"
