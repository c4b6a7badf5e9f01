"""What the tests of this lab share: batches of records, tables of changes, Delta tables in folders of their own."""

import random

import pyarrow as pa
import pytest

from kafka_learn.labs.rows import records_frame
from pipeline.tables.delta_merge import SCHEMA, create_table


@pytest.fixture
def batch(spark):
    """``batch(("UA", "late"), ("B6", None), first=7)``: a DataFrame of records, offsets counted from ``first``."""

    def make(*changes, first=0):
        records = [{"key": key, "value": value, "offset": first + n} for n, (key, value) in enumerate(changes)]
        return records_frame(spark, records)

    return make


@pytest.fixture
def changed():
    """``changed(("UA", "late", 9), …)``: the argument of ``merge_changes``; key, value, offset."""

    def make(*rows):
        return pa.Table.from_pylist(
            [{"key": key, "value": value, "partition": 0, "offset": offset} for key, value, offset in rows], SCHEMA
        )

    return make


@pytest.fixture
def table(tmp_path):
    """An empty Delta table."""
    return create_table(str(tmp_path / "table"))


@pytest.fixture
def rows():
    """``rows(table)``: value and offset by key; fails if a key is there twice."""

    def read(table):
        found = {}
        for row in table.to_pyarrow_table().to_pylist():
            key = row["key"]
            assert key not in found, f"the table has two rows for {key}: MERGE inserts each row that matches none"
            found[key] = (row["value"], row["offset"])
        return found

    return read


@pytest.fixture
def history():
    """``history(seed)``: 400 changes of a few keys, one in five a deletion, and the table after all of them."""

    def make(seed):
        rnd = random.Random(seed)
        log = [(f"k{rnd.randrange(30)}", None if rnd.random() < 0.2 else f"v{number}") for number in range(400)]
        final = {}
        for offset, (key, value) in enumerate(log):
            final.pop(key, None)
            if value is not None:
                final[key] = (value, offset)
        return log, final

    return make
