"""The report of a run: one HTML page of recorded progress."""

from __future__ import annotations

from html.parser import HTMLParser

import pandas as pd
import pytest

from pipeline.run.outcome import FaultCheck, Outcome, TableCheck
from pipeline.view.query_progress import by_query, instant_ms, query_status
from pipeline.view.report import SHOWN_DIFFERENCES, RunReport, report_html
from pipeline.view.report_figures import RunningTime, draw_run
from tests.support.recorded_progress import recorded_progress

BEGIN_MS = instant_ms("2026-11-22T16:34:20Z")


def samples(*starts: tuple[int, int]) -> list[dict]:
    """A sample per second of each start, which begins at so many seconds and lasts so many."""
    return [
        {
            "start": number, "time_ms": BEGIN_MS + 1000 * (first + second),
            "clock_ms": 1_357_034_400_000 + second * 600_000,
            "sent": second, "send_rate": 1.0, "lag": {"delays": second}, "dead_letters": 0,
        }
        for number, (first, seconds) in enumerate(starts, start=1)
        for second in range(seconds + 1)
    ]  # fmt: skip


def report(differences: list[str]) -> RunReport:
    hours = pd.date_range("2013-01-01T10:00Z", periods=3, freq="h")
    delays = pd.DataFrame(
        {"origin": "EWR", "window_start": hours, "mean_delay": [1.0, None, 5.0], "flights": [3, 0, 4]}
    )
    statuses = [status for batches in by_query(recorded_progress()).values() if (status := query_status(batches))]
    return RunReport(
        title="The pipeline on <2013-01-01>",
        facts=["1440 times real time", "seed 1"],
        outcome=Outcome(
            [TableCheck("flights", 842, 842, []), TableCheck("delays", 53, 54, differences)],
            [FaultCheck("late", 45, None, "all counted"), FaultCheck("broken", 10, 10, "in the topic of dead letters")],
        ),
        statuses=statuses,
        batches=recorded_progress(),
        samples=samples((0, 40), (100, 30)),
        delays=delays,
    )


class Page(HTMLParser):
    """Collects the texts of a page, and checks that its elements are closed."""

    EMPTY = ("meta", "path", "use", "br")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.EMPTY:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "td":
            self.cells.append(data)


def test_a_run_that_equals_pandas_says_so_and_shows_both_figures() -> None:
    page = report_html(report([]))
    assert "Every table equals the one that pandas computed" in page
    assert page.count("<svg") == 2
    cells = Page(page).cells
    assert cells[:8] == ["flights", "842", "842", "✓", "delays", "53", "54", "✓"]
    assert "870" in cells  # the rows that the query delays read in all its batches
    assert "The pipeline on &lt;2013-01-01&gt;" in page


def test_differences_are_shown_up_to_a_limit() -> None:
    differences = [f"EWR, {hour}:00: missing" for hour in range(SHOWN_DIFFERENCES + 3)]
    page = report_html(report(differences))
    assert "NOT as expected" in page
    assert "✗" in Page(page).cells
    assert page.count(": missing</li>") == SHOWN_DIFFERENCES
    assert "… and 3 more" in page


def test_a_fault_that_was_not_found_makes_the_outcome_unequal() -> None:
    found = FaultCheck("broken", 10, 9, "in the topic of dead letters")
    assert not Outcome([TableCheck("flights", 1, 1, [])], [found]).is_equal
    assert Outcome([TableCheck("flights", 1, 1, [])], [FaultCheck("late", 10, None, "")]).is_equal


def test_a_report_without_any_result_is_written() -> None:
    empty = report([])
    page = report_html(RunReport(empty.title, [], Outcome([], []), [], [], [], pd.DataFrame()))
    assert "<p>Nothing.</p>" in page


def test_running_time_leaves_out_the_pause_between_two_starts() -> None:
    running = RunningTime.of(samples((0, 40), (100, 30)))
    seconds = {0: 0, 25: 25, 40: 40, 70: 40, 100: 40, 110: 50, 130: 70, 500: 70}
    assert {at: running.seconds(BEGIN_MS + 1000 * at) for at in seconds} == seconds
    assert running.restarts() == [40]


@pytest.mark.parametrize("names", [["delays"], ["dead_letters", "delays"]])
def test_the_figure_of_a_run_has_a_line_for_every_query_that_is_named(names: list[str]) -> None:
    svg = draw_run(names, recorded_progress(), samples((0, 40)))
    assert svg.startswith("<svg")
    for name in names:
        assert f"<!-- {name} -->" in svg
