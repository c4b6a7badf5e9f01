"""Task 2: RecordQueue."""

import pytest

from kafka_learn.labs.raising import must_raise
from kafka_lite.streams.processor.timestamp_extractor import TimestampExtractor


@pytest.mark.points(8, task=2)
def test_first_in_first_out(queue_of, records):
    """Offsets decide, not timestamps"""
    queue = queue_of("left")
    assert queue.add_raw_records(records("left", 9, 2, 7)) == 3, "returns the new length"
    order = [queue.poll().timestamp for _ in range(3)]
    assert order == [9, 2, 7], f"the records of a partition keep the order of their offsets: 9, 2, 7; yours is {order}"
    must_raise(IndexError, "an empty queue has no next record", queue.poll)


@pytest.mark.points(9, task=2)
def test_the_time_of_the_queue(queue_of, records):
    """The smallest timestamp in it; it never goes back"""
    queue = queue_of("left")
    queue.add_raw_records(records("left", 9, 2, 7))
    assert queue.timestamp == 2, f"the time is the smallest timestamp, 2, not {queue.timestamp}"
    times = []
    for _ in range(3):
        queue.poll()
        times.append(queue.timestamp)
    assert times == [2, 7, 7], f"after each poll the time is 2, 7, 7; yours is {times}: does poll tell the tracker?"
    queue.add_raw_records(records("left", 1))
    assert queue.timestamp == 7, f"a late record does not move the time back: 7, not {queue.timestamp}"


@pytest.mark.points(8, task=2)
def test_invalid_times(queue_of, records):
    """A negative time drops the record; the extractor learns the time before it"""
    queue = queue_of("left")
    assert queue.add_raw_records(records("left", 5, -1, 6)) == 2, "a record with a negative time is left out"

    class Asked(TimestampExtractor):
        def __init__(self):
            self.previous = []

        def extract(self, record, previous_timestamp):
            self.previous.append(previous_timestamp)
            return record.timestamp

    extractor = Asked()
    queue_of("left", extractor).add_raw_records(records("left", 5, 3, 6))
    assert extractor.previous == [-1, 5, 3], (
        f"extract gets the tracker's time before the record: -1, 5, 3; yours gives {extractor.previous}"
    )
