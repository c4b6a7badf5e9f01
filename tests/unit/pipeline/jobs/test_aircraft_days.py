"""The state of the aircraft's days, in PySpark's tester: no JVM, so many orders and batches can be tried."""

from __future__ import annotations

import random

import pandas as pd
import pytest
from pyspark.sql import Row
from pyspark.sql.streaming.tws_tester import TwsTester

from pipeline import reference
from pipeline.events import FLIGHTS, event_ids, event_times
from pipeline.jobs.aircraft_days import AircraftDays
from tests.support.flight_data import flight, flights

HOUR_MS = 3_600_000
LATENESS_MS = 2 * HOUR_MS
FIRST_HOUR_MS = pd.Timestamp("2013-07-01T00:00Z").value // 1_000_000
NEVER_MS = FIRST_HOUR_MS + 1000 * HOUR_MS


@pytest.fixture
def tester() -> TwsTester:
    return TwsTester(
        AircraftDays(8 * HOUR_MS), timeMode="EventTime", outputMode="Append", eventTimeExtractor=lambda row: row.time_ms
    )


def rows_of(table: pd.DataFrame) -> list[Row]:
    times = event_times(FLIGHTS, table).dt.as_unit("ms").astype("int64")
    delays = [None if pd.isna(delay) else int(delay) for delay in table["dep_delay"]]
    values = zip(times, event_ids(FLIGHTS, table), table["origin"], table["dest"], delays, strict=True)
    return [
        Row(time_ms=time, event_id=i, origin=origin, dest=dest, dep_delay=delay)
        for time, i, origin, dest, delay in values
    ]


@pytest.mark.parametrize("seed", range(25))
def test_days_do_not_depend_on_the_order_of_arrival_nor_on_batches(tester: TwsTester, seed: int) -> None:
    rng = random.Random(seed)
    departures = pd.date_range("2013-07-01T00:00", periods=5 * 24 * 4, freq="15min")
    table = flights(
        *(
            flight(
                f"{time:%Y-%m-%dT%H:%M}", rng.choice([None, -5, 0, 15, 40]), route=rng.choice(["EWR-ORD", "LGA-MIA"])
            )
            for time in rng.sample(list(departures), 25)
        )
    )
    # Sent up to two hours behind its time, a leg is never behind the watermark.
    sent = sorted(rows_of(table), key=lambda row: row.time_ms + rng.randrange(LATENESS_MS))
    days: list[Row] = []
    watermark_ms = newest_ms = 0
    while sent:
        size = rng.randint(1, 6)
        batch, sent = sent[:size], sent[size:]
        days += tester.test("N1", batch)
        newest_ms = max(newest_ms, *(row.time_ms for row in batch))
        if newest_ms - LATENESS_MS > watermark_ms:
            watermark_ms = newest_ms - LATENESS_MS
            days += tester.setWatermark(watermark_ms)
    days += tester.setWatermark(NEVER_MS)
    assert found(days) == found_by_pandas(table)
    assert tester.peekListState("legs", "N1") == []


def test_a_day_is_over_when_the_watermark_is_a_rest_past_its_last_leg(tester: TwsTester) -> None:
    first, second = rows_of(flights(flight("2013-07-01T00:00"), flight("2013-07-01T07:59")))
    tester.test("N1", [second, first])
    assert tester.setWatermark(second.time_ms + 8 * HOUR_MS - 1) == []
    (day,) = tester.setWatermark(second.time_ms + 8 * HOUR_MS)
    assert (day.first_ms, day.last_ms, day.flights) == (first.time_ms, second.time_ms, 2)


def test_legs_of_the_next_day_wait_for_their_own_end(tester: TwsTester) -> None:
    first, second = rows_of(flights(flight("2013-07-01T00:00"), flight("2013-07-01T08:00")))
    tester.test("N1", [first])
    tester.test("N1", [second])
    assert [day.first_ms for day in tester.setWatermark(first.time_ms + 8 * HOUR_MS)] == [first.time_ms]
    assert [leg[0] for leg in tester.peekListState("legs", "N1")] == [second.time_ms]
    assert [day.first_ms for day in tester.setWatermark(second.time_ms + 8 * HOUR_MS)] == [second.time_ms]


def found(days: list[Row]) -> list[tuple[object, ...]]:
    return sorted((d.first_ms, d.last_ms, d.flights, d.departed, d.worst_delay, d.knock_on, d.route) for d in days)


def found_by_pandas(table: pd.DataFrame) -> list[tuple[object, ...]]:
    days = reference.aircraft_days(table)
    for column in ("first_departure", "last_departure"):
        days[column] = days[column].dt.as_unit("ms").astype("int64")
    worst = [None if pd.isna(value) else int(value) for value in days["worst_delay"]]
    columns = ["first_departure", "last_departure", "flights", "departed", "worst_delay", "knock_on", "route"]
    return sorted(days.assign(worst_delay=pd.Series(worst, dtype=object))[columns].itertuples(index=False, name=None))
