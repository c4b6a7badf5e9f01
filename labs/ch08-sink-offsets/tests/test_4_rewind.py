"""Task 4: where a task continues."""

import pytest


@pytest.mark.points(7, task=4)
def test_the_task_says_where(books):
    """It has stored offset 6 itself"""
    books.at(4, 8)
    books.of.rewound(books.p0, 6)
    assert books.current == [6, 8], f"it continues at 6; yours: {books.current}"
    assert books.committed == [6, 8], f"6 is stored by the task, and counts as committed; yours: {books.committed}"
    books.of.consumed(books.p0, 9)
    books.of.delivered()
    books.of.rewound(books.p0, 6)
    books.of.delivered()
    assert books.current == [6, 8], (
        f"record 9 was delivered once, and the empty batch after it has none: it continues at 6; yours: {books.current}"
    )


@pytest.mark.points(8, task=4)
def test_the_flush_has_failed(books):
    """Put up to 10, committed up to 4"""
    books.at(4, 8).put(10, 20)
    books.of.consumed(books.p0, 10)
    found = books.numbers(books.of.rewind_to_committed())
    assert found == [4, 8], f"the consumer must seek to 4 and 8, not {found}"
    assert books.current == [4, 8], f"what was put may not be there: current is 4 and 8; yours: {books.current}"
    books.of.delivered()
    assert books.current == [4, 8], f"the batch is given up, the records come again; yours: {books.current}"
    books.of.consumed(books.p0, 4)
    books.of.delivered()
    assert books.committed == [4, 8], f"nothing was committed since; yours: {books.committed}"
