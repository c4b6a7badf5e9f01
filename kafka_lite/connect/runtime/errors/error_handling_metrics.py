"""Counts the errors of a task.

Kafka 2.0: connect/runtime/.../connect/runtime/errors/ErrorHandlingMetrics.java · book 8.3.7
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class ErrorHandlingMetrics:
    """Under the names of Kafka's ``task-error-metrics``, with underscores."""

    total_record_failures: int = 0
    """Failed operations, and each failed retry."""
    total_record_errors: int = 0
    """Records that failed."""
    total_records_skipped: int = 0
    """Records that failed and were tolerated."""
    total_retries: int = 0
    total_errors_logged: int = 0
    deadletterqueue_produce_requests: int = 0
    deadletterqueue_produce_failures: int = 0
    last_error_timestamp: int = 0
    """ms since 1970; 0 before the first error."""

    def __str__(self) -> str:
        return (
            f"{self.total_record_errors} records failed, {self.total_records_skipped} of them were skipped, "
            f"{self.total_retries} retries, {self.deadletterqueue_produce_requests} records to the dead letter queue"
        )
