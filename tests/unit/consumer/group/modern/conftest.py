"""Consumers with ``group.protocol=consumer`` beside a scripted broker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.consumer import KafkaConsumer
from tests.support.scripted_modern_group import ScriptedModernGroup
from tests.unit.consumer.conftest import ConsumerFactory

MemberFactory = Callable[..., KafkaConsumer]


@pytest.fixture
def broker(time: MockTime) -> ScriptedModernGroup:
    broker = ScriptedModernGroup(time)
    broker.create("t", 2)
    broker.create("u", 1)
    return broker


@pytest.fixture
def new_member(new_consumer: ConsumerFactory) -> MemberFactory:
    """Makes consumers of the group ``g``."""

    def new(**configs: Any) -> KafkaConsumer:
        return new_consumer("g", group_protocol="consumer", **configs)

    return new
