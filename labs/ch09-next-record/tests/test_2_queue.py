"""Task 2: RecordQueue."""

import pytest

from kafka_learn.labs.raising import must_raise
from kafka_lite.streams.processor.timestamp_extractor import TimestampExtractor


@pytest.mark.points(8, task=2)
def test_first_in_first_out(queue_of, records):
    """Offsets decide, not timestamps"""
    queue = queue_of("left")
    assert queue.add_raw_records(records("left", 9, 2, 7)) == 3, "returns the new length"
    length = queue.add_raw_records(records("left", 8))
    assert length == 4, f"three records wait, and one more: the new length is 4, not {length}"
    order = [queue.poll().timestamp for _ in range(4)]
    assert order == [9, 2, 7, 8], f"the records of a partition keep the order of their offsets: 9, 2, 7, 8; not {order}"
    must_raise(IndexError, "an empty queue has no next record", queue.poll)


@pytest.mark.points(7, task=2)
def test_the_time_of_the_queue(queue_of, records):
    """The smallest timestamp in it; it never goes back"""
    queue = queue_of("left")
    queue.add_raw_records(records("left", 9, 2, 7))
    assert queue.timestamp == 2, (
        f"the time is the smallest timestamp, 2, once all three are added; yours is {queue.timestamp}"
    )
    times = []
    for _ in range(3):
        queue.poll()
        times.append(queue.timestamp)
    assert times == [2, 7, 7], f"after each poll the time is 2, 7, 7; yours is {times}: does poll tell the tracker?"
    queue.add_raw_records(records("left", 1))
    assert queue.timestamp == 7, f"a late record does not move the time back: 7, not {queue.timestamp}"


@pytest.mark.points(6, task=2)
def test_invalid_times(queue_of, records):
    """A negative time drops the record; the extractor learns the time before it"""
    queue, dropped = queue_of("left"), []
    queue._drop = lambda record, timestamp: dropped.append((record.offset, timestamp))
    length = queue.add_raw_records(records("left", 5, -1, 0))
    assert length == 2, f"a record with a negative time is left out, one with 0 or behind it is not: 2, not {length}"
    assert dropped == [(1, -1)], (
        f"the record at 1 is left out, which is counted and logged: self._drop(record, timestamp); yours: {dropped}"
    )

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


@pytest.mark.points(4, task=2)
def test_what_is_deserialized(queue_of, records):
    """It may be skipped, and has a value and time of its own"""

    def deserialize(record):
        return None if record.timestamp == 2 else record._replace(value=record.value.decode())

    class Tenfold(TimestampExtractor):
        def extract(self, record, _previous_timestamp):
            assert isinstance(record.value, str), "the extractor gets the deserialized record: it may look at the value"
            return 10 * record.timestamp

    queue = queue_of("left", Tenfold(), deserialize)
    length = queue.add_raw_records(records("left", 1, 2, 3))
    assert length == 2, f"a record that _deserialize skips is left out, what is behind it is not: 2, not {length}"
    found = [queue.poll() for _ in range(2)]
    assert [each.record.value for each in found] == ["1", "3"], "the queue has deserialized records, not the raw ones"
    times = [each.timestamp for each in found]
    assert times == [10, 30], f"the time of a record is what the extractor says: 10, 30; yours: {times}"
