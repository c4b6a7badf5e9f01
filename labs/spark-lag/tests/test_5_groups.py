"""Task 5: figures of a whole group, and the age of what waits."""

import pytest

from kafka_learn.labs.rows import at, must_equal
from pipeline.tables.lag import lag_of_groups, time_lag

SCHEMA = "time timestamp, group string, topic string, partition int, end long, committed long, lag long"
# (time, group, topic, partition, end, committed, lag)
LAGS = [
    (100, "riders", "flights", 0, 9, 4, 5), (100, "riders", "flights", 1, 30, 20, 10),
    (100, "riders", "weather", 0, 10, 0, 10), (100, "riders", "weather", 1, 7, None, None),
    (200, "riders", "flights", 0, 9, 9, 0), (200, "riders", "flights", 1, 30, 30, 0),
    (100, "board", "flights", 0, 9, None, None), (100, "board", "flights", 1, 30, None, None),
]  # fmt: skip


@pytest.fixture
def lag(spark):
    return spark.createDataFrame([(at(each[0]), *each[1:]) for each in LAGS], SCHEMA)


def of_groups(*, nothing=None, first=False, of_lag=lambda rows: sum(rows), unknown=True):
    """The wanted rows, in plain Python; the switches are mistakes."""
    rows = []
    for time, group in dict.fromkeys(each[:2] for each in LAGS):
        mine = [each for each in LAGS if each[:2] == (time, group)]
        known = [(each[6], each[2], each[3]) for each in mine if each[6] is not None]
        worst = (min(known, key=lambda each: (-each[0], *each[1:])) if first else max(known)) if known else (None,) * 3
        rows.append({
            "time": at(time), "group": group, "lag": of_lag([each[0] for each in known]) if known else nothing,
            "worst_topic": worst[1], "worst_partition": worst[2], "worst_lag": worst[0],
            "unknown": len(mine) - len(known) if unknown else 0,
        })  # fmt: skip
    return rows


@pytest.mark.points(10, task=5)
def test_the_lag_of_groups(lag):
    """Two groups, one of which has committed nothing"""
    want = of_groups()
    mistakes = {
        "a group of which nothing is known has a lag of null, and not 0": of_groups(nothing=0),
        "of partitions that lag equally, the last by topic and partition is the worst": of_groups(first=True),
        "the lag of a group is the sum over its partitions": of_groups(of_lag=max),
        "a group with an unknown partition still has the sum of the others": [
            {**row, "lag": None} if row["unknown"] else row for row in want
        ],
        "unknown counts the partitions whose lag is null": of_groups(unknown=False),
        "a group of which nothing is known is lost": [row for row in want if row["lag"] is not None],
        "of a group of which nothing is known, no partition is the worst: null": [
            {**row, "worst_topic": "flights", "worst_partition": 1} if row["lag"] is None else row for row in want
        ],
        "a partition whose lag is unknown is not the worst": [
            {**row, "worst_topic": "weather", "worst_partition": 1, "worst_lag": None}
            if row["group"] == "riders" and row["unknown"] else row for row in want
        ],
    }  # fmt: skip
    must_equal(lag_of_groups(lag), want, ["time", "group"], mistakes=mistakes)


@pytest.mark.points(10, task=5)
def test_the_age_of_the_first_record_that_waits(lag, frame):
    """A record of each partition, one of which is no longer in the log"""
    written = {("flights", 0, 3): 10, ("flights", 0, 4): 40, ("flights", 0, 5): 70, ("flights", 1, 19): 90,
               ("flights", 1, 20): 95, ("weather", 0, 3): 20, ("weather", 1, 6): 33}  # fmt: skip
    records = [{"topic": t, "partition": p, "offset": o, "timestamp": time} for (t, p, o), time in written.items()]

    def rows(behind):
        columns = ("time", "group", "topic", "partition", "end", "committed", "lag")
        made = [dict(zip(columns, (at(each[0]), *each[1:]), strict=True)) for each in LAGS]
        return [{**row, "behind_ms": behind(each, row)} for each, row in zip(LAGS, made, strict=True)]

    def age(each, _row, shift=0, read=0, unknown=None, gone=None):
        time, _, topic, partition, _, committed, lag = each
        if lag == 0 or committed is None:
            return read if lag == 0 else unknown
        found = written.get((topic, partition, committed + shift))
        return gone if found is None else time - found

    want = rows(age)
    mistakes = {
        "the record with offset committed is the first that the group has not read; you took the one before": rows(
            lambda *each: age(*each, shift=-1)
        ),
        "a group that has read everything is 0 ms behind: there is no record that waits": rows(
            lambda *each: age(*each, read=None)
        ),
        "a lag that is unknown has an unknown age: null": rows(lambda *each: age(*each, unknown=0)),
        "the record is no longer in the log, so its age is unknown: null": rows(lambda *each: age(*each, gone=0)),
        "rows whose record is not in the log are lost: a left join keeps them": [
            row for row in want if row["behind_ms"] not in (None, 0)
        ],
        "behind_ms is in milliseconds": [
            {**row, "behind_ms": row["behind_ms"] and row["behind_ms"] // 1000} for row in want
        ],
        "the age of the record that was read last is not what a reader waits for": rows(
            lambda each, row: age(each, row) and each[0] - max(
                (time for (t, p, o), time in written.items() if (t, p) == each[2:4]), default=each[0])
        ),
    }  # fmt: skip
    must_equal(time_lag(lag, frame(records)), want, ["time", "group", "topic", "partition"], mistakes=mistakes)
