"""The evidence of a run of Connect: what its connectors say, and what its topics have at the end.

Not in Kafka. It is plain data, since each simulated process has its own copy of every class.
"""

from __future__ import annotations

from typing import NamedTuple

Number = tuple[int, int]
"""A record of the verifiable source: its task, and its number there."""


class Written(NamedTuple):
    """A record of the source in its topic, or a stored offset: where it is, and when the broker appended it."""

    number: Number
    timestamp_ms: int


class Report(NamedTuple):
    """A status in the status topic."""

    of: str
    """``connector-source``, ``task-source-0``."""
    state: str
    worker: str
    generation: int


class Facts:
    """Filled by workers and by the operator."""

    def __init__(self) -> None:
        self.acknowledged: set[Number] = set()
        """The records that the source's tasks know to be in the topic."""
        self.flushed: set[Number] = set()
        """The records that the sink's tasks have flushed."""
        self.failures_due = 0
        """How many tasks are to fail, whichever polls next."""
        self.failures = 0
        """How many have failed."""
        self.restarts = 0
        """How many requests the operator made to restart what has failed."""
        self.is_stop_written = False
        """Whether the operator has asked for that with success."""
        self.is_source_stopped = False
        """Whether the operator has seen the source without tasks, at the end."""
        self.produced: list[Written] = []
        self.offsets: list[Written] = []
        self.reports: list[Report] = []
