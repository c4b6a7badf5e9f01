"""Task 2: a table belongs to one query."""

import pytest

from pipeline.sinks import ForeignTableError


@pytest.mark.points(4, task=2)
def test_the_same_query_may_write_again(table_of, runs):
    """A new table, and a restart"""
    runs(table_of("a")._claim)
    runs(table_of("a")._claim, "the query is started again, with the same checkpoint: ")
    owner = table_of("a").folder / "_query-id"
    assert owner.exists(), "the table does not know its query: there is no file _query-id in its folder"
    text = owner.read_text()
    assert text == "a", f"the metadata of the checkpoint are JSON, and the id in them is a; _query-id has {text!r}"


@pytest.mark.points(5, task=2)
def test_another_query_is_rejected(table_of):
    """A new checkpoint on an old table"""
    table_of("a")._claim()
    try:
        table_of("b")._claim()
    except ForeignTableError as error:
        words = str(error)
        assert "table" in words, f"the error names the folder of the table; yours says {words!r}"
    else:
        pytest.fail(
            "the table of query a accepts query b, whose batches begin at 0 again: its rows would be dropped as second "
            "copies"
        )
    owner = (table_of("a").folder / "_query-id").read_text()
    assert owner == "a", f"the table belongs to {owner} now: a query that is rejected takes nothing"


@pytest.mark.points(6, task=2)
def test_killed_during_a_claim(table_of, kills, runs):
    """Killed before each step on disk, and started again"""
    for moment in kills(lambda: table_of("a"), lambda: table_of("a")._claim()):
        again = f"{moment}, and started again: half a claim must not be taken for another query's; write it, rename: "
        runs(table_of("a")._claim, again)
        text = (table_of("a").folder / "_query-id").read_text()
        assert text == "a", f"{moment}, and started again: _query-id has {text!r} instead of a"
