"""Batches from reports, their cost, limits and tasks: arithmetic, without Spark."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.tuning.volume import (
    Batch,
    CatchUp,
    Cost,
    batches,
    catch_up,
    cost_of,
    into_files,
    limit_for,
    read_options,
    tasks_for,
)

COST = Cost(2.0, 0.5)


def _report(number: int, rows: int, end: int, latest: int) -> dict[str, Any]:
    offsets = {"endOffset": {"t": {"0": end}}, "latestOffset": {"t": {"0": latest}}}
    return {"batchId": number, "numInputRows": rows, "durationMs": {"triggerExecution": 1500}, "sources": [offsets] * 2}


def test_a_batch_read_something_and_is_behind_in_all_sources() -> None:
    reports = [_report(0, 0, 1, 1), _report(1, 5, 6, 10), _report(2, 4, 10, 10)]
    assert batches(reports) == [Batch(1, 5, 1.5, 8), Batch(2, 4, 1.5, 0)]


@pytest.mark.parametrize(
    ("measured", "cost"),
    [
        ([(9, 99.0), (10, 7.0), (20, 12.0)], Cost(2.0, 0.5)),
        ([(9, 99.0), (10, 5.0), (20, 10.0)], Cost(0.0, 0.5)),
        ([(9, 99.0), (10, 7.0), (10, 9.0)], Cost(0.0, 0.8)),
        ([(9, 99.0), (10, 9.0), (30, 3.0)], Cost(0.0, 0.3)),
        ([(9, 99.0), (10, 1.0), (30, 7.0)], Cost(0.0, 0.2)),
        ([(10, 5.0)], Cost(0.0, 0.5)),
    ],
)
def test_the_cost_is_a_line_if_there_is_one(measured: list[tuple[int, float]], cost: Cost) -> None:
    found = cost_of([Batch(number, *each, 0) for number, each in enumerate(measured)])
    assert tuple(found) == pytest.approx(tuple(cost))


def test_without_batches_there_is_no_cost() -> None:
    with pytest.raises(ValueError, match="no batch"):
        cost_of([])


def test_the_limit_fills_the_time_and_not_more() -> None:
    assert limit_for(COST, 12.0) == 20
    assert limit_for(COST, 12.4) == 20
    assert COST.of(20) == 12.0
    assert limit_for(COST, 2.5) == 1
    with pytest.raises(ValueError, match=r"takes 2\.5 s"):
        limit_for(COST, 2.4)


@pytest.mark.parametrize(
    ("behind", "arriving", "want"),
    [
        (0, 9, CatchUp(0, 0.0)),
        (10, 9, CatchUp(1, 7.0)),
        (20, 9, CatchUp(1, 12.0)),
        (21, 0, CatchUp(2, 12.0 + 2.5)),
        (60, 0, CatchUp(3, 36.0)),
        (40, 1, CatchUp(4, 3 * 12.0 + 2.0 + 0.5 * (40 - 3 * 8))),  # each full batch gains 8 of its 20
        (21, 20 / 12, None),
        (21, 5, None),
    ],
)
def test_a_stream_catches_up_or_not(behind: int, arriving: float, want: CatchUp | None) -> None:
    found = catch_up(COST, 20, behind, arriving)
    assert found == want if want is None else found == pytest.approx(want)


@pytest.mark.parametrize(("arguments", "tasks"), [((100, 3, 4, 10), 12), ((100, 13, 4, 10), 16), ((0, 4, 4, 10), 4)])
def test_tasks_fill_their_rounds(arguments: tuple[int, int, int, int], tasks: int) -> None:
    assert tasks_for(*arguments) == tasks


def test_options_are_strings() -> None:
    assert read_options(5, 4, 2) == {"maxOffsetsPerTrigger": "5", "minPartitions": "4"}
    assert read_options(5, 2, 2) == {"maxOffsetsPerTrigger": "5"}


def test_files_are_dealt_out_anew() -> None:
    class Frame:
        def repartition(self, files: int) -> str:
            return f"repartition({files})"

    frame: Any = Frame()
    assert into_files(frame, 3) == "repartition(3)"
