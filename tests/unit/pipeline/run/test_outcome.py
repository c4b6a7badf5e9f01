"""What a run came to: tables beside those of pandas, faults beside those of the plan."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from pipeline.events import FLIGHTS, WEATHER
from pipeline.nycflights import load_flights
from pipeline.replay_plan import Fault, FaultMix, fault_counts, plan
from pipeline.run import day_range
from pipeline.run.day_range import DayRange, load_days
from pipeline.run.outcome import check_faults, check_published, check_table, expected_tables

PARTITIONS = {FLIGHTS.topic: 4, WEATHER.topic: 2}


@pytest.fixture(scope="module", autouse=True)
def flights_are_read_once() -> Iterator[None]:
    """Reading a year of them takes a second, and no test changes them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(day_range, "load_flights", cache(load_flights))
        yield


@pytest.fixture(scope="module")
def days(flights_are_read_once: None) -> DayRange:
    return load_days(date(2013, 1, 1), 1)


def write(folder: Path, batch_id: int, rows: pd.DataFrame) -> None:
    (folder / f"batch={batch_id}").mkdir(parents=True)
    rows.to_parquet(folder / f"batch={batch_id}" / "part-0.parquet")


def test_a_day_is_new_yorks(days: DayRange) -> None:
    assert (days.start, days.end) == (pd.Timestamp("2013-01-01T05:00Z"), pd.Timestamp("2013-01-02T05:00Z"))
    assert len(days.flights) == 842
    assert set(days.flights["day"]) == {1}
    assert len(days.weather) == 67
    events = list(days.events())
    assert len(events) == 842 + 67
    assert all(days.start.timestamp() <= event.timestamp_ms / 1000 < days.end.timestamp() for event in events)


def test_the_days_of_the_change_to_daylight_saving_time_have_23_and_25_hours() -> None:
    for day, hours in ((date(2013, 3, 10), 23), (date(2013, 11, 3), 25)):
        days = load_days(day, 1)
        assert days.end - days.start == pd.Timedelta(hours=hours)
        assert set(days.flights["day"]) == {day.day}


def test_closing_events_come_days_after_all_others(days: DayRange) -> None:
    latest_ms = max(event.timestamp_ms for event in days.events())
    assert {event.topic for event in days.closing_events()} == set(PARTITIONS)
    assert all(event.timestamp_ms > latest_ms + 24 * 3_600_000 for event in days.closing_events())


def test_a_table_that_is_written_as_expected_is_equal(days: DayRange, tmp_path: Path) -> None:
    for name, table in expected_tables(days).items():
        write(tmp_path / name, 3, table.iloc[:20])
        write(tmp_path / name, 7, table.iloc[20:])
        check = check_table(name, tmp_path / name, table)
        assert check.is_equal, check.differences[:3]
        assert (check.rows, check.expected_rows) == (len(table), len(table))


def test_what_is_missing_or_doubled_is_a_difference(days: DayRange, tmp_path: Path) -> None:
    table = expected_tables(days)["delays"]
    write(tmp_path, 0, table.iloc[1:])
    write(tmp_path, 1, table.iloc[-1:])
    differences = check_table("delays", tmp_path, table).differences
    assert len(differences) == 2
    assert any("missing" in difference for difference in differences)
    assert any("more than once" in difference for difference in differences)


def test_a_table_that_was_never_written_misses_all_rows(days: DayRange, tmp_path: Path) -> None:
    check = check_table("delays", tmp_path, expected_tables(days)["delays"])
    assert (check.rows, len(check.differences)) == (0, 54)


def test_faults_are_found_if_every_record_is_accounted_for(days: DayRange) -> None:
    records = plan(days.events(), PARTITIONS, FaultMix(late=0.05, duplicates=0.02, garbage=10), seed=1)
    flight_records = 1 + sum(record.event.topic == FLIGHTS.topic for record in records)
    late, twice, broken = check_faults(records, flight_records, 842, dead_letters=10, dropped=0)
    assert all(fault.is_equal for fault in (late, twice, broken))
    counts = fault_counts(records)
    assert (late.sent, broken.sent) == (counts[Fault.LATE], counts[Fault.GARBAGE]) == (45, 10)
    assert 0 < twice.sent <= counts[Fault.DUPLICATE]  # the others are of the weather


def test_lost_dead_letters_and_doubled_rows_are_noticed(days: DayRange) -> None:
    records = plan(days.events(), PARTITIONS, FaultMix(duplicates=0.02, garbage=10), seed=1)
    flight_records = 1 + sum(record.event.topic == FLIGHTS.topic for record in records)
    _, twice, broken = check_faults(records, flight_records, 843, dead_letters=9, dropped=0)
    assert not twice.is_equal
    assert not broken.is_equal


def test_each_window_is_in_the_topic_once() -> None:
    starts = pd.to_datetime(["2013-07-01T10:00Z", "2013-07-01T11:00Z"])
    windows = pd.DataFrame({"origin": ["EWR", "JFK"], "window_start": starts})
    ids = ["EWR/2013-07-01T10:00:00Z", "JFK/2013-07-01T11:00:00Z"]
    assert check_published(ids, windows).is_equal
    twice = check_published([*ids, ids[0]], windows)
    assert (twice.name, twice.rows, twice.expected_rows) == ("topic delays", 3, 2)
    assert twice.differences == ["EWR/2013-07-01T10:00:00Z: 2 records, and not 1"]
    assert check_published(ids[1:], windows).differences == ["EWR/2013-07-01T10:00:00Z: 0 records, and not 1"]
