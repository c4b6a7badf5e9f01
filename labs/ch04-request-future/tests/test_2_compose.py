"""Task 2: the adapter turns the outcome into another one."""

import pytest

from kafka_lite.clients.request_future import (
    FunctionAdapter,
    IllegalFutureStateError,
    RequestFuture,
    RequestFutureAdapter,
)


class Length(RequestFutureAdapter):
    """A text becomes its length."""

    def on_success(self, value, future):
        future.complete(len(value))


class Later(RequestFutureAdapter):
    """Stands in for an adapter that sends another request: keeps the future."""

    def on_success(self, value, future):
        self.kept = value, future


class Forgiving(Length):
    """Turns a failure into a value."""

    def on_failure(self, exception, future):  # noqa: ARG002
        future.complete(-1)


@pytest.mark.points(6, task=2)
def test_another_type(pending, outcome_of):
    """A text, and its length"""
    composed = pending.compose(Length())
    assert composed is not pending, "compose returns another future: this one keeps its own outcome"
    assert outcome_of(composed) == "pending", "there is no outcome yet"
    pending.complete("seven!!")
    assert (outcome_of(pending), outcome_of(composed)) == ("value seven!!", "value 7"), (
        f"the text stays a text, the length is 7; you have {outcome_of(pending)}, {outcome_of(composed)}"
    )
    done = outcome_of(RequestFuture.success("four").compose(Length()))
    assert done == "value 4", f"composed after the text had arrived: 4, not {done}"


@pytest.mark.points(6, task=2)
def test_an_adapter_that_completes_later(pending, outcome_of):
    """JoinGroup has its response, SyncGroup has not"""
    adapter = Later()
    composed = pending.compose(adapter)
    pending.complete("joined")
    outcome = outcome_of(composed)
    assert outcome == "pending", f"the adapter has sent another request, and completes it later; yours is: {outcome}"
    assert adapter.kept == ("joined", composed), "the adapter gets the value, and the future that it must complete"


@pytest.mark.points(6, task=2)
def test_failures(pending, outcome_of):
    """An adapter without on_failure, and one with it"""
    plain, forgiving = pending.compose(Length()), pending.compose(Forgiving())
    try:
        pending.fail(ValueError("no"))
    except ValueError:
        pytest.fail("a failure is an outcome of the composed future, not an exception that fail raises")
    assert outcome_of(plain) == "ValueError: no", f"a failure is passed on unchanged; yours is: {outcome_of(plain)}"
    assert outcome_of(forgiving) == "value -1", (
        f"this adapter turns the failure into -1; yours is: {outcome_of(forgiving)}"
    )


@pytest.mark.points(6, task=2)
def test_a_function_adapter(pending, outcome_of):
    """FunctionAdapter(int), with a number and with another text"""
    assert outcome_of(RequestFuture.success("12").compose(FunctionAdapter(int))) == "value 12", "int('12') is 12"
    composed = pending.compose(FunctionAdapter(int))
    try:
        pending.complete("twelve")
    except ValueError:
        pytest.fail("the function's exception was raised by complete: it must be the failure of the new future")
    outcome = outcome_of(composed)
    assert outcome.startswith("ValueError"), f"the function raised ValueError, which is the outcome; yours: {outcome}"
    try:
        outcome = outcome_of(RequestFuture.success("key").compose(FunctionAdapter({}.__getitem__)))
    except KeyError:
        pytest.fail("whatever the function raises is the outcome, KeyError as well: it must not get out")
    assert outcome.startswith("KeyError"), f"whatever the function raises is the outcome: KeyError; yours: {outcome}"
    for nothing in (None, 0):
        outcome = outcome_of(RequestFuture.success("x").compose(FunctionAdapter(lambda _x, nothing=nothing: nothing)))
        assert outcome == f"value {nothing}", f"the function returned {nothing}, which is a value; yours: {outcome}"


def fail_to_listen(_value):
    raise KeyError("a mistake of the listener")


@pytest.mark.points(1, task=2)
def test_a_listener_of_the_new_future_raises(pending, outcome_of):
    """FunctionAdapter(int), and a listener with a mistake"""
    composed = pending.compose(FunctionAdapter(int))
    composed.add_listener(fail_to_listen)
    try:
        pending.complete("12")
    except KeyError:
        pass
    except IllegalFutureStateError:
        pytest.fail("complete has raised an error of a listener, which is not one of the function: do not fail, too")
    assert outcome_of(composed) == "value 12", f"the function has returned 12; yours: {outcome_of(composed)}"
