"""Task 2: what each group had committed over time."""

import pytest

from kafka_learn.labs.rows import at, must_equal
from pipeline.tables.lag import commits_over_time

KEY = ["group", "topic", "partition", "time"]


def committed(commits, choose=lambda rows: max(rows, key=lambda each: each["log_offset"])["committed"]):
    """The wanted rows, in plain Python: of each group, partition and millisecond the commit that is chosen."""
    found = {}
    for each in commits:
        place = each.get("group", "riders"), each.get("topic", "flights"), each.get("partition", 0), at(each["time"])
        found.setdefault(place, []).append(each)
    return [{**dict(zip(KEY, place, strict=True)), "committed": choose(rows)} for place, rows in found.items()]


def mistakes(commits):
    def known(rows):
        return [each["committed"] for each in rows if each["committed"] is not None]

    return {
        "of one millisecond the last commit in the log counts, not the greatest: a reset goes back": committed(
            commits, lambda rows: max(known(rows), default=None)
        ),
        "of one millisecond the last commit in the log counts, that with the highest log_offset": committed(
            commits, lambda rows: min(rows, key=lambda each: each["log_offset"])["committed"]
        ),
        "deletions are lost: from a deletion on, committed is null": [
            row for row in committed(commits) if row["committed"] is not None
        ],
        "a deletion was skipped in favour of the commit before it": committed(
            commits,
            lambda rows: max((e["log_offset"], e["committed"]) for e in rows if e["committed"] is not None)[1]
            if known(rows) else None,
        ),
    }  # fmt: skip


def check(commits_frame, commits):
    found = commits_over_time(commits_frame(commits))
    must_equal(found, committed(commits), KEY, mistakes=mistakes(commits))


@pytest.mark.points(4, task=2)
def test_of_one_millisecond_the_last_commit_counts(commits_frame):
    """A reset, and a commit of the same millisecond"""
    commits = [{"log_offset": 7, "time": 10, "committed": 90}, {"log_offset": 8, "time": 10, "committed": 40}]
    check(commits_frame, [*commits, {"log_offset": 9, "time": 20, "committed": 45}])


@pytest.mark.points(4, task=2)
def test_a_deletion_is_an_event(commits_frame):
    """A deleted offset"""
    events = [(7, 10, 90), (8, 20, None), (9, 30, 5), (10, 30, None)]
    check(commits_frame, [{"log_offset": log, "time": time, "committed": offset} for log, time, offset in events])


@pytest.mark.points(7, task=2)
def test_groups_and_partitions_are_kept_apart(commits_frame, night):
    """70 commits of 2 groups, against plain Python"""
    check(commits_frame, night(42)[1])
