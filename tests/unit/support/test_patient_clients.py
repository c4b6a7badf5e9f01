"""Calls in rounds, with clients that answer late, with nothing, or not at all."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import pytest

from tests.support.patient_clients import answer, consumed, flush, next_message


class Message:
    """Is false if its value is empty, like librdkafka's."""

    def __init__(self, value: bytes, error: str | None = None) -> None:
        self._value, self._error = value, error

    def __len__(self) -> int:
        return len(self._value)

    def error(self) -> str | None:
        return self._error


class Client(list[Any]):
    """A consumer and a producer that do what the list says, one element a call."""

    def poll(self, _timeout_s: float) -> Any:
        return self.pop(0) if self else None

    def consume(self, count: int, _timeout_s: float) -> list[Any]:
        found = self.pop(0) if self else []
        assert len(found) <= count
        return found

    def flush(self, _timeout_s: float) -> int:
        return self.pop(0) if len(self) > 1 else self[0]


def test_a_message_may_come_late_and_have_no_value() -> None:
    empty: Any = Message(b"")
    assert next_message(Client([None, None, empty])) is empty


def test_no_message_is_told_with_what_came_before() -> None:
    with pytest.raises(AssertionError, match=r"a message after \['a'\]"):
        next_message(Client(), ["a"], timeout_s=0.05)


def test_messages_may_come_in_several_rounds() -> None:
    a, b, c = Message(b"a"), Message(b"b"), Message(b"c")
    assert consumed(Client([[a], [], [b, c]]), 3) == [a, b, c]
    with pytest.raises(AssertionError, match="3 messages after 2"):
        consumed(Client([[a, b]]), 3, timeout_s=0.05)


def test_an_error_is_not_one_of_the_messages() -> None:
    with pytest.raises(AssertionError, match="not there"):
        consumed(Client([[Message(b"", "not there")]]), 1)


def test_a_flush_takes_as_many_rounds_as_it_needs() -> None:
    client = Client([2, 1, 0])
    flush(client)
    assert client == [0]
    with pytest.raises(AssertionError, match="delivery of 1 messages"):
        flush(Client([7]), timeout_s=0.05)


def test_an_answer_is_the_future_s_result_or_error() -> None:
    found: Future[int] = Future()
    found.set_result(7)
    assert answer(found) == 7
    failed: Future[int] = Future()
    failed.set_exception(ValueError("no"))
    with pytest.raises(ValueError, match="no"):
        answer(failed)
    with pytest.raises(AssertionError, match="an answer"):
        answer(Future(), timeout_s=0.05)
