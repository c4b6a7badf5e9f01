"""Task 4: the distance from what is committed to the end."""

import pytest

from kafka_learn.labs.rows import at, must_equal
from pipeline.tables.lag import lag_over_time

KEY = ["time", "group", "topic", "partition"]
TIMES = [10, 20, 30, 40]
# flights/0: committed before its record shows the end; flights/1: no record by 20; flights/2: no record at all
ENDS = [("flights", 0, 10, 10), ("flights", 0, 20, 25), ("flights", 0, 40, 40), ("flights", 1, 30, 7)]
COMMITS = [
    ("riders", "flights", 0, 20, 10), ("riders", "flights", 0, 30, 28), ("riders", "flights", 0, 40, None),
    ("board", "flights", 0, 10, 3), ("riders", "flights", 1, 20, 0), ("riders", "flights", 2, 10, 0),
]  # fmt: skip


def last(events, time):
    return next((value for when, value in sorted(events, key=lambda each: -each[0]) if when <= time), None)


def lags(*, floor=True, unknown=None, no_end=0):
    """The wanted rows, in plain Python; the switches are mistakes."""
    rows = []
    for group, topic, partition in dict.fromkeys(each[:3] for each in COMMITS):
        for time in TIMES:
            committed = last([each[3:] for each in COMMITS if each[:3] == (group, topic, partition)], time)
            end = last([each[2:] for each in ENDS if each[:2] == (topic, partition)], time)
            end = no_end if end is None else end
            distance = None if end is None else end - (committed or 0)
            lag = (max(distance, 0) if floor else distance) if distance is not None else None
            if committed is None:
                lag = {"end": end, "zero": 0, None: None}[unknown]
            rows.append({"time": at(time), "group": group, "topic": topic, "partition": partition, "end": end,
                         "committed": committed, "lag": lag})  # fmt: skip
    return rows


def mistakes():
    want = lags()
    with_end = [row for row in want if row["end"] or row["time"] == at(0)]
    partitions = {(topic, partition) for topic, partition, *_ in ENDS}
    return {
        "a lag is never negative: a commit may be older than the record that shows the end it has reached": lags(
            floor=False
        ),
        "before the first commit and after a deletion the lag is unknown, null, and not the whole log": lags(
            unknown="end"
        ),
        "before the first commit and after a deletion the lag is unknown, null: 0 means that all is read": lags(
            unknown="zero"
        ),
        "a log without a record by then ends at 0, and not at null": lags(no_end=None),
        "a log without a record by then ends at 0, and its end is null": [
            {**row, "end": other["end"]} for row, other in zip(want, lags(no_end=None), strict=True)
        ],
        "a partition without a record is lost, although the group has committed it: keep the rows of the commits": [
            row for row in want if (row["topic"], row["partition"]) in partitions
        ],
        "times at which a log has no record yet are lost: keep the rows of the commits": with_end,
        "times at which nothing is committed are lost: their lag is null, but they have a row": [
            row for row in want if row["committed"] is not None
        ],
        "groups were mixed: each group has commits of its own": [
            {**row, "committed": last([each[3:] for each in COMMITS if each[1:3] == (row["topic"], row["partition"])],
                                      int(row["time"].timestamp() * 1000))} for row in want
        ],
    }  # fmt: skip


@pytest.fixture
def found(spark, times_frame):
    ends = [(t, p, at(time), end) for t, p, time, end in ENDS]
    commits = [(g, t, p, at(time), committed) for g, t, p, time, committed in COMMITS]
    ends = spark.createDataFrame(ends, "topic string, partition int, time timestamp, end long")
    commits = spark.createDataFrame(
        commits, "group string, topic string, partition int, time timestamp, committed long"
    )
    return lag_over_time(times_frame(TIMES), ends, commits)


@pytest.mark.points(15, task=4)
def test_the_lag_of_two_groups(found):
    """3 partitions of which one is empty, 2 groups, a deletion, against plain Python"""
    must_equal(found, lags(), KEY, mistakes=mistakes())
