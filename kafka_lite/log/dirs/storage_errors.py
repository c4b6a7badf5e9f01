"""Converts file system errors to KAFKA_STORAGE_ERROR.

Kafka 1.0 and later: core/.../log/LocalLog.scala (maybeHandleIOException, KIP-112) · book 6.1.5
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.dirs.log_dir_failure_channel import LogDirFailureChannel


class StorageErrors:
    """Handles the I/O errors of one log::

        with storage_errors("reading"):
            ...                             OSError  →  ApiError KAFKA_STORAGE_ERROR, reported to the channel

    It also raises if the log directory is already offline or the log is ``closed``. A class instead of a generator,
    because every append and read uses it. (Leader appends, the most frequent, use ``check`` and ``storage_error``
    directly, which cost nothing if there is no error.)
    """

    def __init__(self, topic_partition: TopicPartition, log_dir: Path, failures: LogDirFailureChannel) -> None:
        self.closed = False
        self._topic_partition = topic_partition
        self._log_dir = log_dir
        self._failures = failures
        self._guards: dict[str, _Guard] = {}
        """Guards by action. They are stateless, so any number of threads may use one."""

    def __call__(self, action: str, *, when_closed: bool = False) -> _Guard:
        """Return a guard for a ``with`` statement; ``action`` is used in messages, ``when_closed`` allows a closed log.

        Raises ApiError KAFKA_STORAGE_ERROR if the log cannot be used.
        """
        if self.closed or self._failures.has_offline_log_dir(self._log_dir):
            self.check(when_closed=when_closed)
        return self._guards.get(action) or self._guards.setdefault(action, _Guard(self, action))

    def check(self, *, when_closed: bool = False) -> None:
        """Raise ApiError KAFKA_STORAGE_ERROR if the log directory is offline or the log is closed."""
        if self._failures.has_offline_log_dir(self._log_dir):
            raise Errors.KAFKA_STORAGE_ERROR.exception(f"the log directory {self._log_dir} is offline")
        if self.closed and not when_closed:
            raise Errors.KAFKA_STORAGE_ERROR.exception(f"the log {self._topic_partition} is closed")

    def translate(self, action: str, error: BaseException) -> None:
        """Raise the ApiError that corresponds to ``error``; return if it is not a storage error."""
        if isinstance(error, OSError):
            raise self.storage_error(action, error) from error
        if isinstance(error, ValueError) and self.closed:  # a reader used a mapping that was closed meanwhile
            raise Errors.KAFKA_STORAGE_ERROR.exception(f"the log {self._topic_partition} is closed") from error

    def storage_error(self, action: str, error: OSError) -> ApiError:
        """Report ``error`` to the channel and return the corresponding ApiError."""
        message = f"Error while {action} of {self._topic_partition} in {self._log_dir}"
        self._failures.maybe_add_offline_log_dir(self._log_dir, message, error)
        return Errors.KAFKA_STORAGE_ERROR.exception(f"{message}: {error.strerror}")


class _Guard:
    __slots__ = ("_action", "_storage_errors")

    def __init__(self, storage_errors: StorageErrors, action: str) -> None:
        self._storage_errors = storage_errors
        self._action = action

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        if error is not None:
            self._storage_errors.translate(self._action, error)
