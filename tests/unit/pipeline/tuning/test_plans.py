"""Plans as text, without Spark: trees, shuffles, scans and joins; and the stages that a UI lists."""

from __future__ import annotations

import http.server
import json
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.tuning.plans import (
    Exchange,
    FileRead,
    JoinStep,
    Operator,
    StageFigures,
    exchanges,
    file_reads,
    from_ui,
    items,
    joins,
    operators,
    stages,
    stages_of_job,
)

SCAN = (
    "FileScan parquet [a#1,b#2] Batched: true, DataFilters: [isnotnull(a#1)], Format: Parquet, "
    "Location: InMemoryFileIndex(1 paths)[file:/tmp/x], PartitionFilters: [isnotnull(o#3), o#3 IN (E,J)], "
    "PushedFilters: [IsNotNull(a), In(a, [1,2]), Or(EqualTo(b,1),EqualTo(b,2))], "
    "ReadSchema: struct<a:string,b:decimal(9,2)>"
)
PLAN = f"""\
== Physical Plan ==
*(5) SortMergeJoin [a#1], [c#4], LeftOuter
:- *(2) Sort [a#1 ASC NULLS FIRST], false, 0
:  +- Exchange hashpartitioning(a#1, b#2, 20), ENSURE_REQUIREMENTS, [plan_id=1]
:     +- *(1) {SCAN}
+- BroadcastNestedLoopJoin BuildLeft, Inner
   :- BroadcastExchange IdentityBroadcastMode, [plan_id=2]
   :  +- ReusedExchange [c#4], Exchange hashpartitioning(a#1, 20), ENSURE_REQUIREMENTS, [plan_id=1]
   +- Exchange SinglePartition, ENSURE_REQUIREMENTS, [plan_id=3]
      +- Exchange rangepartitioning(pmod(c#4, 7) ASC NULLS FIRST, 3), REPARTITION_BY_NUM, [plan_id=4]
         +- Scan ExistingRDD[c#4]

"""


def test_operators_have_the_depth_of_their_line() -> None:
    found = operators(PLAN)
    assert [(each.depth, each.name) for each in found] == [
        (0, "SortMergeJoin"), (1, "Sort"), (2, "Exchange"), (3, "FileScan"), (1, "BroadcastNestedLoopJoin"),
        (2, "BroadcastExchange"), (3, "ReusedExchange"), (2, "Exchange"), (3, "Exchange"), (4, "Scan"),
    ]  # fmt: skip
    assert found[-1] == Operator(4, "Scan", "ExistingRDD[c#4]")
    assert operators("\n\n") == []


def test_a_shuffle_is_an_exchange_that_writes() -> None:
    assert exchanges(PLAN) == [Exchange("hash", 20), Exchange("single", 1), Exchange("range", 3)]
    assert stages(PLAN) == 4
    assert stages("Scan ExistingRDD[c#4]") == 1


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("", []),
        (" a ", ["a"]),
        ("a,b", ["a", "b"]),
        ("In(a, [1,2]), f(g(x, y), z), c", ["In(a, [1,2])", "f(g(x, y), z)", "c"]),
    ],
)
def test_items_are_divided_outside_of_parentheses(text: str, want: list[str]) -> None:
    assert items(text) == want


def test_a_scan_says_what_its_reader_gets() -> None:
    pushed = ["IsNotNull(a)", "In(a, [1,2])", "Or(EqualTo(b,1),EqualTo(b,2))"]
    assert file_reads(PLAN) == [FileRead(["a", "b"], pushed, ["isnotnull(o#3)", "o#3 IN (E,J)"])]
    assert file_reads("Scan ExistingRDD[c#4]") == []
    empty = "FileScan parquet [] …, PartitionFilters: [], PushedFilters: [], ReadSchema: struct<>"
    assert file_reads(empty) == [FileRead([], [], [])]


def test_a_join_builds_one_side_or_none() -> None:
    assert joins(PLAN) == [JoinStep("sort-merge", None), JoinStep("nested loop", "left")]
    assert joins("BroadcastHashJoin [a#1], [b#2], Inner, BuildRight, false") == [JoinStep("broadcast", "right")]


def _stage(number: int, status: str = "COMPLETE", **figures: int) -> dict[str, Any]:
    zeros = {"numTasks": 1, "inputRecords": 0, "shuffleReadRecords": 0, "shuffleWriteBytes": 0}
    return {"stageId": number, "status": status, **zeros, **figures}


def test_complete_stages_of_the_job_count_in_their_order() -> None:
    listed = [
        _stage(4, shuffleReadRecords=5, inputRecords=2),
        _stage(3, "SKIPPED"),
        _stage(2, "FAILED", numTasks=9),
        _stage(2, numTasks=3, inputRecords=7, shuffleWriteBytes=90),
        _stage(1),
    ]
    assert stages_of_job({"stageIds": [2, 3, 4]}, listed) == [StageFigures(2, 3, 7, 90), StageFigures(4, 1, 7, 0)]


class _Ui(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps({"path": self.path}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def _session(address: str | None) -> Any:
    return SimpleNamespace(sparkContext=SimpleNamespace(uiWebUrl=address, applicationId="local-7"))


def test_the_ui_is_asked_by_its_rest_api() -> None:
    with http.server.HTTPServer(("127.0.0.1", 0), _Ui) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        try:
            answer = from_ui(_session(f"http://127.0.0.1:{server.server_port}"), "stages")
        finally:
            thread.join()
    assert answer == {"path": "/api/v1/applications/local-7/stages"}


def test_a_session_without_a_ui_says_so() -> None:
    with pytest.raises(ValueError, match=r"spark\.ui\.enabled is false"):
        from_ui(_session(None), "jobs")
