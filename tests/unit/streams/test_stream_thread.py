"""What a stream thread does in a turn of its loop."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

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
