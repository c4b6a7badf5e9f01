"""Task 4: one batch per partition, no more than fit into a request, and every partition gets its turn."""

from collections import deque

import pytest

from kafka_learn.labs.locks import touched_only_with
from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo


@pytest.mark.points(4, task=4)
def test_one_batch_of_each_partition(new_accumulator, numbers_in):
    """Three batches in t-0, one in t-1, one in t-2"""
    accumulator = new_accumulator()
    accumulator.fill(range(12), partition=0)
    accumulator.fill(range(100, 104), partition=1)
    accumulator.fill(range(200, 204), partition=2)
    drained = accumulator.take(node=0)
    partitions = sorted(batch.topic_partition.partition for batch in drained)
    assert partitions == [0, 1], f"broker 0 leads t-0 and t-1: one batch of each, but you drained those of {partitions}"
    first = next(batch for batch in drained if batch.topic_partition.partition == 0)
    assert numbers_in(first) == [0, 1, 2, 3], (
        f"the oldest batch is sent first; yours has the records {numbers_in(first)}"
    )
    assert all(batch.in_flight for batch in drained), "a drained batch is in flight: batch.in_flight"


@pytest.mark.points(3, task=4)
def test_no_more_than_fits_into_a_request(new_accumulator):
    """max_size_bytes for one batch, and for less than one"""
    accumulator = new_accumulator()
    accumulator.fill(range(4), partition=0)
    accumulator.fill(range(4), partition=1)
    count = len(accumulator.take(max_bytes=700))
    assert count == 1, (
        f"two batches of about 480 bytes are more than 700: one is drained, the other waits; you drained {count}"
    )
    count = len(accumulator.take(max_bytes=10))
    assert count == 1, "a batch that alone exceeds the limit is drained alone, or it would never be sent"
    accumulator = new_accumulator()
    accumulator.fill(range(4), partition=0)
    accumulator.fill(range(4), partition=1)
    both = sum(queue[0].size_in_bytes for queue in accumulator._batches.values())
    count = len(accumulator.take(max_bytes=both))
    assert count == 2, f"two batches of {both} bytes together fit exactly into {both}: both are drained, not {count}"


@pytest.mark.points(2, task=4)
def test_a_batch_without_room_is_the_first_of_the_next_request(new_accumulator):
    """A small batch, a large one, a small one"""
    node = Node(0, "a", 1)
    cluster = Cluster((node,), tuple(PartitionInfo("t", number, node) for number in range(3)))
    accumulator = new_accumulator()
    for partition, size in ((0, 100), (1, 2000), (2, 100)):
        accumulator.add(7, partition, size)

    def partitions_of_next():
        drained = accumulator.drain(cluster, [node], 1000, accumulator.time.hi_res_ms())[0]
        return [batch.topic_partition.partition for batch in drained]

    first, second = partitions_of_next(), partitions_of_next()
    assert first == [0], (
        f"the batch of t-1 has no room behind that of t-0: the request ends there, but yours has those of {first}. "
        "If smaller batches overtake it, it may wait for ever"
    )
    assert second == [1], f"t-1 had no room in the first request: the second one begins with it, not with {second}"


@pytest.mark.points(1, task=4)
def test_the_queues_are_only_touched_with_the_lock(new_accumulator):
    """The lock is held where a batch leaves its queue"""
    accumulator = new_accumulator()
    accumulator.fill(range(8))
    held = []

    class Queue(deque):
        def popleft(self):
            held.append(accumulator._lock.is_held())
            return super().popleft()

    accumulator._batches.update({each: Queue(queue) for each, queue in accumulator._batches.items()})
    with touched_only_with(accumulator, "_lock", state=["_batches"], within=["_drain_node"]):
        accumulator.take()
    assert held == [True], (
        "a batch leaves its queue with the lock held: between your look at the queue and popleft, a thread that sends "
        "may insert another one before it"
    )


@pytest.mark.points(2, task=4)
def test_no_partition_starves(new_accumulator):
    """Requests for one batch, two busy partitions"""
    accumulator = new_accumulator()
    accumulator.fill(range(20), partition=0)
    accumulator.fill(range(20), partition=1)
    turns = [accumulator.take(max_bytes=10)[0].topic_partition.partition for _ in range(4)]
    assert set(turns) == {0, 1}, f"four requests for one batch each, all to t-{turns[0]}: the other partition starves"


@pytest.mark.points(3, task=4)
def test_batches_that_must_not_be_drained(new_accumulator):
    """Muted partitions, and backoffs"""
    accumulator = new_accumulator()
    accumulator.fill(range(8))
    (batch,) = accumulator.take()
    accumulator.mute_partition(batch.topic_partition)
    assert accumulator.take() == [], (
        "the partition is muted because a batch of it is in flight: drain nothing (_may_drain)"
    )
    left = [len(queue) for queue in accumulator._batches.values()]
    assert left == [1], f"a batch that is not drained stays in its queue: one of a muted partition is lost, {left} left"
    accumulator.unmute_partition(batch.topic_partition)
    accumulator.reenqueue(batch, accumulator.time.hi_res_ms())
    assert accumulator.take() == [], "the first batch is in its backoff: nothing behind it may overtake it (_may_drain)"
    left = [len(queue) for queue in accumulator._batches.values()]
    assert left == [2], f"a batch in its backoff stays in its queue, first of two: yours has {left}"


@pytest.mark.points(3, task=4)
def test_compression_happens_without_the_lock(new_accumulator):
    """close, outside of the lock"""
    accumulator = new_accumulator()
    accumulator.fill(range(4))
    held = []
    close = accumulator._close
    accumulator._close = lambda batch: held.append(accumulator._lock.locked()) or close(batch)
    accumulator.take()
    assert held, "a drained batch must be closed: self._close(batch)"
    assert held == [False], "_close compresses a whole batch: with the lock held, all threads that append wait for it"
    accumulator.fill(range(4))
    accumulator._close = lambda _batch: False
    assert accumulator.take() == [], "_close returns False for a batch that could not be encoded: it is not to be sent"


@pytest.mark.points(2, task=4)
def test_numbers(new_accumulator):
    """An idempotent producer numbers its batches"""
    accumulator = new_accumulator(idempotent=True)
    accumulator.fill(range(4))
    (batch,) = accumulator.take()
    assert batch.has_sequence, "a drained batch gets its sequence number before it is sent (self._transactions.number)"
