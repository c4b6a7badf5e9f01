"""Task 5: the topic as rows."""

import random

import pytest

from kafka_learn.labs.rows import at, must_equal, records_frame, rows_of
from pipeline.tables.group_history import assignments, commits, generations

UNKNOWN = b"\x00\x09\x00\x02hi"


@pytest.fixture
def topic(spark):
    """``topic([(key, value), …])``: the records in partition 7 of the topic, from offset 100 on."""

    def make(records):
        return records_frame(
            spark,
            [
                {"partition": 7, "offset": 100 + n, "key": key, "value": value, "timestamp": 1_000_000 + n}
                for n, (key, value) in enumerate(records)
            ],
            "__consumer_offsets",
        )

    return make


@pytest.mark.points(7, task=5)
def test_every_commit_is_a_row(topic, commit_key, commit_value, group_key, group_value):
    """200 commits of 3 groups, with groups, deletions and unknown keys between them"""
    rnd = random.Random(35)
    records, want = [], []
    for number in range(200):
        if rnd.random() < 0.2:
            records.append(
                rnd.choice([(group_key(), group_value(number, {"m1": []})), (UNKNOWN, b"?"), (group_key(), None)])
            )
            continue
        group, name, partition = f"group {rnd.randrange(3)}", rnd.choice(("flights", "weather")), rnd.randrange(4)
        gone, time = rnd.random() < 0.1, 1_357_000_000_000 + number * 1001
        version = rnd.choice((0, 1, 2, 3))
        value = None if gone else commit_value(number * 10, version, f"of {number}", time)
        records.append((commit_key(group, name, partition), value))
        want.append(
            {
                "log_offset": 100 + number,
                "log_partition": 7,
                "time": at(1_000_000 + number),
                "group": group,
                "topic": name,
                "partition": partition,
                "committed_offset": None if gone else number * 10,
                "metadata": None if gone else f"of {number}",
                "commit_time": None if gone else at(time),
                "deleted": gone,
            }
        )
    got = commits(topic(records)).localCheckpoint()
    gone, deleted = sum(row["deleted"] for row in want), got.where("deleted").count()
    assert deleted == gone, f"{gone} offsets were deleted, by records whose value is null; you have {deleted} such rows"
    must_equal(got, want, ["log_offset"], "the encoder")


@pytest.mark.points(6, task=5)
def test_every_generation_is_a_row(topic, commit_key, commit_value, group_key, group_value):
    """Three generations, empty, deleted"""
    got = generations(topic([
        (group_key("a"), group_value(1, {"m1": [("flights", [0, 1])]})),
        (commit_key("a"), commit_value(5)),
        (group_key("a"), group_value(2, {"m1": [("flights", [0])], "m2": [("flights", [1])]}, 3)),
        (group_key("a"), group_value(3, {})),
        (group_key("a"), None),
    ]))  # fmt: skip
    rows = sorted(rows_of(got), key=lambda row: row["log_offset"])
    found = [(r["log_offset"], r["generation"], len(r["members"] or ()), r["deleted"]) for r in rows]
    want = [(100, 1, 1, False), (102, 2, 2, False), (103, 3, 0, False), (104, None, 0, True)]
    assert found == want, f"(log_offset, generation, members, deleted) are {want}; you have {found}"
    assert {row["group"] for row in rows} == {"a"}, "the group is in the key: also a deleted one has it"
    assert rows[0]["time"] == at(1_000_000), f"time is the record's timestamp, {at(1_000_000)}, not {rows[0]['time']}"


@pytest.mark.points(7, task=5)
def test_who_had_which_partition(topic, group_key, group_value):
    """Assignments of two generations, with an idle member"""
    weather = ("weather", [0])
    got = assignments(generations(topic([
        (group_key("a"), group_value(1, {"m1": [("flights", [0, 1]), weather]})),
        (group_key("a"), group_value(2, {"m1": [("flights", [0])], "m2": [("flights", [1]), weather], "m3": []})),
        (group_key("a"), group_value(3, {})),
    ])))  # fmt: skip
    had = {
        (1, "m1"): [("flights", 0), ("flights", 1), ("weather", 0)],
        (2, "m1"): [("flights", 0)],
        (2, "m2"): [("flights", 1), ("weather", 0)],
        (2, "m3"): [(None, None)],
    }
    idle = [row for row in rows_of(got) if row["member_id"] == "m3"]
    assert idle, "m3 has no partitions, but it was in generation 2: a row with null, and not none"
    want = [
        {
            "group": "a",
            "generation": generation,
            "time": at(1_000_000 + generation - 1),
            "member_id": name,
            "client_id": f"client of {name}",
            "topic": topic,
            "partition": partition,
        }
        for (generation, name), places in had.items()
        for topic, partition in places
    ]
    must_equal(got, want, ["generation", "member_id", "topic", "partition"], "the encoder")
