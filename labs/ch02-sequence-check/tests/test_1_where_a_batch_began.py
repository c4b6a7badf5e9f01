"""Task 1: from the last number back to the first."""

import pytest

from kafka_lite.log.producers.producer_state_entry import BatchMetadata


def first_of(last_seq, offset_delta):
    return BatchMetadata(last_seq, 100 + offset_delta, offset_delta, timestamp=1000).first_seq


@pytest.mark.points(5, task=1)
def test_one_and_five_records():
    """Batches of one record, and of five"""
    first = first_of(14, 0)
    assert first == 14, f"one record, number 14: the first is 14, not {first}; offset_delta is the count minus one"
    first = first_of(14, 4)
    assert first == 10, f"five records up to number 14: the first is 10, not {first}"


@pytest.mark.points(5, task=1)
def test_numbers_that_wrap_around():
    """A batch across the largest number"""
    first = first_of(1, 3)
    assert first == 2**31 - 2, f"2147483646, 2147483647, 0, 1: the first is 2147483646, not {first}"
