"""Records of a batch that are rejected, as Produce v8 and later report them.

Kafka 2.4: core/.../common/RecordValidationException.scala · book 6.1.2
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kafka_lite.common.errors import ApiError, Errors


class RecordError(NamedTuple):
    """One rejected record of a batch."""

    batch_index: int
    message: str


class RecordValidationError(ApiError):
    """A batch with rejected records; the whole batch is rejected."""

    def __init__(self, error: Errors, message: str, record_errors: Sequence[RecordError]) -> None:
        super().__init__(error, message)
        self.record_errors = tuple(record_errors)


class RefusedRecords:
    """Counts the rejected records of a batch and keeps the errors of the first ones."""

    _KEPT = 100

    def __init__(self) -> None:
        self._index = -1
        self._count = 0
        self._untimely = False
        self._kept: list[RecordError] = []

    def check(self, error: tuple[Errors, str] | None) -> None:
        """Record the error of the next record, or None."""
        self._index += 1
        if error is None:
            return
        self._count += 1
        self._untimely = self._untimely or error[0] is Errors.INVALID_TIMESTAMP
        if len(self._kept) < self._KEPT:
            self._kept.append(RecordError(self._index, error[1]))

    def raise_if_any(self) -> None:
        """Raise ``RecordValidationError`` if a record was rejected; INVALID_TIMESTAMP takes precedence."""
        if self._count:
            raise RecordValidationError(
                Errors.INVALID_TIMESTAMP if self._untimely else Errors.INVALID_RECORD,
                f"{self._count} records were rejected; the first error: {self._kept[0].message}",
                self._kept,
            )
