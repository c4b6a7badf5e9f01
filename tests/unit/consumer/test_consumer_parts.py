"""A consumer's parts are made from its configuration, and are all closed, whatever one of them does."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.serialization import ByteArrayDeserializer, Deserializer, StringDeserializer
from kafka_lite.common.time import MockTime
from kafka_lite.consumer.consumer_config import ConsumerConfig
from kafka_lite.consumer.consumer_interceptors import ConsumerInterceptor
from kafka_lite.consumer.consumer_parts import ConsumerParts
from kafka_lite.consumer.offset_and_metadata import OffsetResetStrategy
from kafka_lite.consumer.timer import Timer


class Noting(Deserializer[Any]):
    """Notes how it is configured, and that it is closed."""

    closed = 0

    def configure(self, configs: Any, *, is_key: bool) -> None:
        self.configured = (configs["client.id"], is_key)

    def deserialize(self, topic: str, data: bytes | None) -> Any:
        return data

    def close(self) -> None:
        type(self).closed += 1


class Failing(Noting):
    def close(self) -> None:
        raise OSError("stuck")


class Interceptor(ConsumerInterceptor):
    """Notes its configuration."""

    def configure(self, configs: Any) -> None:
        self.client_id = configs["client.id"]


def parts(key: Any = None, value: Any = None, **configs: Any) -> ConsumerParts:
    settings = {"bootstrap.servers": "127.0.0.1:9092", "client.id": "me"}
    settings |= {name.replace("_", "."): each for name, each in configs.items()}
    return ConsumerParts(ConsumerConfig(settings), key, value, MockTime())


def close(made: ConsumerParts) -> None:
    made.close(Timer(MockTime(), 0))


def test_a_consumer_without_a_group_has_no_coordinator() -> None:
    alone, member = parts(), parts(group_id="g")
    assert alone.coordinator is None
    assert member.coordinator is not None
    close(alone)
    close(member)


def test_deserializers_are_given_configured_by_name_or_bytes() -> None:
    given = StringDeserializer()
    made = parts(given, value_deserializer=f"{__name__}.Noting")
    assert made.key_deserializer is given
    assert made.value_deserializer.configured == ("me", False)
    close(made)
    plain = parts()
    assert isinstance(plain.key_deserializer, ByteArrayDeserializer)
    close(plain)


def test_what_is_no_deserializer_is_refused_by_its_argument() -> None:
    with pytest.raises(TypeError, match="value_deserializer"):
        parts(None, str)


def test_interceptors_and_the_reset_policy_come_from_the_configuration() -> None:
    made = parts(interceptor_classes=f"{__name__}.Interceptor", auto_offset_reset="earliest")
    assert made.subscriptions.default_reset_strategy is OffsetResetStrategy.EARLIEST
    close(made)
    with pytest.raises(KafkaError, match="NoSuchClass"):
        parts(interceptor_classes=f"{__name__}.NoSuchClass")


def test_a_part_that_cannot_be_closed_does_not_keep_the_others_open(caplog: pytest.LogCaptureFixture) -> None:
    Noting.closed = 0
    made = parts(Failing(), Noting())
    with pytest.raises(OSError, match="stuck"):
        close(made)
    assert Noting.closed == 1
    assert "Failed to close a part of the consumer" in caplog.text
