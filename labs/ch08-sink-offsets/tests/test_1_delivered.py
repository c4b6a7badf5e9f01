"""Task 1: consumed, then delivered."""

import pytest


@pytest.mark.points(8, task=1)
def test_a_batch(books):
    """Records 3 and 4 of partition 0, then a put"""
    books.of.assigned({books.p0: 3, books.p1: 7})
    assert (books.current, books.committed) == ([3, 7], [3, 7]), (
        f"the positions are current and committed: 3 and 7; yours: {books.current}, {books.committed}"
    )
    books.of.consumed(books.p0, 3)
    books.of.consumed(books.p0, 4)
    assert books.current == [3, 7], f"nothing was put yet: current is 3 and 7, not {books.current}"
    books.of.delivered()
    found = books.current
    assert found[0] == 5, f"records 3 and 4 were put: the next record is 5, not {found[0]}"
    assert found[1] == 7, f"partition 1 had no record in the batch: it stays at 7; yours: {found[1]}"


@pytest.mark.points(8, task=1)
def test_two_dicts(books):
    """current moves, committed does not"""
    books.of.assigned({books.p0: 0})
    books.of.consumed(books.p0, 0)
    books.of.delivered()
    assert books.committed[0] == 0, "nothing was committed: current and committed must be two dicts"


@pytest.mark.points(9, task=1)
def test_a_rebalance(books):
    """A batch that was not put, and another assignment"""
    books.of.assigned({books.p0: 0})
    books.of.consumed(books.p0, 0)
    books.of.assigned({books.p1: 4})
    books.of.delivered()
    assert books.current == [None, 4], (
        f"the batch of the former assignment is given up, only partition 1 is there, at 4; yours: {books.current}"
    )
    books.of.consumed(books.p1, 4)
    books.of.delivered()
    books.of.delivered()
    assert books.current[1] == 5, f"record 4 was put, the next one is 5; yours: {books.current[1]}"
