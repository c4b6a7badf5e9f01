"""The program of a client process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import confluent_kafka
import pytest
from confluent_kafka import KafkaError, KafkaException

from kafka_lite.testing.chaos import client
from kafka_lite.testing.history.history import History, Sent
from kafka_lite.testing.simulation.programs import Load


class FakeProducer:
    """Fails for good at a record, as librdkafka's producer does."""

    made: ClassVar[list[FakeProducer]] = []
    fails_at = b"b"

    def __init__(self, _configs: dict[str, Any]) -> None:
        self.made.append(self)
        self.values: list[bytes] = []
        self.calls: list[str] = []

    def produce(self, _topic: str, value: bytes, _key: bytes | None, **_: Any) -> None:
        if value == self.fails_at and len(self.made) == 1:
            raise KafkaException(KafkaError(KafkaError._FATAL))
        self.values.append(value)

    def poll(self, _timeout_s: float) -> None:
        self.calls.append("poll")

    def flush(self, *_: float) -> None:
        self.calls.append("flush")


def test_a_producer_that_has_given_up_is_followed_by_another(monkeypatch: pytest.MonkeyPatch) -> None:
    def send_three(_name: str, _load: Load, history: History, send: Callable[[Sent, bytes | None], None]) -> None:
        for value in ("a", "b", "c"):
            send(history.send("me", "t", 0, value), None)

    monkeypatch.setattr(confluent_kafka, "Producer", FakeProducer)
    monkeypatch.setattr(client.programs, "send_at_pace", send_three)
    monkeypatch.setattr(FakeProducer, "made", [])
    client.librdkafka_producer("127.0.0.1:1", "me", Load("t", 1, 1.0), History(), {})
    first, second = FakeProducer.made
    assert (first.values, first.calls) == ([b"a"], ["poll", "flush"])
    assert (second.values, second.calls[-1]) == ([b"b", b"c"], "flush")
