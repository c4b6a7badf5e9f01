"""The live view fits a terminal of 80 columns and shows what recorded progress says."""

from __future__ import annotations

import dataclasses
import io

import pytest
from rich.console import Console

from kafka_lite.common.topic_partition import TopicPartition
from pipeline.replay import ReplayStatus
from pipeline.replay_plan import Fault
from pipeline.view.live_view import RunStatus, event_time, live_view, status_line
from pipeline.view.query_progress import QueryStatus, by_query, query_status
from tests.support.recorded_progress import FLIGHT_ENDS, recorded_delays, recorded_progress

REPLAY = ReplayStatus(
    sent=647, total=937, clock_ms=1_357_077_000_000, faults={Fault.LATE: 31, Fault.DUPLICATE: 12, Fault.GARBAGE: 7}
)


def status_of(progresses: list) -> QueryStatus:
    status = query_status(progresses)
    assert status is not None
    return status


@pytest.fixture
def status() -> RunStatus:
    return RunStatus(
        phase="replaying", elapsed_s=20.4, replay=REPLAY, send_rate=49.3,
        queries=[status_of(recorded_delays(batches=3))], waiting=["aircraft_days"], ends=FLIGHT_ENDS, dead_letters=7,
    )  # fmt: skip


def drawn(status: RunStatus, width: int = 80) -> list[str]:
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None, legacy_windows=False)
    console.print(live_view(status))
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


def row(lines: list[str], name: str) -> list[str]:
    return next(line for line in lines if line.startswith(name)).split()


def test_a_query_shows_its_last_batch(status: RunStatus) -> None:
    assert row(drawn(status), "delays") == [
        "delays", "2", "13.2", "s", "28", "66", "01-01", "08:15", "896", "4.2", "MB", "0", "1",
    ]  # fmt: skip


def test_the_lag_of_a_query_is_unknown_without_the_ends(status: RunStatus) -> None:
    away = dataclasses.replace(status, ends=None, dead_letters=None)
    lines = drawn(away)
    assert row(lines, "delays")[-1] == "?"
    assert "dead letters ?" in "\n".join(lines)
    assert not [line for line in lines if line.startswith("flights")]


def test_a_query_without_a_batch_is_shown_as_waiting(status: RunStatus) -> None:
    assert row(drawn(status), "aircraft_days") == ["aircraft_days", *["–"] * 9]


def test_the_replay_shows_its_clock_its_rate_and_its_faults(status: RunStatus) -> None:
    text = "\n".join(drawn(status))
    for words in ("2013-01-01 21:50", "647/937", "in 49/s", "late 31", "duplicates 12", "garbage 7", "dead letters 7"):
        assert words in text


def test_each_partition_has_the_lag_of_the_query_that_is_furthest_behind(status: RunStatus) -> None:
    behind = dataclasses.replace(status.queries[0], name="flights", consumed={TopicPartition("flights", 3): 200})
    lines = drawn(dataclasses.replace(status, queries=[*status.queries, behind]))
    assert row(lines, "lag of partition")[-4:] == ["0", "1", "2", "3"]
    assert [line.split() for line in lines if line.startswith("flights")][-1] == ["flights", "227", "217", "220", "6"]


def test_everything_fits_80_columns_also_with_large_numbers(status: RunStatus) -> None:
    large = dataclasses.replace(
        status.queries[0], name="flights_with_weather", batch_id=99_999, duration_ms=123_456, input_rate=98_765.4,
        processing_rate=98_765.4, state_rows=336_776, state_bytes=987_600_000, dropped_by_watermark=1_234,
        consumed={},
    )  # fmt: skip
    lines = drawn(dataclasses.replace(status, queries=[large], restarts=3))
    assert max(map(len, lines)) <= 80
    assert row(lines, "flights_")[1:] == [
        "99999", "123.5", "s", "98,765", "98,765", "01-01", "08:15", "336,776", "987.6", "MB", "1,234", "0",
    ]  # fmt: skip
    assert "queries restarted 3" in "\n".join(lines)


def test_why_a_replay_failed_is_shown(status: RunStatus) -> None:
    failed = dataclasses.replace(status, replay=dataclasses.replace(REPLAY, failure="no leader"))
    assert "The replay failed: no leader" in "\n".join(drawn(failed))


def test_without_a_terminal_a_line_says_the_same(status: RunStatus) -> None:
    assert status_line(status) == (
        "  20 s  replaying  2013-01-01 21:50  sent 647/937 (49/s)  batches delays=2  lag 1  state 896 rows 4.2 MB  "
        "dropped 0  dead letters 7"
    )
    assert "queries restarted 2" in status_line(dataclasses.replace(status, restarts=2))


def test_before_the_first_batch_there_is_a_line_and_a_view(status: RunStatus) -> None:
    nothing = dataclasses.replace(status, queries=[], waiting=[], ends={}, replay=ReplayStatus(0, 0, 0))
    assert "batches none yet" in status_line(nothing)
    assert "replaying" in drawn(nothing)[0]


def test_the_lag_of_all_queries_is_that_of_the_last_one(status: RunStatus) -> None:
    dead_letters = status_of(by_query(recorded_progress())["dead_letters"][:1])
    both = dataclasses.replace(status, queries=[*status.queries, dead_letters])
    assert f"lag {sum(FLIGHT_ENDS.values())} " in status_line(both)


def test_a_time_is_shown_in_utc() -> None:
    assert event_time(0) == "1970-01-01 00:00"
    assert event_time(None) == "–"
