"""Task 1: one outcome, and every listener is called once."""

import threading

import pytest

from kafka_learn.labs.locks import touched_only_with
from kafka_lite.clients.request_future import IllegalFutureStateError, RequestFuture
from kafka_lite.common.errors import ApiError, Errors


@pytest.mark.points(5, task=1)
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
    for nothing in (None, 0, ""):
        future = RequestFuture()
        told = heard(future)
        future.complete(nothing)
        assert told == [nothing], f"{nothing!r} is a value as any other: call on_success; the listener got {told}"


@pytest.mark.points(3, task=1)
@pytest.mark.parametrize("outcome", ["complete", "fail"])
def test_either_may_be_missing(outcome):
    """A listener without on_success, one without on_failure, before and after; outcome by"""
    future, told = RequestFuture(), []
    try:
        future.add_listener(None, told.append)
        future.add_listener(told.append, None)
        getattr(future, outcome)(argument := ValueError("no"))
        future.add_listener(None, told.append)
        future.add_listener(told.append, None)
    except TypeError as error:
        pytest.fail(f"either of the two may be None, which means: do not call it ({error})")
    assert told == [argument] * 2, f"one listener of each pair is called with the outcome; yours: {told}"


class Watched(RequestFuture):
    """Notes whether the lock is held when someone asks for the state."""

    def __init__(self):
        super().__init__()
        self.held = []

    @property
    def is_done(self):
        self.held.append(self._lock.locked())
        return super().is_done


@pytest.mark.points(2, task=1)
def test_check_and_act_under_the_lock():
    """Two threads at the same moment"""
    for act in (lambda f: f.complete(5), lambda f: f.fail(ValueError()), lambda f: f.add_listener(None, None)):
        future = Watched()
        act(future)
        assert all(future.held[:1]), (
            "between the check and what follows, another thread may complete the future: do both under one lock"
        )
        future = RequestFuture()
        with touched_only_with(future, "_lock", state=["_listeners"], within=["complete", "fail", "add_listener"]):
            act(future)


@pytest.mark.points(6, task=1)
def test_listeners_of_failures(pending, heard):
    """An exception, and a protocol error"""
    told = heard(pending)
    pending.add_listener(None, None)
    pending.fail(ValueError("no"))
    assert told == ["no"], f"for a failure only on_failure is called; this listener got {told}"
    refused = RequestFuture()
    told = []
    refused.add_listener(None, told.append)
    refused.fail(Errors.NOT_COORDINATOR)
    error = refused.exception
    is_exception = isinstance(error, ApiError) and error.error is Errors.NOT_COORDINATOR
    assert is_exception, f"a protocol error becomes its exception (reason.exception()), not {error!r}"
    assert told == [error], f"and the listener gets that exception; it got {told}"


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


@pytest.mark.points(7, task=1)
def test_a_late_listener(heard, pending):
    """Listeners of a completed future"""
    pending.complete(None)
    assert heard(pending) == [None], (
        "the future is already completed: call the listener at once. (The value is None, which is a value, too)"
    )
    late = heard(RequestFuture.failure(ValueError("no")))
    assert late == ["no"], f"the future has already failed: call the listener at once; it got {late}"
    told = []
    worker = threading.Thread(target=lambda: pending.add_listener(lambda _v: told.append(heard(pending))), daemon=True)
    worker.start()
    worker.join(2)
    assert not worker.is_alive(), "a late listener uses the future, whose lock you hold: call it without the lock"


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
