"""What the tests of this lab share: DataFrames from plain rows, and a night of records and commits from a seed."""

import random

import pytest

from kafka_learn.labs.rows import at, records_frame

COMMITS = (
    "log_offset long, log_partition int, time timestamp, group string, topic string, partition int, "
    "committed_offset long, metadata string, commit_time timestamp, deleted boolean"
)


@pytest.fixture
def frame(spark):
    """``frame([{"offset": 0, "timestamp": 10}, …])``: records of the topic ``flights``, partition 0 if none is said."""

    def make(records):
        return records_frame(spark, [{"topic": "flights", "key": None, "value": b"", **each} for each in records])

    return make


@pytest.fixture
def commits_frame(spark):
    """``commits_frame([{"log_offset": 7, "time": 10, "committed": 3}, …])``: as ``group_history.commits`` makes it."""

    def make(commits):
        rows = [
            (each["log_offset"], 0, at(each["time"]), each.get("group", "riders"), each.get("topic", "flights"),
             each.get("partition", 0), each["committed"], "", at(each["time"]), each["committed"] is None)
            for each in commits
        ]  # fmt: skip
        return spark.createDataFrame(rows, COMMITS)

    return make


@pytest.fixture
def times_frame(spark):
    """``times_frame([10, 20])``: the times to ask for."""
    return lambda times: spark.createDataFrame([(at(time),) for time in times], "time timestamp")


@pytest.fixture
def night():
    """``night(seed)``: (records, commits) of two topics; late timestamps, holes, resets, deletions, equal times."""

    def make(seed):
        rnd = random.Random(seed)
        places = [("flights", 0), ("flights", 1), ("weather", 0)]
        records, commits, offsets = [], [], dict.fromkeys(places, -1)
        for number in range(160):
            topic, partition = rnd.choice(places)
            offsets[topic, partition] += rnd.choice((1, 1, 1, 3))
            late = rnd.randrange(3000) if rnd.random() < 0.2 else 0
            records.append(
                {"topic": topic, "partition": partition, "offset": offsets[topic, partition],
                 "timestamp": 100_000 + number * 100 - late}
            )  # fmt: skip
        for number in range(70):
            topic, partition = rnd.choice([*places, ("flights", 2)])
            end = offsets.get((topic, partition), 0) * (number + 1) // 70
            back = rnd.randrange(8) if rnd.random() < 0.3 else 0
            commits.append(
                {"log_offset": 5 + 2 * number, "time": 101_000 + number // 2 * 400, "topic": topic,
                 "partition": partition, "group": rnd.choice(("riders", "riders", "board")),
                 "committed": None if rnd.random() < 0.1 else max(0, end - back)}
            )  # fmt: skip
        return records, commits

    return make
