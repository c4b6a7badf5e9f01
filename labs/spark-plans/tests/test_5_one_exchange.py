"""Task 5: the same rows with one shuffle."""

import pytest

from kafka_learn.labs.rows import must_be_frame, must_equal
from pipeline.tuning.plans import delays_in_context, plan_text

COLUMNS = ("flight", "airline", "tailnum", "time", "delay")


@pytest.fixture
def judge(flights):
    """Every flight in its context, by plain Python."""

    def wanted(nulls_count=False, any_aircraft=False):
        means, before, rows = {}, {}, []
        for row in flights:
            means.setdefault(row["airline"], []).append(row["delay"])
        for row in sorted(flights, key=lambda each: each["time"]):
            delays = [each for each in means[row["airline"]] if each is not None]
            count = len(means[row["airline"]]) if nulls_count else len(delays)
            aircraft = row["airline"] if any_aircraft else row["tailnum"]
            new = {"mean": sum(delays) / count, "previous": before.get(aircraft)}
            before[aircraft] = row["delay"]
            rows.append({name: row[name] for name in COLUMNS} | new)
        return rows

    return wanted


@pytest.mark.points(4, task=5)
def test_means_and_the_delay_before(files, judge):
    """602 flights, against plain Python"""
    mistakes = {
        "cancelled flights count in the mean": judge(nulls_count=True),
        "the flight before is that of another aircraft": judge(any_aircraft=True),
    }
    must_equal(delays_in_context(files), judge(), ["flight", "time"], mistakes=mistakes)


@pytest.mark.points(7, task=5)
def test_the_files_are_read_once_and_rows_move_once(files, configured):
    """The plan"""
    configured("spark.sql.autoBroadcastJoinThreshold", "-1")
    lines = plan_text(must_be_frame(delays_in_context(files))).splitlines()
    scans = sum("FileScan " in line for line in lines)
    assert scans == 1, f"the files are read {scans} times: a mean beside each row is a window, not a groupBy and a join"
    shuffles = [line.strip(" :+-") for line in lines if "Exchange " in line]
    assert len(shuffles) == 1, (
        f"rows move {len(shuffles)} times: {'; '.join(shuffles)}. Rows of one aircraft are rows of one airline: "
        "partition both windows by airline first"
    )
    assert "SinglePartition" not in shuffles[0], "all rows are in one task: partition the windows"
