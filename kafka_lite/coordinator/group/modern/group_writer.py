"""Writes the changes of a group to the log, one batch at a time, and answers when the log has them.

Kafka 4.1: coordinator-common/.../runtime/CoordinatorRuntime.java (append, DeferredEventQueue) · book 3.5.4
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.modern.group_change import ModernGroupChange
from kafka_lite.coordinator.group.modern.record_kinds import encode
from kafka_lite.coordinator.group.offsets_log import AppendResult

logger = logging.getLogger(__name__)

MAX_RECORDS_TOGETHER = 500
"""How many records changes may have together to become one batch."""

OnWritten = Callable[[Errors], None]
Records = list[tuple[bytes, bytes | None]]
"""Keys and values."""
Append = Callable[[Records, Callable[[AppendResult], None]], None]
"""Appends one batch, and calls back with the lock of the group held."""

WRITE_ERRORS = {
    Errors.UNKNOWN_TOPIC_OR_PARTITION: Errors.COORDINATOR_NOT_AVAILABLE,
    Errors.NOT_ENOUGH_REPLICAS: Errors.COORDINATOR_NOT_AVAILABLE,
    Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND: Errors.COORDINATOR_NOT_AVAILABLE,
    Errors.REQUEST_TIMED_OUT: Errors.COORDINATOR_NOT_AVAILABLE,
    Errors.NOT_LEADER_OR_FOLLOWER: Errors.NOT_COORDINATOR,
    Errors.KAFKA_STORAGE_ERROR: Errors.NOT_COORDINATOR,
    Errors.MESSAGE_TOO_LARGE: Errors.UNKNOWN_SERVER_ERROR,
    Errors.RECORD_LIST_TOO_LARGE: Errors.UNKNOWN_SERVER_ERROR,
    Errors.INVALID_FETCH_SIZE: Errors.UNKNOWN_SERVER_ERROR,
}
"""The error that a member gets when a change cannot be appended, by the error that a producer would get."""


@dataclass
class _Batch:
    change: ModernGroupChange[Any]
    on_written: list[OnWritten] = field(default_factory=list)


class GroupWriter:
    """The changes of one group that are not in the log yet.

    ::

        decide ─▶ state changed ─▶ waiting ─▶ in flight ─▶ in the log, on all replicas ─▶ answer
                        ▲                          │
                        ╰── undone, with all later ones ── refused ─▶ answer with an error

    An answer without a change waits too if anything is in flight: it may tell of a state that is not in the log, and
    that a new coordinator would not know. Callers hold the lock of the group.
    """

    def __init__(self, append: Append) -> None:
        self._append = append
        self._batches: list[_Batch] = []
        """The first is in flight."""

    @property
    def is_idle(self) -> bool:
        """Whether everything is in the log."""
        return not self._batches

    def write(self, change: ModernGroupChange[Any], on_written: OnWritten) -> None:
        """Write a change, if it has records, and call back when all of the state is in the log."""
        if change.is_empty:
            if self.is_idle:
                on_written(Errors.NONE)
            else:
                self._batches[-1].on_written.append(on_written)
            return
        last = self._batches[-1] if len(self._batches) > 1 else None
        if last is not None and len(last.change.records) + len(change.records) <= MAX_RECORDS_TOGETHER:
            last.change.absorb(change)
            last.on_written.append(on_written)
            return
        self._batches.append(_Batch(change, [on_written]))
        if len(self._batches) == 1:
            self._send()

    def _send(self) -> None:
        batch = self._batches[0]
        others = batch.change.others
        self._append([*others, *(encode(record) for record in batch.change.records)], self._ended)

    def _ended(self, result: AppendResult) -> None:
        """The append of the first batch has ended."""
        if not self._batches:
            return
        if result.error is Errors.NONE or result.base_offset >= 0:
            ended = [self._batches.pop(0)]
        else:
            # What was decided after it was decided from a state that never was.
            ended, self._batches = self._batches, []
            for batch in reversed(ended):
                batch.change.undo()
        if result.error is not Errors.NONE:
            logger.error("Cannot store group %s: %s", ended[0].change.group.group_id, result.error.name)
        error = WRITE_ERRORS.get(result.error, result.error)
        if self._batches:
            self._send()
        for batch in ended:
            for on_written in batch.on_written:
                on_written(error)
