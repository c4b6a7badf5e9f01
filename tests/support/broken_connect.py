"""Workers of Connect that break a promise, for the simulator to find."""

from __future__ import annotations

from typing import Any

from kafka_lite.connect.runtime.tasks.worker_source_task import WorkerSourceTask
from kafka_lite.testing.simulation.connect import programs


def storing_offsets_at_once(*args: Any) -> None:
    """A flush does not wait until the records before it are acknowledged."""
    WorkerSourceTask._await_outstanding = lambda *_: True  # type: ignore[method-assign]
    programs.worker(*args)
