"""Task 5: how a table and a topic are read."""

import pandas as pd
import pytest

from kafka_learn.labs.rows import must_have_columns, rows_of
from pipeline.sinks import each_once, read_table


def folder_of(folder, batches):
    for name, values in batches.items():
        (folder / name).mkdir(parents=True)
        pd.DataFrame({"value": values}).to_parquet(folder / name / "part-0.parquet")
        (folder / name / "_SUCCESS").touch()
    (folder / "_query-id").write_text("a")
    return folder


def table(folder):
    """The learner's frame, checked to be one."""
    frame = read_table(folder)
    assert isinstance(frame, pd.DataFrame), (
        f"read_table returns a pandas DataFrame, yours returned {type(frame).__name__}"
    )
    return frame


@pytest.mark.points(3, task=5)
def test_a_table_that_nothing_was_written_to(tmp_path):
    """No folder, and a folder without a batch"""
    assert table(tmp_path / "nothing").empty, "a table that does not exist yet is empty, and no error"
    assert table(folder_of(tmp_path / "table", {"_writing-0": [1]})).empty, (
        "_writing-0 is not committed: the table is empty, and no error"
    )


@pytest.mark.points(5, task=5)
def test_rows_with_the_number_of_their_batch(tmp_path):
    """Batches 2 and 10, one with two files, an attempt that was killed"""
    folder = folder_of(tmp_path / "table", {"batch=2": [1, 2], "batch=10": [3], "_writing-11": [4, 5]})
    pd.DataFrame({"value": [6]}).to_parquet(folder / "batch=2" / "part-1.parquet")
    frame = table(folder)
    assert not {4, 5} & set(frame["value"]), "rows of _writing-11, which is not committed, are in the table"
    assert "batch" in frame.columns, f"each row has the number of its batch; the columns are {list(frame.columns)}"
    kinds = {type(each).__name__ for each in frame["batch"]}
    assert all(str(each).isdigit() for each in frame["batch"]), (
        f"the number of a batch is 2, not {frame['batch'].iloc[0]}"
    )
    assert "str" not in kinds, "the number of a batch is a number, not text: 10 would come before 2"
    got = sorted((int(number), int(value)) for number, value in zip(frame["batch"], frame["value"], strict=True))
    want = [(2, 1), (2, 2), (2, 6), (10, 3)]
    assert got == want, f"(batch, value) of the rows are {want}; you have {got}"


@pytest.mark.points(7, task=5)
def test_records_that_were_sent_again(spark):
    """Doubles of one id, equal values of two ids"""
    rows = [
        (offset, key, value, [(name, identity.encode()) for name, identity in headers])
        for offset, key, value, headers in [
            (0, "EWR", "a", [("event-id", "EWR/10"), ("schema-version", "1")]),
            (1, "EWR", "a", [("event-id", "EWR/11"), ("schema-version", "1")]),
            (2, "JFK", "a", [("schema-version", "1"), ("event-id", "JFK/10")]),
            (3, "EWR", "a", [("event-id", "EWR/10"), ("schema-version", "1")]),
            (4, "EWR", "b", [("event-id", "EWR/12"), ("event-id", "EWR/10")]),
            (5, "JFK", "a", [("schema-version", "1"), ("event-id", "JFK/10")]),
        ]
    ]
    frame = spark.createDataFrame(
        rows, "offset long, key string, value string, headers array<struct<key:string,value:binary>>"
    )
    found = each_once(frame)
    got = rows_of(found)
    must_have_columns(found, ["offset", "key", "value", "headers", "event_id"])
    ids = sorted(str(row["event_id"]) for row in got)
    want = ["EWR/10", "EWR/11", "EWR/12", "JFK/10"]
    assert len(got) != 6, "nothing was dropped: doubles have the same event-id, but other offsets"
    assert len({row["key"] for row in got}) != len(got), (
        "one record per key is left: doubles have the same id, not the same key"
    )
    assert len(got) != 3 or "EWR/11" in ids, "EWR/11 has the same value as EWR/10, and another id: it is no double"
    assert ids == want, f"the ids are {want}, each once (of several headers event-id, the first counts); you have {ids}"
