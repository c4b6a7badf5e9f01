"""Tells of a record that failed.

Kafka 2.0: connect/runtime/.../connect/runtime/errors/ErrorReporter.java · book 8.3.7
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import Future
from typing import Any

from kafka_lite.connect.runtime.errors.processing_context import ProcessingContext


class ErrorReporter(ABC):
    """Used by the thread of a task, and by that of its producer."""

    @abstractmethod
    def report(self, context: ProcessingContext[Any]) -> Future[None]:
        """Report the error. The future is done when the report is safe; it has no error."""

    def close(self) -> None:  # noqa: B027  a hook
        """The task has ended."""


def done() -> Future[None]:
    """A future of what is done."""
    future: Future[None] = Future()
    future.set_result(None)
    return future
