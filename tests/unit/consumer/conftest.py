"""A consumer beside a scripted broker: no sockets, no threads, and time only passes when the consumer waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafka_lite.clients import client_utils
from kafka_lite.common.time import MockTime
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.consumer.group.heartbeat_thread import HeartbeatThread
from tests.support.scripted_broker import ScriptedBroker

ConsumerFactory = Callable[..., KafkaConsumer]


@pytest.fixture
def time() -> MockTime:
    return MockTime()


@pytest.fixture
def broker(time: MockTime) -> ScriptedBroker:
    broker = ScriptedBroker(time)
    broker.create("t", 2)
    return broker


@pytest.fixture
def new_consumer(broker: ScriptedBroker, time: MockTime, monkeypatch: pytest.MonkeyPatch) -> Iterator[ConsumerFactory]:
    """Makes consumers; a group's heartbeats are sent when the test calls ``heartbeat_turn``."""
    monkeypatch.setattr(client_utils, "Selector", lambda **_: broker)
    monkeypatch.setattr(HeartbeatThread, "start", lambda _self: None)
    monkeypatch.setattr(HeartbeatThread, "is_alive", lambda _self: False)
    made = []

    def new(group: str | None = None, **configs: Any) -> KafkaConsumer:
        settings: dict[str, Any] = {"bootstrap.servers": "127.0.0.1:9092", "auto.offset.reset": "earliest"}
        if group is not None:
            settings["group.id"] = group
        settings |= {key.replace("_", "."): value for key, value in configs.items()}
        consumer = KafkaConsumer(settings, time=time)
        made.append(consumer)
        return consumer

    yield new
    for consumer in made:
        consumer.close(1000)
