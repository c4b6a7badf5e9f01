"""Task 3: what a reader of files gets to know."""

from datetime import UTC, date, datetime, timedelta

import pytest

from kafka_learn.labs.rows import must_be_frame, must_equal
from pipeline.tuning.plans import FileRead, file_reads, flights_of_day, items, plan_text

DAY = date(2013, 3, 10)


@pytest.mark.points(4, task=3)
def test_items():
    """Commas, and commas in parentheses"""
    assert items("") == [], f'"" has no items, you have {items("")}'
    got = items("IsNotNull(a), In(a, [1,2]),b")
    assert len(got) < 4, "In(a, [1,2]) is one item: commas in parentheses and brackets divide nothing"
    want = ["IsNotNull(a)", "In(a, [1,2])", "b"]
    assert got == want, f"the items are {want}, not {got}"
    nested = items("(a#1 IN (1,2) OR (b#2 = [x]), c#3), d#4")
    assert nested == ["(a#1 IN (1,2) OR (b#2 = [x]), c#3)", "d#4"], (
        f"a comma after an inner parenthesis may still be in an outer one; you have {nested}"
    )


@pytest.mark.points(4, task=3)
def test_one_scan_of_a_plan(plans):
    """The FileScan of the sort-merge join"""
    got = file_reads(plans["sort-merge"])
    want = [FileRead(["airline"], ["IsNotNull(airline)"], [])]
    assert len(got) == 1, f"the plan has one FileScan, you found {len(got)}"
    assert got == want, f"the scan is {want}; you have {got}. What ReadSchema names is read from files"
    assert file_reads(plans["single"]) == [], "a plan without a FileScan reads no files"


@pytest.mark.points(3, task=3)
def test_scans_of_this_session(files):
    """Two filters, one of them on folders"""
    near = files.where("origin IN ('EWR', 'LGA')").where("airline IN ('UA', 'DL') AND delay > 10")
    got = file_reads(plan_text(near.select("flight").union(files.select("flight"))))
    assert len(got) == 2, f"the union reads the files twice, you found {len(got)} scans"
    assert sorted(got[0].columns) == ["airline", "delay", "flight"], (
        f"the first scan reads airline, delay and flight, not {got[0].columns}: the origin is a folder's"
    )
    want = ["In(airline, [DL,UA])", "IsNotNull(delay)", "GreaterThan(delay,10.0)"]
    assert sorted(got[0].pushed) == sorted(want), f"the reader got {want}, not {got[0].pushed}"
    assert len(got[0].folders) == 1, f"one condition chooses folders, you have {got[0].folders}"
    assert "origin" in got[0].folders[0], f"folders are chosen by origin, not by {got[0].folders[0]}"
    assert got[1] == FileRead(["flight"], [], []), f"the second scan reads flight without a filter, not {got[1]}"


@pytest.fixture
def judge(flights):
    """The flights that leave JFK on a day, by plain Python."""
    start = datetime(DAY.year, DAY.month, DAY.day, tzinfo=UTC)

    def wanted(last=False, zone=0):
        begin = start + timedelta(hours=zone)
        end = begin + timedelta(days=1)
        return [
            {name: row[name] for name in ("flight", "time", "delay")}
            for row in flights
            if row["origin"] == "JFK" and (begin <= row["time"] < end or (last and row["time"] == end))
        ]

    return wanted


@pytest.mark.points(4, task=3)
def test_the_flights_of_a_day(files, judge):
    """JFK, 10 March"""
    mistakes = {"midnight is the first moment of the next day: < it, not <= it": judge(last=True)}
    must_equal(flights_of_day(files, "JFK", DAY), judge(), ["flight", "time"], mistakes=mistakes)


@pytest.mark.points(5, task=3)
def test_the_reader_gets_the_conditions(files):
    """The plan of the flights of a day"""
    frame = must_be_frame(flights_of_day(files, "JFK", DAY))
    plan = plan_text(frame)
    scan = file_reads(plan)[0]
    pushed = " ".join(scan.pushed)
    assert any("JFK" in each for each in scan.folders), "the folder origin=JFK is enough: the plan opens all of them"
    assert "GreaterThanOrEqual(time" in pushed, (
        f"the reader knows {scan.pushed}, and not where the day begins: compare time itself, not a function of it"
    )
    assert "LessThan(time" in pushed, f"the reader knows {scan.pushed}, and not where the day ends"
    assert sorted(scan.columns) == ["delay", "flight", "time"], f"three columns are enough, it reads {scan.columns}"
    assert "Exchange" not in plan, "a selection needs no shuffle"
