"""Task 3: a commit and its outcome."""

import pytest


@pytest.mark.points(8, task=3)
def test_success_and_error(books):
    """Two errors, then a success"""
    books.at(4, 8)
    for failures in (1, 2):
        number = books.of.begin_commit(0)
        assert books.of.committing, "a commit has begun"
        books.of.end_commit(number, OSError("no broker"), None)
        assert not books.of.committing, "the commit has ended, with an error"
        assert books.of.failures == failures, f"{failures} have failed; yours: {books.of.failures}"
        assert books.committed == [4, 8], f"nothing was committed; yours: {books.committed}"
    number, given = books.of.begin_commit(0), books.offsets(10, 8)
    books.of.end_commit(number, None, given)
    assert books.committed == [10, 8], f"10 and 8 are committed; yours: {books.committed}"
    given[books.p0] = given[books.p1]
    assert books.committed == [10, 8], f"the caller's offsets may change: copy them; yours: {books.committed}"
    assert books.of.failures == 0, f"failures counts since the last one that succeeded; yours: {books.of.failures}"
    number = books.of.begin_commit(0)
    books.of.end_commit(number, None, None)
    assert books.committed == [10, 8], f"there was nothing to commit: 10 and 8 stay; yours: {books.committed}"


@pytest.mark.points(8, task=3)
def test_an_old_outcome(books):
    """Commit 1 ends after commit 2 was begun"""
    books.at(4, 8)
    first, second = books.of.begin_commit(0), books.of.begin_commit(1)
    assert first != second, f"each commit has a number of its own; both have {first}"
    books.of.end_commit(first, OSError("late"), None)
    assert (books.of.committing, books.of.failures) == (True, 0), (
        "this is the outcome of a commit that is not the last one: it changes nothing"
    )
    books.of.end_commit(second, None, books.offsets(10, 20))
    books.of.end_commit(first, None, books.offsets(5, 9))
    assert books.committed == [10, 20], (
        f"10 and 20; the outcome of a commit that is not the last one is ignored; yours: {books.committed}"
    )


@pytest.mark.points(4, task=3)
def test_the_time_of_a_commit(books):
    """For the time-out"""
    books.at(4, 8)
    books.of.begin_commit(1000)
    assert not books.of.is_overdue(1999, 1000), "begun at 1000 ms: 999 ms are not 1000"
    assert books.of.is_overdue(2000, 1000), "begun at 1000 ms: note the time, so that it can be given up at 2000"
