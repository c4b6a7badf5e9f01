"""Carries out the operations on a record: retries what may succeed, tolerates what the connector tolerates.

Kafka 2.0: connect/runtime/.../connect/runtime/errors/RetryWithToleranceOperator.java · book 8.3.7
"""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.connect.api.errors import ConnectError, RetriableError
from kafka_lite.connect.runtime.errors.error_handling_config import ErrorHandlingConfig
from kafka_lite.connect.runtime.errors.error_handling_metrics import ErrorHandlingMetrics
from kafka_lite.connect.runtime.errors.error_reporter import ErrorReporter, done
from kafka_lite.connect.runtime.errors.processing_context import ProcessingContext, Stage

logger = logging.getLogger(__name__)

V = TypeVar("V")

RETRIES_DELAY_MIN_MS = 300
_ANY_ERROR_IS_TOLERABLE = frozenset(
    {Stage.TRANSFORMATION, Stage.HEADER_CONVERTER, Stage.KEY_CONVERTER, Stage.VALUE_CONVERTER}
)
"""In the other stages only a RetriableError is. An error of an unknown kind there is not the record's fault."""


class RetryWithToleranceOperator:
    """One of each task.

    ::

        execute ─▶ succeeds ────────────────────────────────▶ the result
           │
           ├ RetriableError, in time: wait 300 ms, 600 ms, … (at most errors.retry.delay.max.ms), execute again
           │
           └ any other error, or too late ─▶ report ─┬ errors.tolerance=all ──▶ None: the record is skipped
                                                     └ errors.tolerance=none ─▶ ConnectError: the task fails

    Kafka skips a record whose retries came to nothing even if nothing is tolerated, which loses it in silence; here the
    task fails then, too.
    """

    def __init__(
        self,
        config: ErrorHandlingConfig,
        metrics: ErrorHandlingMetrics | None = None,
        reporters: Sequence[ErrorReporter] = (),
        time: Time = SYSTEM_TIME,
    ) -> None:
        """The operator closes the reporters."""
        self._config = config
        self.metrics = metrics or ErrorHandlingMetrics()
        self._reporters = reporters
        self._time = time
        self._stop = threading.Condition()
        self._stopping = False
        self._has_failed = False
        self._reports: list[Future[None]] = []

    @property
    def tolerates_all(self) -> bool:
        """Whether records that fail are skipped."""
        return self._config.tolerates_all

    @property
    def is_within_tolerance(self) -> bool:
        """Whether the task may continue."""
        return self._config.tolerates_all or not self._has_failed

    def execute(
        self, context: ProcessingContext[Any], stage: Stage, executing: object, operation: Callable[..., V], *args: Any
    ) -> V | None:
        """``operation(*args)``; None if it fails and this is tolerated, and if ``context`` has failed before.

        ``executing`` is the converter or transformation. Raises ConnectError if the error is not tolerated.
        """
        if context.error is not None:
            return None
        context.stage, context.executing = stage, executing
        try:
            return operation(*args)
        except Exception as error:  # noqa: BLE001  tolerated or raised there
            return self._recover(context, error, operation, args)

    def _recover(
        self, context: ProcessingContext[Any], error: Exception, operation: Callable[..., V], args: tuple[Any, ...]
    ) -> V | None:
        """After the first error."""
        begin_ms, context.attempts = self._time.hi_res_ms(), 1
        self.metrics.total_record_failures += 1
        while isinstance(error, RetriableError) and self._may_retry(begin_ms):
            self._back_off(context.attempts, begin_ms)
            if self._stopping:
                break
            self.metrics.total_retries += 1
            context.attempts += 1
            try:
                return operation(*args)
            except Exception as next_error:  # noqa: BLE001  see execute
                error = next_error
                self.metrics.total_record_failures += 1
        self._fail(context, error)
        if not isinstance(error, RetriableError) and context.stage not in _ANY_ERROR_IS_TOLERABLE:
            raise ConnectError("Unhandled exception in error handler") from error
        self._raise_if_exceeded(error)
        self.metrics.total_records_skipped += 1
        return None

    def execute_failed(
        self, context: ProcessingContext[Any], stage: Stage, executing: object, error: BaseException
    ) -> Future[None]:
        """An operation has failed elsewhere: in a sink task, or in a producer. The future is done when it is reported.

        Raises ConnectError if the error is not tolerated.
        """
        context.stage, context.executing = stage, executing
        self.metrics.total_record_failures += 1
        future = self._fail(context, error)
        self._raise_if_exceeded(error)
        self.metrics.total_records_skipped += 1
        return future

    def _fail(self, context: ProcessingContext[Any], error: BaseException) -> Future[None]:
        """Note the error and report it."""
        context.error = error
        self.metrics.total_record_errors += 1
        self.metrics.last_error_timestamp = self._time.milliseconds()
        self._has_failed = True
        reports = [reporter.report(context) for reporter in self._reporters]
        self._reports += [report for report in reports if not report.done()]
        return _all_of(reports)

    def _raise_if_exceeded(self, error: BaseException) -> None:
        if not self.is_within_tolerance:
            raise ConnectError("Tolerance exceeded in error handler") from error

    # ── retries ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _may_retry(self, begin_ms: float) -> bool:
        timeout_ms = self._config.retry_timeout_ms
        return not self._stopping and (timeout_ms < 0 or self._time.hi_res_ms() - begin_ms < timeout_ms)

    def _back_off(self, attempts: int, begin_ms: float) -> None:
        """Wait 300 ms, then twice as long each time; above the maximum a random time."""
        delay_ms = float(RETRIES_DELAY_MIN_MS << min(attempts - 1, 32))
        if delay_ms > self._config.retry_delay_max_ms:
            delay_ms = random.random() * self._config.retry_delay_max_ms
        if self._config.retry_timeout_ms >= 0:
            remaining_ms = self._config.retry_timeout_ms - (self._time.hi_res_ms() - begin_ms)
            delay_ms = max(min(delay_ms, remaining_ms), 0)
        with self._stop:
            if not self._stopping:
                self._time.wait(self._stop, delay_ms)

    def trigger_stop(self) -> None:
        """The task is to stop: retry no longer."""
        with self._stop:
            self._stopping = True
            self._stop.notify_all()

    # ── reports ───────────────────────────────────────────────────────────────────────────────────────────────────

    def await_reports(self) -> None:
        """Wait until the dead letter queue has all records that were reported: their offsets may be committed then.

        (Kafka waits for those that the task has reported, and not for those that a converter refused.)
        """
        reports, self._reports = self._reports, []
        for report in reports:
            report.result()

    def close(self) -> None:
        """Close the reporters."""
        if self.metrics.total_record_failures:
            logger.info("Errors of the task that ends: %s", self.metrics)
        for reporter in self._reporters:
            try:
                reporter.close()
            except Exception:
                logger.exception("Failed to close reporter %s", type(reporter).__name__)


def _all_of(reports: Sequence[Future[None]]) -> Future[None]:
    """A future that is done when all are: at most one is not done yet, that of the dead letter queue."""
    return next((report for report in reports if not report.done()), done())
