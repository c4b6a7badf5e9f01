"""The outcome of a transactional call, for the thread that made it.

Kafka 0.11: clients/.../producer/internals/TransactionalRequestResult.java · book 10.3
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from kafka_lite.common.errors import Errors


class TransactionalRequestResult:
    """Completed by the sender's thread, awaited by the caller's."""

    def __init__(self, operation: str) -> None:
        self.operation = operation
        """The call, such as ``commit_transaction``."""
        self.error: Exception | None = None
        self.is_acked = False
        """Whether a caller has learnt the outcome. Until then, the same call may be repeated after a timeout."""
        self._completed = threading.Event()

    @property
    def is_completed(self) -> bool:
        """Whether the outcome is known."""
        return self._completed.is_set()

    def done(self) -> None:
        """Complete the call with success."""
        self._completed.set()

    def fail(self, error: Exception) -> None:
        """Complete the call with an error, unless it is completed."""
        if not self._completed.is_set():
            self.error = error
            self._completed.set()

    def wait(self, timeout_ms: float, why_timed_out: Callable[[], str] = str) -> None:
        """Wait for the outcome. Raises the error of the call, and ApiError REQUEST_TIMED_OUT after ``timeout_ms``.

        ``why_timed_out``: what the message of that error ends in.
        """
        if not self._completed.wait(min(timeout_ms / 1000, threading.TIMEOUT_MAX)):
            raise Errors.REQUEST_TIMED_OUT.exception(
                f"Timeout expired after {timeout_ms:g} ms while awaiting {self.operation}; it may be called again."
                f"{why_timed_out()}"
            )
        self.is_acked = True
        if self.error is not None:
            raise self.error
