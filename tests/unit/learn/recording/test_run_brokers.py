"""Runs that a busy machine may spoil are recorded again."""

from __future__ import annotations

import pytest

from kafka_learn.recording.recorded_run import RecordedRun
from kafka_learn.recording.run_brokers import ATTEMPTS, recorded_in_time


@pytest.mark.parametrize(("in_time_at", "recordings"), [(1, 1), (3, 3), (ATTEMPTS + 1, ATTEMPTS)])
def test_a_run_is_recorded_until_it_is_in_time_and_no_more_than_five_times(in_time_at: int, recordings: int) -> None:
    runs: list[RecordedRun] = []

    def record() -> RecordedRun:
        runs.append(RecordedRun((), title=f"{len(runs) + 1}"))
        return runs[-1]

    assert recorded_in_time(record, lambda run: run.title == str(in_time_at)).title == str(recordings)
    assert len(runs) == recordings
