"""Task 3: a batch is written, killed at every step, and written again."""

import pytest

from kafka_learn.labs.rows import must_be_rows

FIRST, SECOND = [1, 2, 3], [4, 5, 6, 7]


def must_see(got, want, moment):
    """Compare {batch: values} as rows, with the mistakes of exactly once."""

    def rows(batches):
        return [{"batch": number, "values": values} for number, values in batches.items()]

    newest = max(want)
    older = {number: values for number, values in want.items() if number != newest}
    mistakes = {
        f"{moment}: batch {newest} is lost; at most once": rows(older),
        f"{moment}: batch {newest} is there twice; at least once, but not exactly once": rows(
            {**want, newest: sorted(want[newest] * 2)}
        ),
        f"{moment}: a batch that was committed before is gone": rows({newest: want[newest]}),
        f"{moment}: the whole table is gone": [],
    }
    try:
        must_be_rows(rows(got), rows(want), ["batch"], mistakes=mistakes)
    except AssertionError as error:
        words = str(error)
        raise AssertionError(words if words.startswith(moment) else f"{moment}: {words}") from None


class Watched:
    """A DataFrame that notes what of it is used."""

    def __init__(self, rows):
        self.rows, self.used = rows, set()

    def __getattr__(self, name):
        self.used.add(name)
        return getattr(self.rows, name)


@pytest.mark.points(5, task=3)
def test_two_batches(table_of, batch, visible, runs):
    """Nothing is killed"""
    runs(lambda: table_of().write_batch(batch(*FIRST), 0))
    runs(lambda: table_of().write_batch(batch(*SECOND), 1))
    must_see(visible(table_of()), {0: FIRST, 1: SECOND}, "two batches were written")
    again = Watched(batch(*SECOND))
    table_of().write_batch(again, 1)  # in this process: a child would note it in vain
    assert again.used - {"sparkSession", "isStreaming", "schema", "columns"}, (
        "batch 1 was committed before and runs again: compute it all the same, and drop the rows. Spark needs the run "
        "for its state and the watermark: a batch that is skipped is missing there"
    )
    must_see(visible(table_of()), {0: FIRST, 1: SECOND}, "batch 1 has run twice")
    owner = table_of().folder / "_query-id"
    assert owner.exists(), "the table does not know its query: write_batch claims it first"


@pytest.mark.points(4, task=3)
def test_a_foreign_query_writes_nothing(table_of, batch, visible):
    """A query with another checkpoint"""
    from pipeline.sinks import ForeignTableError

    table_of("a").write_batch(batch(*FIRST), 0)
    try:
        table_of("b").write_batch(batch(*SECOND), 1)
    except ForeignTableError:
        pass
    else:
        pytest.fail("query b writes to the table of query a: claim the table before anything is written")
    must_see(visible(table_of()), {0: FIRST}, "a foreign query was rejected")


@pytest.mark.points(7, task=3)
def test_killed_at_every_step_and_run_again(table_of, batch, visible, kills, runs):
    """A reader meanwhile, and a restart"""

    def second():
        table_of().write_batch(batch(*SECOND), 1)

    for moment in kills(lambda: table_of().write_batch(batch(*FIRST), 0), second):
        try:
            got = visible(table_of())
        except AssertionError as error:
            raise AssertionError(f"{moment}: {error}") from None
        assert got.get(0) == FIRST, f"{moment}: batch 0, which was committed before, is {got.get(0)} now"
        assert got.get(1) in (None, SECOND), (
            f"{moment}: a reader sees {got[1]} of the rows {SECOND}, half a batch: write where readers do not look"
        )
        runs(second, f"{moment}, and run again: what a killed attempt has left must be overwritten: ")
        must_see(visible(table_of()), {0: FIRST, 1: SECOND}, f"{moment}, and run again")
        left = [
            path.name for path in table_of().folder.iterdir() if path.is_dir() and not path.name.startswith("batch=")
        ]
        assert not left, f"{moment}, and run again: {left[0]} is left behind"


@pytest.mark.points(4, task=3)
def test_a_committed_batch_is_visible_all_the_time(table_of, batch, visible, kills):
    """A second run, killed before each step"""

    def again():
        table_of().write_batch(batch(*SECOND), 1)

    for moment in kills(again, again):
        got = visible(table_of())
        must_see(got, {1: SECOND}, f"batch 1 was committed and runs again; {moment}")
