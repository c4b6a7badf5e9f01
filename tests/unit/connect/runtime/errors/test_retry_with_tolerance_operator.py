from typing import Any

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.connect.api.errors import ConnectError, DataError, RetriableError
from kafka_lite.connect.runtime.errors.error_handling_config import ErrorHandlingConfig
from kafka_lite.connect.runtime.errors.processing_context import ProcessingContext, Stage
from kafka_lite.connect.runtime.errors.retry_with_tolerance_operator import RetryWithToleranceOperator
from tests.support.connect_tasks import Kept

CONVERT, PUT = Stage.VALUE_CONVERTER, Stage.TASK_PUT


class Rig:
    """An operator, and an operation that raises ``errors`` one by one before it succeeds."""

    def __init__(self, **config: Any) -> None:
        self.time, self.reported = MockTime(), Kept()
        self.operator = RetryWithToleranceOperator(
            ErrorHandlingConfig(**config), reporters=[self.reported], time=self.time
        )
        self.context = ProcessingContext("record")
        self.errors: list[Exception] = []
        self.calls = 0

    def operation(self, value: int) -> int:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return value * 2

    def execute(self, stage: Stage = CONVERT) -> int | None:
        return self.operator.execute(self.context, stage, self, self.operation, 21)


def test_what_succeeds_is_returned() -> None:
    rig = Rig()
    assert rig.execute() == 42
    assert (rig.context.failed, rig.reported.contexts) == (False, [])


def test_after_an_error_no_other_operation_is_carried_out() -> None:
    rig = Rig(tolerates_all=True)
    rig.errors = [DataError("bad")]
    assert rig.execute() is None
    assert rig.execute() is None
    assert rig.calls == 1
    assert rig.context.executing_class.endswith("test_retry_with_tolerance_operator.Rig")


@pytest.mark.parametrize(
    ("stage", "error", "tolerates_all", "message"),
    [
        (CONVERT, DataError("x"), False, "Tolerance exceeded in error handler"),
        (CONVERT, KeyError("x"), True, None),
        (CONVERT, RetriableError("x"), False, "Tolerance exceeded in error handler"),
        (PUT, KeyError("x"), True, "Unhandled exception in error handler"),
        (PUT, RetriableError("x"), True, None),
    ],
)
def test_which_errors_are_tolerated(stage: Stage, error: Exception, tolerates_all: bool, message: str | None) -> None:
    rig = Rig(tolerates_all=tolerates_all)
    rig.errors = [error]
    if message is None:
        assert rig.execute(stage) is None
    else:
        with pytest.raises(ConnectError, match=message) as raised:
            rig.execute(stage)
        assert raised.value.__cause__ is error
    assert [context.error for context in rig.reported.contexts] == [error]  # reported in either case
    assert rig.operator.metrics.total_records_skipped == (message is None)


def test_retries_wait_twice_as_long_each_time() -> None:
    rig = Rig(retry_timeout_ms=-1)
    rig.errors = [RetriableError(str(number)) for number in range(3)]
    assert rig.execute() == 42
    assert rig.time.hi_res_ms() == 300 + 600 + 1200
    assert (rig.context.attempts, rig.operator.metrics.total_retries) == (4, 3)


def test_retries_end_with_the_timeout() -> None:
    rig = Rig(retry_timeout_ms=1000, tolerates_all=True)
    rig.errors = [RetriableError(str(number)) for number in range(9)]
    assert rig.execute() is None
    assert rig.time.hi_res_ms() == 1000  # after 300 and 600, what is left
    assert rig.calls == 4


def test_above_the_longest_delay_waits_are_random() -> None:
    rig = Rig(retry_timeout_ms=-1, retry_delay_max_ms=100)
    rig.errors = [RetriableError(str(number)) for number in range(5)]
    assert rig.execute() == 42
    assert 0 < rig.time.hi_res_ms() < 500


def test_other_errors_are_not_retried() -> None:
    rig = Rig(retry_timeout_ms=-1, tolerates_all=True)
    rig.errors = [RetriableError("x"), DataError("y")]
    assert rig.execute() is None
    assert rig.calls == 2


def test_a_task_that_stops_retries_no_longer() -> None:
    rig = Rig(retry_timeout_ms=-1, tolerates_all=True)
    rig.errors = [RetriableError("x")]
    rig.operator.trigger_stop()
    assert rig.execute() is None
    assert (rig.calls, rig.time.hi_res_ms()) == (1, 0)


def test_failures_of_others() -> None:
    rig = Rig(tolerates_all=True)
    rig.reported.is_slow = True
    error = ValueError("the table is full")
    future = rig.operator.execute_failed(rig.context, PUT, Rig, error)
    assert (rig.context.stage, rig.context.error, future.done()) == (PUT, error, False)
    rig.reported.pending[0].set_result(None)
    rig.operator.await_reports()
    assert future.done()
    none = Rig()
    with pytest.raises(ConnectError, match="Tolerance exceeded"):
        none.operator.execute_failed(none.context, PUT, Rig, error)
    assert not none.operator.is_within_tolerance


def test_closing_survives_a_reporter_that_cannot_be_closed(caplog: pytest.LogCaptureFixture) -> None:
    rig = Rig(tolerates_all=True)
    rig.errors = [DataError("bad")]
    rig.execute()
    rig.reported.close = lambda: 1 / 0  # type: ignore[assignment,return-value,method-assign]
    caplog.set_level("INFO")
    rig.operator.close()
    summary, failure = [record.getMessage() for record in caplog.records]
    assert summary.endswith("1 records failed, 1 of them were skipped, 0 retries, 0 records to the dead letter queue")
    assert failure == "Failed to close reporter Kept"
