"""Task 3: the consumer drops what was aborted, and nothing else."""

import pytest


@pytest.mark.points(8, task=3)
def test_an_aborted_transaction(read):
    """a b ABORT"""
    log = [(7, "a"), (7, "b"), (7, "ABORT")]
    assert read(log, (7, 0)) == "", f"the transaction of producer 7 was aborted: no record, not {read(log, (7, 0))}"
    log = [(7, "a"), (7, "COMMIT"), (7, "b"), (7, "ABORT")]
    found = read(log, (7, 2))
    assert found == "a", f"a was committed before the aborted transaction begins at 2: a, not {found!r}"


@pytest.mark.points(9, task=3)
def test_the_next_transaction_of_the_same_producer(read):
    """a ABORT b COMMIT c ABORT d COMMIT"""
    log = [(7, "a"), (7, "ABORT"), (7, "b"), (7, "COMMIT"), (7, "c"), (7, "ABORT"), (7, "d"), (7, "COMMIT")]
    found = read(log, (7, 4), (7, 0))
    assert found == "b d", (
        f"the abort marker ends the transaction: the next transaction of the producer is read; b d, not {found!r}"
    )


@pytest.mark.points(8, task=3)
def test_other_producers_in_between(read):
    """An aborted transaction, a committed one, and a producer without transactions"""
    log = [(7, "a"), (9, "b"), (0, "c"), (7, "d"), (9, "COMMIT"), (7, "ABORT"), (0, "e")]
    found = read(log, (7, 0))
    assert found == "b c e", f"only 7 has aborted: keep what is of another producer; b c e, not {found!r}"
    found = read([(0, "a"), (7, "b"), (0, "c"), (7, "ABORT")], (7, 1))
    assert found == "a c", f"a and c are in no transaction: a c, not {found!r}"
