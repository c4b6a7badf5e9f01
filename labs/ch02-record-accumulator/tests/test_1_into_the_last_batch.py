"""Task 1: a record goes into the newest batch of its partition, if there is room."""

import pytest

from kafka_lite.common.topic_partition import TopicPartition


def append_to(accumulator, batches, number=9):
    """The result of ``_try_append`` with a queue of batches."""
    partition = TopicPartition("t", 0)
    accumulator._batches[partition] = batches
    return accumulator._try_append(partition, (1000, None, b"%03d" % number, (), None))


class Batch:
    """Stands in for a batch with room for ``room`` records."""

    def __init__(self, room):
        self.room, self.taken = room, 0

    def try_append(self, *_fields):
        if self.taken == self.room:
            return None
        self.taken += 1
        return f"future {self.taken}"

    @property
    def is_full(self):
        return self.taken == self.room


@pytest.mark.points(3, task=1)
def test_there_is_no_batch_yet(new_accumulator):
    """No batch to append to"""
    accumulator = new_accumulator()
    unknown = accumulator._try_append(TopicPartition("t", 1), (1000, None, b"1", (), None))
    assert unknown is None, f"the partition has no queue yet, so there is no batch: None, not {unknown}"
    empty = append_to(accumulator, [])
    assert empty is None, f"all batches of the partition were drained, so there is no batch: None, not {empty}"


@pytest.mark.points(4, task=1)
def test_the_newest_batch_gets_the_record(new_accumulator):
    """Two batches in the queue"""
    old, new = Batch(room=5), Batch(room=5)
    result = append_to(new_accumulator(), [old, new])
    assert old.taken == 0, "the record went into an older batch: only appending to the newest one keeps the order"
    assert new.taken == 1, "the record belongs in the newest batch, the last of the queue"
    assert result.future == "future 1", f"the result has the batch's future, not {result.future!r}"
    assert not result.new_batch_created, "no batch was created"


@pytest.mark.points(4, task=1)
def test_when_a_batch_is_ready_to_send(new_accumulator):
    """batch_is_full"""
    assert not append_to(new_accumulator(), [Batch(room=2)]).batch_is_full, "one record of two: no batch is full yet"
    assert append_to(new_accumulator(), [Batch(room=1)]).batch_is_full, "the batch is full now"
    none = append_to(new_accumulator(), [Batch(room=0)])
    assert none is None, "the record does not fit: None, so that another batch is created"


@pytest.mark.points(4, task=1)
def test_a_closed_producer_accepts_nothing(new_accumulator, closed_error_of):
    """After close"""
    accumulator = new_accumulator()
    accumulator.close()
    error = closed_error_of(lambda: append_to(accumulator, [Batch(room=5)]))
    assert error, (
        "the producer is closed: raise ProducerClosedError, or the record waits for a sender that no longer runs"
    )
