"""Task 3: a task begins where the last one stopped."""

import pytest


@pytest.mark.points(10, task=3)
def test_batches(task, names, folder):
    """Three rows in batches of two"""
    reading = task("towns.csv")
    found = names(reading._rows_of("towns.csv"))
    assert found == ["Ulm", "Bonn"], f"a batch at most, two rows; yours: {found}"
    found = names(reading._rows_of("towns.csv"))
    assert found == ["Kiel"], f"the next call continues after them, at Kiel; yours: {found}"
    assert reading._rows_of("towns.csv") == [], "there are no more rows"
    (folder / "empty.csv").touch()
    try:
        found = task("empty.csv")._rows_of("empty.csv")
    except TypeError as error:
        pytest.fail(f"a file without a line has no names of fields: rows.fieldnames is None there ({error})")
    assert found == [], f"a file without a line has no rows; yours: {found}"


@pytest.mark.points(10, task=3)
def test_the_next_task(task, worker, names):
    """The worker has stored one row of two"""
    try:
        first = task("towns.csv")._rows_of("towns.csv")
    except (TypeError, KeyError) as error:
        pytest.fail(f"nothing is stored yet: begin at row 0; yours raised {error!r}")
    worker.keep(first[:1])
    found = names(task("towns.csv")._rows_of("towns.csv"))
    assert found == ["Bonn", "Kiel"], (
        f"row 1 was stored as the next: the next task continues at row 1, Bonn; yours: {found}"
    )


@pytest.mark.points(10, task=3)
def test_files_and_settings(task, worker, names):
    """Two files, none, and a default"""
    worker.keep(task("towns.csv")._rows_of("towns.csv"))
    both = task("rivers.csv,towns.csv")
    assert names(both._rows_of("rivers.csv")) == ["Rhine"], "each file has its own offset: Rhine is new"
    assert names(both._rows_of("towns.csv")) == ["Kiel"], "and towns.csv continues at row 2"
    empty = task("")
    assert not empty._next_rows, f"a task without files has no file, not even one without a name: {empty._next_rows}"
    made = task("towns.csv")
    record = made._rows_of("towns.csv")[0]
    assert record.value_schema.name == "towns", f"the schema has the name of the file; yours: {record.value_schema}"
