"""Task 1: a folder becomes visible as a batch, or not at all."""

import pytest

from kafka_learn.labs.rows import must_be_rows


@pytest.fixture
def written(batch):
    """``written(table, 3, values)``: a folder with these rows, ready to be committed as batch 3; returns it."""

    def write(table, number, values):
        writing = table.folder / f"_writing-{number}"
        batch(*values).write.mode("overwrite").parquet(str(writing))
        return writing

    return write


@pytest.mark.points(5, task=1)
def test_a_folder_becomes_the_batch(table_of, written, visible, runs):
    """Two batches"""
    table = table_of()
    for number, values in ((3, [1, 2, 3]), (10, [4])):
        writing = written(table, number, values)
        runs(lambda: table.commit(writing, number))  # noqa: B023 - run at once
        assert not writing.exists(), f"{writing.name} is still there: a rename leaves nothing behind, a copy does"
    got = visible(table)
    assert got == {3: [1, 2, 3], 10: [4]}, f"batches 3 and 10 are {{3: [1, 2, 3], 10: [4]}}; a reader sees {got}"


@pytest.mark.points(6, task=1)
def test_a_batch_that_is_there_stays_as_it_is(table_of, written, visible, runs):
    """The second copy of a batch"""
    table = table_of()
    first = written(table, 3, [1, 2, 3])
    runs(lambda: table.commit(first, 3))
    second = written(
        table, 3, [7, 8]
    )  # a second run has the same rows; these are others so that one can tell them apart
    runs(lambda: table.commit(second, 3), "batch 3 is committed already, and comes again: ")
    got = visible(table).get(3)
    mistakes = {
        "the batch is there twice: at least once, but not exactly once": [{"n": 3, "rows": [1, 2, 3, 7, 8]}],
        "the committed batch was replaced: a reader may have read it, so it never changes": [{"n": 3, "rows": [7, 8]}],
    }
    must_be_rows([{"n": 3, "rows": got}], [{"n": 3, "rows": [1, 2, 3]}], ["n"], mistakes=mistakes)
    left = [path.name for path in table.folder.rglob("_writing*")]
    assert not left, f"the second copy, {left[0]}, is left behind: remove it"


@pytest.mark.points(4, task=1)
def test_a_batch_without_rows_is_no_batch(table_of, written, visible, runs):
    """No rows"""
    table = table_of()
    writing = written(table, 3, [])
    runs(lambda: table.commit(writing, 3))
    assert visible(table) == {}, "a batch without rows has no folder: most batches of a stream emit nothing"
    assert not writing.exists(), f"{writing.name} is left behind: remove it, also if it has no rows"


@pytest.mark.points(5, task=1)
def test_killed_during_a_commit(table_of, written, visible, kills):
    """Killed before each step on disk"""
    table = table_of()
    for moment in kills(
        lambda: written(table_of(), 3, [1, 2, 3]), lambda: table.commit(table.folder / "_writing-3", 3)
    ):
        try:
            got = visible(table).get(3)
        except AssertionError as error:
            raise AssertionError(f"{moment}: {error}") from None
        assert got in (None, [1, 2, 3]), (
            f"{moment}: a reader sees {got} of the rows [1, 2, 3], half a batch. One rename commits it; moving or "
            "copying files one by one does not"
        )
