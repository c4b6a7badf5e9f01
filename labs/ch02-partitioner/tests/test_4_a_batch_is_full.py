"""Task 4: switch to another partition, once."""

import pytest

from kafka_lite.producer.partitioner import DefaultPartitioner


@pytest.mark.points(5, task=4)
def test_it_switches(cluster_of, dice):
    """A new batch is needed"""
    partitioner, cluster = DefaultPartitioner(dice(0, 1)), cluster_of(t=[0, 0, 0])
    partitioner._sticky["t"] = 0
    again = partitioner.on_new_batch("t", cluster, 0)
    assert again is True, "the record has no batch yet: the producer must call partition again (return True)"
    assert partitioner._sticky.get("t") == 1, (
        "the batch of partition 0 was full: records without a key switch to another partition"
    )


@pytest.mark.points(5, task=4)
def test_two_threads_find_it_full(cluster_of, dice):
    """Two threads call, for the same batch"""
    partitioner, cluster = DefaultPartitioner(dice(0, 1)), cluster_of(t=[0, 0, 0])
    partitioner._sticky["t"] = 0
    partitioner.on_new_batch("t", cluster, 0)
    moved = partitioner._sticky.get("t")
    returned = partitioner.on_new_batch("t", cluster, 0)
    assert returned is True, "the record of the second thread has no batch either: partition is called again (True)"
    again = partitioner._sticky.get("t")
    assert again == moved, (
        f"the first thread switched to {moved}, the second to {again}: a batch with one record is left behind"
    )
