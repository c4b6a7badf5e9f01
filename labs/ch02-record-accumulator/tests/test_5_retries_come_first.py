"""Task 5: a retried batch goes first, in the order of its sequence number."""

import pytest


@pytest.mark.points(3, task=5)
def test_before_all_unsent_batches(new_accumulator, numbers_in):
    """Without sequence numbers: to the left"""
    accumulator = new_accumulator()
    accumulator.fill(range(8))
    (batch,) = accumulator.take()
    accumulator.reenqueue(batch, accumulator.time.hi_res_ms())
    accumulator.time.sleep(100)
    (again,) = accumulator.take()
    assert again is batch, f"records {numbers_in(again)} overtook 0 to 3: a retry goes to the left"


@pytest.mark.points(3, task=5)
@pytest.mark.parametrize("order", [(1, 2), (2, 1)], ids=["second-then-third", "third-then-second"])
def test_in_the_order_of_their_sequence_numbers(new_accumulator, order):
    """Two failed batches return in either order"""
    accumulator = new_accumulator(idempotent=True)
    accumulator.fill(range(16))
    batches = []
    for _ in range(3):
        batches += accumulator.take()
        if len(batches) == 1:  # one at a time until the broker has responded for the first time
            batches[0].in_flight = False
            accumulator._transactions.completed(batches[0])
    for number in order:
        accumulator.reenqueue(batches[number], accumulator.time.hi_res_ms())
    (queue,) = accumulator._batches.values()
    wanted = [batches[1].base_sequence, batches[2].base_sequence]
    sequences = [batch.base_sequence for batch in queue][:2]
    assert sequences == wanted, f"the broker accepts {wanted} in this order only; the queue has {sequences}"
    assert not queue[2].has_sequence, "batches without a sequence number come after all that have one"


@pytest.mark.points(1, task=5)
def test_nothing_is_queued_after_it(new_accumulator):
    """Two failed batches, and no other: the later one becomes the last of the queue"""
    accumulator = new_accumulator(idempotent=True)
    accumulator.fill(range(4))
    batches = accumulator.take()
    batches[0].in_flight = False
    accumulator._transactions.completed(batches[0])
    accumulator.fill(range(8))
    batches = [*accumulator.take(), *accumulator.take()]
    for batch in batches:
        try:
            accumulator.reenqueue(batch, accumulator.time.hi_res_ms())
        except IndexError:
            pytest.fail("all batches of the queue have smaller numbers: the search for a place ends with the queue")
    (queue,) = accumulator._batches.values()
    assert list(queue) == batches, "both were put back, the earlier number first"
