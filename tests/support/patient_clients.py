"""Calls of clients that take a timeout, made in rounds: so the limit is in seconds of a quiet machine (``Patience``).

A client's own timeout is wall-clock time, whatever else the machine does.
"""

from __future__ import annotations

from concurrent.futures import Future
from typing import TypeVar

from confluent_kafka import Consumer, Message, Producer

from tests.support.eventually import TIMEOUT_S, eventually

ROUND_S = 0.5
T = TypeVar("T")


def next_message(consumer: Consumer, what: object = "", timeout_s: float = TIMEOUT_S) -> Message:
    """The next message, or an error in the place of one.

    Raises AssertionError, with ``what`` was read until then, if none comes.
    """

    def polled() -> list[Message]:  # in a list: a message without a value is false
        return [message] if (message := consumer.poll(ROUND_S)) is not None else []

    return eventually(polled, lambda: f"a message after {what}", timeout_s)[0]


def consumed(consumer: Consumer, count: int, timeout_s: float = TIMEOUT_S) -> list[Message]:
    """The next ``count`` messages. Raises AssertionError if there are fewer, and for an error in the place of one."""
    messages: list[Message] = []

    def is_complete() -> bool:
        messages.extend(consumer.consume(count - len(messages), ROUND_S))
        return len(messages) == count

    eventually(is_complete, lambda: f"{count} messages after {len(messages)}", timeout_s)
    errors = [message.error() for message in messages if message.error()]
    assert not errors, errors
    return messages


def flush(producer: Producer, timeout_s: float = TIMEOUT_S) -> None:
    """Send everything. Raises AssertionError if something has neither been delivered nor failed at the end."""
    eventually(lambda: producer.flush(ROUND_S) == 0, lambda: f"delivery of {len(producer)} messages", timeout_s)


def answer(future: Future[T], timeout_s: float = TIMEOUT_S) -> T:
    """What an admin client's request has brought. Raises its error, and AssertionError if nothing comes."""
    eventually(future.done, "an answer", timeout_s)
    return future.result()
