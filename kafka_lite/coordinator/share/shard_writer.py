"""Writes the records of one partition of ``__share_group_state``, one batch at a time.

Kafka 4.1: coordinator-common/.../coordinator/common/runtime/CoordinatorRuntime.java (append, DeferredEventQueue)
· book 10.3
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.modern.group_writer import WRITE_ERRORS
from kafka_lite.coordinator.group.offsets_log import AppendResult

MAX_WRITES_TOGETHER = 500
Records = list[tuple[bytes, bytes | None]]
"""Keys and values."""
Append = Callable[[Records, Callable[[AppendResult], None]], None]
"""Appends one batch, and calls back with the shard's lock held."""
OnWritten = Callable[[Errors, int], None]
"""Takes the error, and the offset of the write's first record, which is -1 if there is none."""


class Write(NamedTuple):
    """The records of one operation; none if it only reads."""

    records: Records
    undo: Callable[[], None]
    """Restores the state from before."""

    on_written: OnWritten


class ShardWriter:
    """Decisions that are not in the log yet.

    ::

        decide ─▶ state changed ─▶ waiting ─▶ in flight ─▶ in the log, on all replicas ─▶ respond
                        ▲                          │
                        ╰── undone, with all later ones ── refused ─▶ respond with an error

    While a batch is in flight, others wait, and then go together. An operation that only reads waits, too: it may have
    seen a state that is not in the log, which another coordinator would not know. Callers hold the shard's lock.
    """

    def __init__(self, append: Append, linger: Callable[[Callable[[], None]], None] | None) -> None:
        """``linger`` calls back a little later, with the lock held; None: nothing waits for others to join it."""
        self._append = append
        self._linger = linger
        self._is_lingering = False
        self._in_flight: list[Write] = []
        self._waiting: list[Write] = []

    def write(self, write: Write) -> None:
        """Append the records in their turn; ``on_written`` is called once everything so far is in the log."""
        self._waiting.append(write)
        if self._in_flight or self._is_lingering:
            return
        if self._linger is None or not write.records:
            self._send()
        else:
            self._is_lingering = True
            self._linger(self._end_linger)

    def _end_linger(self) -> None:
        self._is_lingering = False
        if self._waiting and not self._in_flight:
            self._send()

    def _send(self) -> None:
        self._in_flight = self._waiting[:MAX_WRITES_TOGETHER]
        self._waiting = self._waiting[MAX_WRITES_TOGETHER:]
        records = [record for write in self._in_flight for record in write.records]
        if records:
            self._append(records, self._appended)
        else:
            self._end(Errors.NONE, -1)

    def _appended(self, result: AppendResult) -> None:
        if not self._in_flight:
            return  # closed in the meantime
        if result.error is not Errors.NONE and result.base_offset < 0:
            # What was decided after it was decided from a state that never was.
            self._in_flight += self._waiting
            self._waiting = []
            for write in reversed(self._in_flight):
                write.undo()
        self._end(WRITE_ERRORS.get(result.error, result.error), result.base_offset)

    def _end(self, error: Errors, base_offset: int) -> None:
        ended, self._in_flight = self._in_flight, []
        if self._waiting:
            self._send()
        offset = base_offset
        for write in ended:
            write.on_written(error, offset if write.records and base_offset >= 0 else -1)
            offset += len(write.records)

    def close(self, error: Errors) -> None:
        """Tell all that wait that nobody knows what becomes of their records."""
        abandoned = self._in_flight + self._waiting
        self._in_flight, self._waiting = [], []
        for write in abandoned:
            write.on_written(error, -1)
