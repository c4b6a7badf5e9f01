"""Futures of requests: listeners, compose, chain."""

from __future__ import annotations

import pytest

from kafka_lite.clients.request_future import (
    DisconnectError,
    FunctionAdapter,
    IllegalFutureStateError,
    RequestFuture,
    RequestFutureAdapter,
)
from kafka_lite.common.errors import Errors


class Heard:
    def __init__(self, future: RequestFuture[int]) -> None:
        self.events: list[object] = []
        future.add_listener(self.events.append, self.events.append)


def test_listeners_are_called_once_whenever_they_are_added() -> None:
    future: RequestFuture[int] = RequestFuture()
    early = Heard(future)
    assert not future.is_done
    assert future.should_block
    future.complete(7)
    late = Heard(future)
    assert early.events == late.events == [7]
    assert (future.is_done, future.succeeded, future.failed, future.value) == (True, True, False, 7)


def test_a_failure_calls_the_failure_listeners() -> None:
    future: RequestFuture[int] = RequestFuture()
    values: list[int] = []
    errors: list[BaseException] = []
    future.add_listener(on_success=values.append)
    future.add_listener(on_failure=errors.append)
    future.fail(Errors.NOT_COORDINATOR)
    assert values == []
    assert errors == [future.exception]
    assert future.is_retriable


def test_none_is_a_value() -> None:
    future = RequestFuture.success(None)
    assert future.succeeded
    assert future.value is None


def test_reading_a_missing_outcome_raises() -> None:
    pending: RequestFuture[int] = RequestFuture()
    for future in (pending, RequestFuture[int].failure(ValueError())):
        with pytest.raises(IllegalFutureStateError):
            _ = future.value
    for future in (pending, RequestFuture.success(1)):
        with pytest.raises(IllegalFutureStateError):
            _ = future.exception
    done = RequestFuture.success(1)
    with pytest.raises(IllegalFutureStateError):
        done.complete(2)
    with pytest.raises(IllegalFutureStateError):
        done.fail(ValueError())
    assert done.value == 1


def test_compose_makes_a_future_of_another_type() -> None:
    future: RequestFuture[int] = RequestFuture()
    composed = future.compose(FunctionAdapter(str))
    assert not composed.is_done
    future.complete(5)
    assert composed.value == "5"


def test_an_exception_in_a_function_adapter_fails_the_future() -> None:
    composed = RequestFuture.success("x").compose(FunctionAdapter(int))
    assert isinstance(composed.exception, ValueError)


def test_a_failure_passes_through_compose_and_chain() -> None:
    future: RequestFuture[int] = RequestFuture()
    outer: RequestFuture[str] = RequestFuture()
    future.compose(FunctionAdapter(str)).chain(outer)
    lost = DisconnectError()
    future.fail(lost)
    assert outer.exception is lost
    assert outer.is_retriable


def test_an_adapter_may_turn_a_failure_into_a_value() -> None:
    class OrZero(RequestFutureAdapter[int, int]):
        def on_success(self, value: int, future: RequestFuture[int]) -> None:
            future.complete(value)

        def on_failure(self, exception: BaseException, future: RequestFuture[int]) -> None:
            future.complete(0)

    assert RequestFuture[int].failure(ValueError()).compose(OrZero()).value == 0


def test_a_chain_of_requests_completes_with_the_last_response() -> None:
    """Like joining a group: the adapter of the first request sends the second and chains it."""
    join: RequestFuture[str] = RequestFuture()
    sync: RequestFuture[bytes] = RequestFuture()

    class ThenSync(RequestFutureAdapter[str, bytes]):
        def on_success(self, value: str, future: RequestFuture[bytes]) -> None:
            assert value == "joined"
            sync.chain(future)

    joined = join.compose(ThenSync())
    join.complete("joined")
    assert not joined.is_done
    sync.complete(b"assignment")
    assert joined.value == b"assignment"


def test_a_missing_coordinator_is_retriable() -> None:
    assert RequestFuture[None].no_brokers_available().is_retriable
    assert RequestFuture[None].coordinator_not_available().is_retriable
    assert not RequestFuture[None].failure(Errors.GROUP_AUTHORIZATION_FAILED).is_retriable
