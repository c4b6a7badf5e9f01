"""Flags that contradict each other, and defaults that lose nothing."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from kafka_lite.mirror.maker.mirror_maker_config import MirrorMakerConfig, MirrorMakerConfigError
from kafka_lite.producer.producer_config import ProducerConfig

NEW = {"bootstrap.servers": "a:1", "group.id": "g"}
OLD = {"zookeeper.connect": "a:2181", "group.id": "g"}
TARGET = {"bootstrap.servers": "b:1"}


def config(consumer: dict[str, str], producer: dict[str, str] | None = None, **flags: Any) -> MirrorMakerConfig:
    return MirrorMakerConfig(consumer, TARGET if producer is None else producer, **flags)


@pytest.mark.parametrize(
    ("consumer", "flags", "problem"),
    [
        (NEW, {}, "whitelist must be specified when using new consumer in mirror maker."),
        (
            *(NEW, {"whitelist": "a", "blacklist": "b"}),
            "blacklist can not be used when using new consumer in mirror maker. Use whitelist instead.",
        ),
        (
            *(OLD, {"whitelist": "a", "new_consumer": True}),
            "The consumer configuration parameter `zookeeper.connect` is not valid when using --new.consumer",
        ),
        (
            *(OLD | NEW, {"whitelist": "a"}),
            "The configuration parameters `zookeeper.connect` (old consumer) and `bootstrap.servers` (new consumer) "
            "cannot be used together.",
        ),
        (OLD, {}, "Exactly one of whitelist or blacklist is required."),
        (OLD, {"whitelist": "a", "blacklist": "b"}, "Exactly one of whitelist or blacklist is required."),
        (NEW, {"whitelist": "a", "num_streams": 0}, "num.streams is 0: a mirror needs at least one thread."),
        (
            *({"bootstrap.servers": "a:1"}, {"whitelist": "a"}),
            "The consumer configuration has no group.id: the offsets of what was copied are committed for a group.",
        ),
    ],
)
def test_contradictions_are_named_in_kafkas_words(
    consumer: dict[str, str], flags: dict[str, Any], problem: str
) -> None:
    with pytest.raises(MirrorMakerConfigError) as raised:
        config(consumer, **flags).check()
    assert str(raised.value) == problem


@pytest.mark.parametrize(("consumer", "flags"), [(NEW, {"whitelist": "a"}), (OLD, {"blacklist": "a"})])
def test_zookeeper_connect_selects_the_old_consumer(consumer: dict[str, str], flags: dict[str, Any]) -> None:
    checked = config(consumer, **flags)
    checked.check()
    assert checked.uses_old_consumer is (consumer is OLD)
    assert checked.warns_of_assignment is (consumer is NEW)


def test_the_producer_loses_nothing_and_keeps_the_order() -> None:
    properties = config(NEW, TARGET | {"key.serializer": "StringSerializer", "producer.type": "sync"})
    assert properties.producer_properties() == TARGET | {
        "retries": "2147483647", "delivery.timeout.ms": "2147483647", "max.block.ms": "9223372036854775807",
        "acks": "all", "max.in.flight.requests.per.connection": "1",
    }  # fmt: skip
    assert properties.sends_synchronously
    assert ProducerConfig(properties.producer_properties())["max.block.ms"] == 2**63 - 1


def test_consumers_do_not_commit_by_themselves_and_have_their_own_client_ids() -> None:
    given = {"value.deserializer": "StringDeserializer", "client.id": "mine"}
    assert config(NEW | given).consumer_properties(1) == NEW | {"enable.auto.commit": "false", "client.id": "g-1"}
    assert config(OLD | given).consumer_properties(0) == OLD | {
        "auto.commit.enable": "false", "consumer.timeout.ms": "10000", "client.id": "g-0",
    }  # fmt: skip


def test_an_overridden_default_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    overriding = config(NEW | {"enable.auto.commit": "true"}, TARGET | {"acks": "1"})
    with caplog.at_level(logging.WARNING):
        assert overriding.producer_properties()["acks"] == "1"
        assert [overriding.consumer_properties(n)["enable.auto.commit"] for n in range(2)] == ["true", "true"]
    assert [record.getMessage() for record in caplog.records] == [
        "Property acks is overridden to 1 - data loss or message reordering is possible.",
        "Property enable.auto.commit is overridden to true - data loss or message reordering is possible.",
    ]
