"""Task 5: each batch starts where the last one ended."""

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.log.producers.producer_state_entry import ProducerStateEntry

OUT_OF_ORDER = Errors.OUT_OF_ORDER_SEQUENCE_NUMBER


@pytest.mark.points(3, task=5)
@pytest.mark.parametrize(
    ("first_seq", "why"),
    [
        pytest.param(11, "10 is missing: the previous batch is still in flight, or lost", id="a-gap"),
        pytest.param(7, "7 is already in the log, and the batch is not one of those remembered", id="a-step-back"),
        pytest.param(0, "0 is already in the log: only a new epoch starts with 0", id="from-the-beginning"),
    ],
)
def test_rejected_numbers(entry_with, appending, error_of, first_seq, why):
    """After 0 to 9, in the same epoch"""
    info = appending(entry_with((0, 9)))
    error = error_of(lambda: info._check_sequence(3, first_seq, 50))
    assert error is OUT_OF_ORDER, f"after 0 to 9 comes 10, but {first_seq} came: {why}. Not {error}"


@pytest.mark.points(4, task=5)
def test_the_next_number(entry_with, appending, error_of):
    """10 after 0 to 9; 0 after 2**31 - 1"""
    last = 2**31 - 1
    error = error_of(lambda: appending(entry_with((0, 9)))._check_sequence(3, 10, 50))
    assert error is None, f"10 follows 0 to 9, but you reject it with {error}"
    for first_seq, wanted in ((0, None), (5, OUT_OF_ORDER)):
        error = error_of(lambda first_seq=first_seq: appending(entry_with())._check_sequence(3, first_seq, 50))
        assert error is wanted, f"epoch 3 is known, a batch of it is not: it begins with 0. {first_seq} gives {error}"
    error = error_of(lambda: appending(entry_with((last, last)))._check_sequence(3, 0, 50))
    assert error is None, f"after 2147483647 the numbers start with 0 again, but you reject it with {error}"


@pytest.mark.points(5, task=5)
def test_another_epoch(entry_with, appending, error_of):
    """Epoch 4 after epoch 3"""
    for first_seq, wanted in ((0, None), (10, OUT_OF_ORDER)):
        error = error_of(lambda first_seq=first_seq: appending(entry_with((0, 9)))._check_sequence(4, first_seq, 50))
        assert error is wanted, f"a new epoch starts with 0: {first_seq} gives {wanted}, not {error}"


@pytest.mark.points(2, task=5)
def test_two_batches_of_another_epoch(entry_with, appending, batch, error_of):
    """After 0 to 9 of epoch 3: in epoch 4 a batch, or only a marker"""
    info = appending(entry_with((0, 9)))
    info.updated_entry.add_batch(4, batch(0, 2))
    for first_seq, wanted in ((3, None), (0, OUT_OF_ORDER)):
        error = error_of(lambda first_seq=first_seq: info._check_sequence(4, first_seq, 50))
        assert error is wanted, f"this append has 0 to 2 of epoch 4, so 3 comes next; {first_seq} gives {error}"
    info = appending(entry_with((0, 9), epoch=3))
    info.updated_entry.add_batch(3, batch(10, 12))
    error = error_of(lambda: info._check_sequence(4, 0, 50))
    assert error is None, f"epoch 4 begins with 0, after a batch of epoch 3 in the same append, too; you raise {error}"
    info = appending(entry_with((0, 9)))
    info.updated_entry.end_transaction(4, 0, 1000)
    for first_seq, wanted in ((0, None), (10, OUT_OF_ORDER)):
        error = error_of(lambda first_seq=first_seq: info._check_sequence(4, first_seq, 50))
        assert error is wanted, f"of epoch 4 there is a marker, but no batch yet: 0 is next; {first_seq} gives {error}"


@pytest.mark.points(2, task=5)
def test_the_second_batch_of_an_append(entry_with, appending, batch, error_of):
    """Two batches in one request"""
    info = appending(entry_with((0, 9)))
    info.updated_entry.add_batch(3, batch(10, 14))
    error = error_of(lambda: info._check_sequence(3, 15, 50))
    assert error is None, f"this append already has 10 to 14, so 15 follows; but you reject it with {error}"
    error = error_of(lambda: info._check_sequence(3, 10, 50))
    assert error is OUT_OF_ORDER, f"this append already has 10 to 14: 10 again is out of order, not {error}"


@pytest.mark.points(3, task=5)
def test_an_unknown_producer(appending, batch, error_of):
    """Its earlier records may have been deleted"""
    error = error_of(lambda: appending(ProducerStateEntry(7))._check_sequence(0, 4711, 50))
    assert error is None, f"nothing is known of the producer: any number may be next; but you reject it with {error}"
    info = appending(ProducerStateEntry(7))
    info.updated_entry.add_batch(0, batch(10, 14))
    error = error_of(lambda: info._check_sequence(0, 4711, 50))
    assert error is None, f"not even the second batch of its first append is checked; but you reject it with {error}"
