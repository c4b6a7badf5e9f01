"""Applications of Streams that break a promise, for the simulator to find."""

from __future__ import annotations

from typing import Any

from kafka_lite.streams.kstream.internals.kstream_window_aggregate import _KStreamWindowAggregateProcessor
from kafka_lite.streams.streams_config import StreamsConfig
from kafka_lite.streams.tasks.processor_state_manager import ProcessorStateManager
from kafka_lite.streams.tasks.stream_task import StreamTask
from kafka_lite.testing.history.history import History
from kafka_lite.testing.simulation.streams import programs
from kafka_lite.testing.simulation.streams.drawn_programs import drawn_instance
from kafka_lite.testing.simulation.streams.drawn_topology import MAINTAINED_MS


def at_least_once(bootstrap: str, name: str, state_dir: str, replicas: int, _guarantee: str, history: History) -> None:
    """It commits seldom, and counts again what it had counted since then."""
    programs.CONFIGS |= {"commit.interval.ms": 3_000}
    programs.instance(bootstrap, name, state_dir, replicas, "at_least_once", history)


def without_restored_stores(*args: Any) -> None:
    """The store of a task that moves, or begins again, is empty."""
    ProcessorStateManager.restore = lambda *_: None  # type: ignore[method-assign, assignment]
    drawn_instance(*args)


def restoring_aborted_changes(*args: Any) -> None:
    """Stores are restored with the changes of transactions that were aborted, too."""
    configs = StreamsConfig.restore_consumer_configs
    StreamsConfig.restore_consumer_configs = (  # type: ignore[method-assign]
        lambda *args: {**configs(*args), "isolation.level": "read_uncommitted"}
    )
    drawn_instance(*args)


def committing_before_caches_are_flushed(*args: Any) -> None:
    """A task commits what it has processed, and flushes its caches afterwards: that belongs to the next transaction,
    which may never be committed."""
    commit_offsets = StreamTask.commit_offsets

    def committed_first(self: StreamTask) -> None:
        commit_offsets(self)
        flush(self)

    flush = StreamTask.flush_state
    StreamTask.flush_state = StreamTask.flush_sent  # type: ignore[method-assign]
    StreamTask.commit_offsets = committed_first  # type: ignore[method-assign]
    drawn_instance(*args)


def dropping_late_records(*args: Any) -> None:
    """Whether a record is too late is decided by what the task has seen since it began, and not by the store."""
    process = _KStreamWindowAggregateProcessor.process

    def processed(self: Any, key: Any, value: Any) -> None:
        timestamp = self.context.timestamp
        self.latest = max(getattr(self, "latest", 0), timestamp)
        if timestamp > self.latest - MAINTAINED_MS:
            process(self, key, value)

    _KStreamWindowAggregateProcessor.process = processed  # type: ignore[method-assign]
    drawn_instance(*args)
