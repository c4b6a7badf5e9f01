"""Compares what the queries wrote with pandas, and what they found wrong with what the replay did wrong.

Spark 4.2: python/pyspark/testing/utils.py (assertDataFrameEqual) · book 1.1
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from pipeline import reference
from pipeline.events import DELAYS, FLIGHTS
from pipeline.replay_plan import Fault, PlannedRecord, fault_counts
from pipeline.run.day_range import DayRange
from pipeline.sinks import read_table


@dataclass(frozen=True)
class TableCheck:
    """A table beside the one that pandas computed. ``differences`` are sentences; none: the tables are equal."""

    name: str
    rows: int
    expected_rows: int
    differences: Sequence[str]

    @property
    def is_equal(self) -> bool:
        """Whether all rows and values are equal."""
        return not self.differences


@dataclass(frozen=True)
class FaultCheck:
    """How many records had a fault, and how many the pipeline found. ``found`` is None if it cannot tell."""

    fault: str
    sent: int
    found: int | None
    meaning: str

    @property
    def is_equal(self) -> bool:
        """Whether it found all of them."""
        return self.found in (None, self.sent)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run."""

    tables: Sequence[TableCheck]
    faults: Sequence[FaultCheck]

    @property
    def is_equal(self) -> bool:
        """Whether everything is as pandas and the replay say."""
        return all(table.is_equal for table in self.tables) and all(fault.is_equal for fault in self.faults)


def expected_tables(days: DayRange) -> dict[str, pd.DataFrame]:
    """The tables of all jobs, computed by pandas from the rows of the data set."""
    flights, weather = days.flights, days.weather
    compute: dict[str, Callable[[], pd.DataFrame]] = {
        "flights": lambda: reference.distinct_flights(flights),
        "delays": lambda: reference.delays_by_window(flights),
        "flights_with_weather": lambda: reference.flights_with_weather(flights, weather),
        "aircraft_days": lambda: reference.aircraft_days(flights),
    }
    return {name: table() for name, table in compute.items()}


def check_table(name: str, folder: Path, expected: pd.DataFrame) -> TableCheck:
    """Compare a table of Parquet files with the one expected."""
    got = read_table(folder)
    if got.empty:
        got = expected.iloc[:0]
    return TableCheck(name, len(got), len(expected), reference.differences(got, expected, reference.KEYS[name]))


def check_published(ids: Sequence[str], expected: pd.DataFrame) -> TableCheck:
    """Compare the ids that a reader of the topic ``delays`` gets with the expected windows: each is there once."""
    starts = pd.to_datetime(expected["window_start"], utc=True).dt.strftime("%Y-%m-%dT%H:%M:%SZ")
    found, wanted = Counter(ids), Counter(expected["origin"].astype(str) + "/" + starts)
    differences = [
        f"{each}: {found[each]} records, and not {wanted[each]}"
        for each in sorted(found.keys() | wanted.keys())
        if found[each] != wanted[each]
    ]
    return TableCheck(f"topic {DELAYS}", len(ids), len(expected), differences)


def check_faults(
    records: Sequence[PlannedRecord], flight_records: int, flight_rows: int, dead_letters: int, dropped: int
) -> list[FaultCheck]:
    """Compare the faults of a plan with what the pipeline found.

    ``flight_records`` is the number of records in the topic ``flights``, with one closing event, and ``flight_rows``
    that of rows in the table. ``dead_letters`` is the number of different dead letters, and ``dropped`` that of
    the rows which queries dropped behind the watermark.
    """
    counts = fault_counts(records)
    broken_flights = sum(record.fault is Fault.GARBAGE for record in records if record.event.topic == FLIGHTS.topic)
    twice = sum(record.fault is Fault.DUPLICATE for record in records if record.event.topic == FLIGHTS.topic)
    dropped_twice = flight_records - 1 - broken_flights - flight_rows
    return [
        FaultCheck("late", counts[Fault.LATE], None, f"all counted; {dropped:,} rows dropped behind the watermark"),
        FaultCheck("sent twice", twice, dropped_twice, f"of {FLIGHTS.topic}: left out of the table"),
        FaultCheck("broken", counts[Fault.GARBAGE], dead_letters, "in the topic of dead letters"),
    ]
