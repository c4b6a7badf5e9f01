"""What the tests of this lab share: rows that are written as Spark writes them, and a reader of what is visible."""

import json
import shutil
import sys
from pathlib import Path

import pandas as pd
import pytest

from kafka_learn.labs.killed import STEP, in_child, killed_at_every_step
from pipeline.sinks import ParquetTable

PARTS = 2


class AlreadyThereError(Exception):
    """What Spark raises if it is to write to a folder that exists."""


class Writer:
    """``rows.write`` writes Parquet files as Spark does: several parts, then the ``_SUCCESS`` file."""

    def __init__(self, values):
        self._values, self._mode, self._format = values, "error", "parquet"

    def mode(self, name):
        self._mode = name
        return self

    def format(self, name):
        self._format = name
        return self

    def option(self, _name, _value):
        return self

    def options(self, **_options):
        return self

    def parquet(self, path, mode=None):
        self._mode = mode or self._mode
        self.save(path)

    def save(self, path):
        assert self._format == "parquet", f"the table is of Parquet files, not of {self._format}"
        folder, mode = Path(path), self._mode
        if folder.exists() and mode in ("error", "errorifexists"):
            raise AlreadyThereError(f"[PATH_ALREADY_EXISTS] {folder.name} exists already; mode is {mode}")
        if folder.exists() and mode == "ignore":
            return
        if folder.exists() and mode == "overwrite":
            shutil.rmtree(folder)
        folder.mkdir(parents=True, exist_ok=True)
        first = len(list(folder.glob("part-*")))
        for part in range(PARTS):
            frame = pd.DataFrame({"value": pd.Series(self._values[part::PARTS], dtype="int64")})
            with (folder / f"part-{first + part}.parquet").open("wb") as file:
                data = frame.to_parquet()
                file.write(data[: len(data) // 2])
                file.flush()
                sys.audit(STEP, f"the second half of {file.name[-14:]}")
                file.write(data[len(data) // 2 :])
        (folder / "_SUCCESS").open("wb").close()


class Rows:
    """A batch: as much of a DataFrame as a sink needs."""

    isStreaming = False  # noqa: N815 - PySpark's name

    def __init__(self, values, spark=None):
        self._values = list(values)
        self.sparkSession = spark

    @property
    def write(self):
        return Writer(self._values)

    def count(self):
        return len(self._values)

    def isEmpty(self):  # noqa: N802 - PySpark's name
        return not self._values

    def coalesce(self, _number):
        return self

    repartition = coalesce

    def cache(self):
        return self

    persist = unpersist = cache


@pytest.fixture
def batch():
    """``batch(1, 2, 3)``: a batch of these values."""
    return lambda *values: Rows(values)


@pytest.fixture
def table_of(tmp_path):
    """``table_of("a")``: the table, as a query with this id opens it."""

    def make(query_id="a"):
        checkpoint = tmp_path / f"checkpoint-{query_id}"
        if not checkpoint.exists():
            checkpoint.mkdir(parents=True)
        if not (checkpoint / "metadata").exists():
            (checkpoint / "metadata").write_text(json.dumps({"id": query_id}))
        return ParquetTable(tmp_path / "table", checkpoint)

    return make


def visible_rows(folder):
    """{number of the batch: its values} of all folders that a reader sees; a torn file is an AssertionError."""
    found = {}
    for path in sorted(folder.glob("batch=*")):
        values = []
        for file in sorted(path.glob("*.parquet")):
            try:
                values += pd.read_parquet(file)["value"].tolist()
            except Exception as error:  # noqa: BLE001 - whatever a half file leads to
                raise AssertionError(
                    f"{path.name} is visible, and its file {file.name} is not whole ({type(error).__name__}): write "
                    "where readers do not look, and rename"
                ) from None
        found[int(path.name.partition("=")[2])] = sorted(values)
    return found


@pytest.fixture
def visible():
    """``visible(table)``: {number of the batch: its values}, as any reader sees them."""
    return lambda table: visible_rows(table.folder)


@pytest.fixture
def runs():
    """``runs(function)``: run it in a child, and fail with what it raises."""

    def run(function, when=""):
        outcome = in_child(function)
        assert "your task" not in outcome.error, outcome.error.partition(": ")[2]
        assert not outcome.error, f"{when}{outcome.error}"

    return run


@pytest.fixture
def kills(tmp_path):
    """``kills(prepare, function)``: for every step of the function, what a child that was killed there has left.

    Yields the words for the moment. Before each, ``prepare`` is run on an empty folder.
    """

    def run(prepare, function):
        attempts = killed_at_every_step(function)
        while True:
            for path in tmp_path.iterdir():
                shutil.rmtree(path)
            prepare()
            outcome = next(attempts, None)
            if outcome is None:
                return
            assert "your task" not in outcome.error, outcome.error.partition(": ")[2]
            assert not outcome.error, outcome.error
            yield f"killed before {outcome.step}" if outcome.step else "after a run that was not killed"

    return run
