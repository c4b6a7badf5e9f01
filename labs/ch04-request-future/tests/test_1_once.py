"""Task 1: one outcome, and every listener is called once."""

import threading

import pytest

from kafka_lite.clients.request_future import IllegalFutureStateError, RequestFuture
from kafka_lite.common.errors import ApiError, Errors


@pytest.mark.points(9, task=1)
def test_listeners_are_called(pending, heard):
    """Three listeners, then a value"""
    order = []
    for name in "abc":
        pending.add_listener(lambda value, name=name: order.append((name, value)))
    told = heard(pending)
    pending.complete(5)
    assert pending.succeeded, "complete(5): the future has succeeded"
    assert pending.value == 5, f"complete(5): its value is 5, not {pending.value}"
    assert order == [("a", 5), ("b", 5), ("c", 5)], (
        f"each is called once, in the order in which they were added; yours: {order}"
    )
    assert told == [5], f"for a value only on_success is called; this listener got {told}"


@pytest.mark.points(9, task=1)
def test_listeners_of_failures(pending, heard):
    """An exception, and a protocol error"""
    told = heard(pending)
    pending.add_listener(None, None)
    pending.fail(ValueError("no"))
    assert told == ["no"], f"for a failure only on_failure is called; this listener got {told}"
    refused = RequestFuture()
    refused.fail(Errors.NOT_COORDINATOR)
    error = refused.exception
    is_exception = isinstance(error, ApiError) and error.error is Errors.NOT_COORDINATOR
    assert is_exception, f"a protocol error becomes its exception (reason.exception()), not {error!r}"


@pytest.mark.points(4, task=1)
@pytest.mark.parametrize("first", ["complete", "fail"])
def test_only_once(pending, heard, first):
    """A second outcome after"""
    told = heard(pending)
    pending.complete("first") if first == "complete" else pending.fail(ValueError("first"))
    for again in (lambda: pending.complete("second"), lambda: pending.fail(ValueError("second"))):
        try:
            again()
        except IllegalFutureStateError:
            continue
        pytest.fail("a future is completed once: a second outcome is an error of the caller, IllegalFutureStateError")
    assert told == ["first"], f"the listener gets the first outcome, and only that: {told}"


@pytest.mark.points(8, task=1)
def test_a_late_listener(heard, pending):
    """Listeners of a completed future"""
    pending.complete(None)
    assert heard(pending) == [None], (
        "the future is already completed: call the listener at once. (The value is None, which is a value, too)"
    )
    late = heard(RequestFuture.failure(ValueError("no")))
    assert late == ["no"], f"the future has already failed: call the listener at once; it got {late}"


@pytest.mark.points(3, task=1)
@pytest.mark.parametrize("outcome", ["complete", "fail"])
def test_a_listener_uses_the_future(pending, heard, outcome):
    """The listener adds another listener; outcome by"""
    told = []
    pending.add_listener(lambda _v: told.append(heard(pending)), lambda _e: told.append(heard(pending)))
    argument = 5 if outcome == "complete" else ValueError("no")
    errors = []

    def work():
        try:
            getattr(pending, outcome)(argument)
        except BaseException as error:  # noqa: BLE001 - told by the test's own thread
            errors.append(error)

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    worker.join(2)
    assert not worker.is_alive(), (
        "the listener calls the future, whose lock you hold: call the listeners without the lock"
    )
    if errors:
        raise errors[0]
    assert told == [[5 if outcome == "complete" else "no"]], f"the inner listener is called at once: {told}"
