"""Task 3: each batch once."""

import pytest
from deltalake.exceptions import CommitFailedError

from pipeline.tables.delta_merge import batch_merger, create_table


@pytest.fixture
def merger(table):
    """The learner's function for batches of the query ``flights``."""
    return batch_merger(table.table_uri, "flights")


@pytest.mark.points(6, task=3)
def test_batches_in_their_order(table, merger, batch, rows):
    """Batch 0, batch 1"""
    merger(batch(("UA", "late"), ("B6", "early"), ("UA", "later")), 0)
    table.update_incremental()
    assert table.version() == 1, f"a batch is one commit: the table has version {table.version()} after the first"
    got = rows(table)
    assert got == {"UA": ("later", 2), "B6": ("early", 1)}, f"UA changed twice in the batch: {got}"
    merger(batch(("B6", None), first=3), 1)
    table.update_incremental()
    assert rows(table) == {"UA": ("later", 2)}, f"the second batch deletes B6: {rows(table)}"
    assert table.transaction_version("flights") == 1, (
        f"the last commit is of batch 1, its transaction says {table.transaction_version('flights')}"
    )


@pytest.mark.points(8, task=3)
def test_a_batch_that_comes_again(table, merger, batch, rows):
    """After a deletion, which has left nothing to compare offsets with"""
    merger(batch(("UA", "late")), 5)
    merger(batch(("UA", None), first=1), 6)
    merger(batch(("UA", "late")), 5)
    merger(batch(("B6", "again"), first=2), 6)
    table.update_incremental()
    got = rows(table)
    assert "UA" not in got, (
        "batch 5 came again after batch 6 had deleted UA, which is back: ids up to the last are done"
    )
    assert "B6" not in got, "batch 6 was done, and was applied again: an id that is equal is done, too"
    assert table.version() == 2, f"two batches are two versions, the table has {table.version()}"


@pytest.mark.points(6, task=3)
def test_each_query_counts_for_itself(table, merger, batch, rows):
    """Two queries, one table"""
    merger(batch(("UA", "late")), 7)
    batch_merger(table.table_uri, "weather")(batch(("JFK", "fog"), first=1), 0)
    table.update_incremental()
    got = rows(table)
    assert "JFK" in got, "batch 0 of weather is new, whatever flights has done: the transaction's name is the query's"
    merger(batch(("UA", "again"), first=2), 7)
    table.update_incremental()
    assert rows(table) == got, "batch 7 of flights was done before the batch of weather"


@pytest.mark.points(4, task=3)
def test_what_others_have_done(tmp_path, batch, rows):
    """A second process, with the same query"""
    folder = str(tmp_path / "shared")
    create_table(folder)
    first, second = batch_merger(folder, "flights"), batch_merger(folder, "flights")
    first(batch(("UA", "late")), 0)
    second(batch(("UA", None), first=1), 1)
    try:
        first(batch(("UA", "late"), first=2), 1)
    except CommitFailedError as refused:
        pytest.fail(f"Delta refuses a MERGE into an old version: read the table's version in each batch ({refused})")
    assert rows(create_table(folder)) == {}, (
        "batch 1 was done by another process, and UA is back: read the table's version in each batch"
    )
