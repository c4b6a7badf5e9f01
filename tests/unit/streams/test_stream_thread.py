"""What a stream thread does in a turn of its loop."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.streams.processor.internals.stream_thread import StreamThread


def test_the_next_commit_is_an_interval_after_the_end_of_the_last_one() -> None:
    """Otherwise a thread whose commits take longer than the interval would do little else."""
    time, commits = MockTime(), []
    thread: Any = SimpleNamespace(name="StreamThread-1", _time=time, _commit_interval_ms=100)
    thread._last_commit_ms = time.hi_res_ms()

    def commit_all() -> None:
        time.sleep(250)
        commits.append(time.hi_res_ms())

    thread._tasks = SimpleNamespace(commit_all=commit_all)
    time.sleep(101)
    for _ in range(21):  # a turn takes 10 ms
        StreamThread._maybe_commit(thread, time.hi_res_ms())
        time.sleep(10)
    assert len(commits) == 2


@pytest.mark.parametrize(
    ("generation", "calls"),
    [(3, ["assign"]), (4, ["assign"]), (5, ["close suspended", "assign"]), (1, ["close suspended", "assign"])],
    ids=["the same generation", "the next one", "one was missed", "the group was new"],
)
def test_tasks_go_on_only_if_nobody_else_can_have_had_their_partitions(generation: int, calls: list[str]) -> None:
    found: list[str] = []
    thread: Any = SimpleNamespace(_kept_error=nullcontext, _set_state=lambda _: None, _time=MockTime(), _generation=3)
    thread._context = SimpleNamespace(generation=generation, active_tasks={}, standby_tasks={})
    thread._tasks = SimpleNamespace(
        assign=lambda *_: found.append("assign"), close_suspended=lambda: found.append("close suspended")
    )
    StreamThread.partitions_assigned(thread)
    assert found == calls
    assert thread._generation == generation
