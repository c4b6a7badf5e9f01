"""Task 2: the adapter makes another outcome of it."""

import pytest

from kafka_lite.clients.request_future import FunctionAdapter, RequestFuture, RequestFutureAdapter


class Length(RequestFutureAdapter):
    """A text becomes its length."""

    def on_success(self, value, future):
        future.complete(len(value))


class Later(RequestFutureAdapter):
    """Sends another request, as it were: keeps the future."""

    def on_success(self, value, future):
        self.kept = value, future


class Forgiving(Length):
    """Knows better than to fail."""

    def on_failure(self, exception, future):  # noqa: ARG002
        future.complete(-1)


@pytest.mark.points(6, task=2)
def test_another_type(pending, outcome_of):
    """A text, and its length"""
    composed = pending.compose(Length())
    assert composed is not pending, "compose makes another future: this one keeps its own outcome"
    assert outcome_of(composed) == "pending", "nothing has come yet"
    pending.complete("seven!!")
    assert (outcome_of(pending), outcome_of(composed)) == ("value seven!!", "value 7"), (
        f"the text stays a text, the length is 7; you have {outcome_of(pending)}, {outcome_of(composed)}"
    )
    done = outcome_of(RequestFuture.success("four").compose(Length()))
    assert done == "value 4", f"composed when the text was there already: 4, not {done}"


@pytest.mark.points(6, task=2)
def test_an_adapter_that_takes_its_time(pending, outcome_of):
    """JoinGroup has been answered, SyncGroup has not"""
    adapter = Later()
    composed = pending.compose(adapter)
    pending.complete("joined")
    outcome = outcome_of(composed)
    assert outcome == "pending", f"the adapter has sent another request, and completes it later; yours is: {outcome}"
    assert adapter.kept == ("joined", composed), "the adapter gets the value, and the future that it is to complete"


@pytest.mark.points(6, task=2)
def test_failures(pending, outcome_of):
    """An adapter that says nothing of failures, and one that does"""
    plain, forgiving = pending.compose(Length()), pending.compose(Forgiving())
    pending.fail(ValueError("no"))
    assert outcome_of(plain) == "ValueError: no", f"a failure stays one, and the same; yours is: {outcome_of(plain)}"
    assert outcome_of(forgiving) == "value -1", f"the adapter knows better: -1; yours is: {outcome_of(forgiving)}"


@pytest.mark.points(7, task=2)
def test_a_function(pending, outcome_of):
    """FunctionAdapter(int), of a number and of none"""
    assert outcome_of(RequestFuture.success("12").compose(FunctionAdapter(int))) == "value 12", "int('12') is 12"
    composed = pending.compose(FunctionAdapter(int))
    try:
        pending.complete("twelve")
    except ValueError:
        pytest.fail("the function's exception got out of complete: it is the failure of the new future")
    outcome = outcome_of(composed)
    assert outcome.startswith("ValueError"), f"the function raised ValueError, which is the outcome; yours: {outcome}"
