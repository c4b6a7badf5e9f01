"""A share consumer beside a scripted broker: no sockets, no threads, and time only passes when the consumer waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafka_lite.clients import client_utils
from kafka_lite.common.time import MockTime
from kafka_lite.consumer.group.heartbeat_thread import HeartbeatThread
from kafka_lite.consumer.share.kafka_share_consumer import KafkaShareConsumer
from tests.support.share_broker import ShareBroker

NewShareConsumer = Callable[..., KafkaShareConsumer]


@pytest.fixture
def broker(time: MockTime) -> ShareBroker:
    broker = ShareBroker(time)
    broker.create("t", 2)
    return broker


@pytest.fixture
def new_share(broker: ShareBroker, time: MockTime, monkeypatch: pytest.MonkeyPatch) -> Iterator[NewShareConsumer]:
    """Makes share consumers; heartbeats are sent when the test calls ``beat``."""
    monkeypatch.setattr(client_utils, "Selector", lambda **_: broker)
    monkeypatch.setattr(HeartbeatThread, "start", lambda _self: None)
    monkeypatch.setattr(HeartbeatThread, "is_alive", lambda _self: False)
    made = []

    def new(**configs: Any) -> KafkaShareConsumer:
        settings: dict[str, Any] = {"bootstrap.servers": "127.0.0.1:9092", "group.id": "g"}
        settings |= {key.replace("_", "."): value for key, value in configs.items()}
        consumer = KafkaShareConsumer(settings, time=time)
        made.append(consumer)
        return consumer

    yield new
    for consumer in made:
        consumer.close(1000)
