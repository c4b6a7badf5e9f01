"""Task 4: the batch goes to a topic, too."""

import json
import sys
from pathlib import Path

import pandas as pd
import pytest

from kafka_learn.labs.killed import STEP
from pipeline.sinks import PublishedTable


class Records:
    """What ``to_records`` makes: its writer appends to the file that stands for the topic, record by record."""

    def __init__(self, values, topic):
        self._values, self._topic, self._said = values, topic, {}

    @property
    def write(self):
        return self

    def format(self, name):
        self._said["format"] = name
        return self

    def mode(self, name):
        self._said["mode"] = name
        return self

    def option(self, name, value):
        self._said[name] = value
        return self

    def options(self, **options):
        self._said.update(options)
        return self

    def save(self):
        for value in self._values:
            sys.audit(STEP, f"record {value} is sent")
            with self._topic.open("a") as file:
                file.write(json.dumps({**self._said, "value": value}) + "\n")


class Spark:
    """``rows.sparkSession``: reads Parquet files."""

    @property
    def read(self):
        return self

    def parquet(self, path):
        return pd.concat(pd.read_parquet(file) for file in sorted(Path(path).glob("*.parquet")))["value"].tolist()


@pytest.fixture
def published(table_of, tmp_path):
    """``published()``: the learner's sink, which writes to the file ``topic``."""

    def make():
        to_records = lambda rows: Records(rows if isinstance(rows, list) else rows._values, topic_of(tmp_path))  # noqa: E731
        return PublishedTable(table_of(), "broker:9092", "delays", to_records)

    return make


def topic_of(folder):
    if not (folder / "broker").exists():
        (folder / "broker").mkdir()
    return folder / "broker" / "topic"


@pytest.fixture
def sent(tmp_path):
    """``sent()``: the records of the topic."""

    def read():
        path = topic_of(tmp_path)
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    return read


@pytest.fixture
def rows(batch):
    def make(*values):
        made = batch(*values)
        made.sparkSession = Spark()
        return made

    return make


@pytest.mark.points(5, task=4)
def test_a_batch_goes_to_table_and_topic(published, rows, visible, sent, runs):
    """Two batches, of which one has no rows"""
    runs(lambda: published().write_batch(rows(), 0), "a batch without rows has no folder to read: ")
    assert not sent(), "a batch without rows has no records"
    runs(lambda: published().write_batch(rows(1, 2, 3), 1))
    assert visible(published().table) == {1: [1, 2, 3]}, f"the table has {visible(published().table)}, not batch 1"
    values = sorted(each["value"] for each in sent())
    assert values == [1, 2, 3], f"the records 1, 2 and 3 were to be sent; the topic has {values}"
    said = {name: value for name, value in sent()[0].items() if name != "value"}
    want = {"format": "kafka_lite", "mode": "append", "kafka.bootstrap.servers": "broker:9092", "topic": "delays"}
    missing = {name: value for name, value in want.items() if said.get(name) != value}
    assert not missing, f"records are written with {want}; yours with {said}"


@pytest.mark.points(5, task=4)
def test_killed_at_every_step_and_run_again(published, rows, visible, sent, kills, runs):
    """Between table and topic, and in the middle of sending"""

    def write():
        published().write_batch(rows(1, 2, 3), 1)

    for moment in kills(lambda: published().write_batch(rows(9), 0), write):
        early = {each["value"] for each in sent()} - {9}
        assert not early or visible(published().table).get(1), (
            f"{moment}: the topic has {sorted(early)}, the table has not committed them. If they come out differently "
            "the next time, readers of the topic have seen what never was: table first"
        )
        runs(write, f"{moment}, and run again: ")
        got = visible(published().table)
        assert got == {0: [9], 1: [1, 2, 3]}, f"{moment}, and run again: the table has {got}"
        lost = {1, 2, 3} - {each["value"] for each in sent()}
        assert not lost, (
            f"{moment}, and run again: {sorted(lost)} were never sent. That the batch is in the table does not mean "
            "that it was sent: at least once means to send it again"
        )


@pytest.mark.points(5, task=4)
def test_what_is_sent_was_committed(published, rows, sent, runs):
    """A second run that comes out differently"""
    runs(lambda: published().write_batch(rows(1, 2, 3), 1))
    runs(lambda: published().write_batch(rows(7, 8), 1))
    values = [each["value"] for each in sent()]
    assert not {7, 8} & set(values), (
        "the second run of batch 1 computed 7 and 8, which the table dropped, and you sent them: send what is "
        "committed, from the table's files"
    )
    assert sorted(values) == [1, 1, 2, 2, 3, 3], (
        f"the committed rows are sent again, with the same ids; you sent {values}"
    )
