"""Task 3: full, old, or to be flushed; but never during a backoff."""

import pytest


@pytest.mark.points(5, task=3)
def test_lingering(new_accumulator):
    """A batch waits for linger.ms"""
    accumulator = new_accumulator()
    accumulator.add(1)
    accumulator.time.sleep(4)
    ready, delay_ms = accumulator.ready_now()
    assert ready == set(), "4 of 10 ms have passed and the batch is not full: its broker is not ready"
    assert delay_ms == 6, f"6 ms are left of linger.ms: check again then (next_ready_check_delay_ms), not in {delay_ms}"
    accumulator.time.sleep(6)
    assert accumulator.ready_now()[0] == {0}, "after linger.ms the batch is ready, full or not"


@pytest.mark.points(3, task=3)
def test_the_smallest_delay_counts(new_accumulator):
    """Two partitions, one older"""
    accumulator = new_accumulator()
    accumulator.add(1, partition=2)
    accumulator.time.sleep(3)
    accumulator.add(2, partition=0)
    delay_ms = accumulator.ready_now()[1]
    assert delay_ms == 7, f"t-2 is due in 7 ms, t-0 in 10: check again in 7, the smaller of the two, not in {delay_ms}"


@pytest.mark.points(4, task=3)
def test_a_full_batch_is_ready_at_once(new_accumulator):
    """A full batch, and one behind it"""
    accumulator = new_accumulator()
    accumulator.add(1)
    accumulator.add(2, size=250)
    assert accumulator.ready_now()[0] == set(), "no batch is full yet"
    accumulator.add(3)
    (queue,) = accumulator._batches.values()
    assert len(queue) == 2, "(the third record must not fit into the first batch)"
    assert accumulator.ready_now()[0] == {0}, "there is a second batch behind it: the first one accepts no more records"
    alone = new_accumulator()
    alone.add(1, size=2000)
    assert alone.ready_now()[0] == {0}, "a single batch that is full is ready, too, at once"


@pytest.mark.points(4, task=3)
def test_a_flush_does_not_linger(new_accumulator):
    """begin_flush"""
    accumulator = new_accumulator()
    accumulator.add(1)
    accumulator.begin_flush()
    assert accumulator.ready_now()[0] == {0}, "a thread waits for a flush, so linger.ms does not count"


@pytest.mark.points(4, task=3)
def test_a_backoff_always_counts(new_accumulator):
    """A batch that failed, with a full one behind it"""
    accumulator = new_accumulator()
    accumulator.fill(range(8))
    (batch,) = accumulator.take()
    accumulator.reenqueue(batch, accumulator.time.hi_res_ms())
    accumulator.begin_flush()
    accumulator.time.sleep(40)
    ready, delay_ms = accumulator.ready_now()
    assert ready == set(), "60 ms of the backoff are left: neither a flush nor a full batch behind it shortens it"
    assert delay_ms == 60, f"check again when the backoff is over, in 60 ms, not in {delay_ms}: a retry does not linger"
    accumulator.time.sleep(60)
    assert accumulator.ready_now()[0] == {0}, "the backoff is over"
