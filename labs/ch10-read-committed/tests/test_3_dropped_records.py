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


@pytest.mark.points(7, task=3)
def test_the_next_transaction_of_the_same_producer(read):
    """a ABORT b COMMIT c ABORT d COMMIT"""
    log = [(7, "a"), (7, "ABORT"), (7, "b"), (7, "COMMIT"), (7, "c"), (7, "ABORT"), (7, "d"), (7, "COMMIT")]
    found = read(log, (7, 4), (7, 0))
    assert found == "b d", (
        f"the abort marker ends the transaction: the next transaction of the producer is read; b d, not {found!r}"
    )


@pytest.mark.points(4, task=3)
def test_other_producers_in_between(read):
    """An aborted transaction, a committed one, and a producer without transactions"""
    log = [(7, "a"), (9, "b"), (0, "c"), (7, "d"), (9, "COMMIT"), (7, "ABORT"), (0, "e")]
    found = read(log, (7, 0))
    assert found == "b c e", f"only 7 has aborted: keep what is of another producer; b c e, not {found!r}"
    found = read([(0, "a"), (7, "b"), (0, "c"), (7, "ABORT")], (7, 1))
    assert found == "a c", f"a and c are in no transaction: a c, not {found!r}"


@pytest.mark.points(4, task=3)
def test_a_fetch_from_the_middle(read):
    """It begins at 10; aborted transactions of 7 and 9 began before"""
    found = read([(9, "a"), (7, "b"), (7, "ABORT"), (9, "ABORT")], (7, 5), (9, 6), start=10)
    assert found == "", f"both began before offset 10, so both are open at the first batch: no record, not {found!r}"
    found = read([(7, "ABORT"), (7, "b"), (7, "COMMIT")], (7, 8), start=10)
    assert found == "b", f"the marker at 10 ends what began at 8, and b is in the next one: b, not {found!r}"
    try:
        found = read([(7, "ABORT"), (0, "a")], start=10)
    except KeyError:
        pytest.fail("an abort marker may end a transaction that has no record here: discard does not mind, remove does")
    assert found == "a", f"the marker at 10 ends a transaction without records: a, not {found!r}"


@pytest.mark.points(2, task=3)
def test_aborted_transactions_in_any_order(read):
    """Those that begin at 0, 10, 2 and 4; and a batch that is in no transaction"""
    aborted = {0: (7, "a"), 2: (11, "b"), 4: (13, "c"), 10: (9, "d")}
    log = []
    for offset in range(12):
        before = aborted.get(offset - 1)
        log.append(aborted.get(offset) or ((before[0], "ABORT") if before else (0, "x")))
    found = read(log, (7, 0), (9, 10), (11, 2), (13, 4))
    assert found == "x x x x", (
        f"all four were aborted: take each transaction at its first offset, the smallest first (a heap); {found}"
    )
    found = read([(0, "a"), (0, "b")], (0, 0))
    assert found == "a b", f"batches that are not transactional belong to no transaction: a b, not {found!r}"
