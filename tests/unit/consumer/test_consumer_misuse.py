"""Mistakes of the consumer's user fail at once, with an error that says what to do."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.serialization import StringDeserializer
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import ConcurrentModificationError, IllegalConsumerStateError
from kafka_lite.consumer.consumer_rebalance_listener import ConsumerRebalanceListener
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.consumer.subscription_pattern import SubscriptionPattern
from tests.support.scripted_broker import ScriptedBroker
from tests.unit.consumer.conftest import ConsumerFactory

T0 = TopicPartition("t", 0)
SERVERS = {"bootstrap.servers": "localhost:1"}
Misdeed = Callable[[Any], object]


@pytest.mark.parametrize("configs", [None, "localhost:9092", [("bootstrap.servers", "localhost:1")]])
def test_a_missing_configuration_raises(configs: Any) -> None:
    with pytest.raises(TypeError, match=r"KafkaConsumer takes its configuration as a dict, such as \{'bootstrap"):
        KafkaConsumer(configs)


def test_a_key_without_a_value_raises() -> None:
    with pytest.raises(ConfigError, match=r"max\.poll\.records: it has no value; leave it out"):
        KafkaConsumer({**SERVERS, "max.poll.records": None})


@pytest.mark.parametrize("deserializer", [bytes.decode, StringDeserializer])
def test_an_invalid_deserializer_raises(deserializer: Any) -> None:
    with pytest.raises(TypeError, match="value_deserializer must be an object derived from Deserializer"):
        KafkaConsumer(SERVERS, value_deserializer=deserializer)


class HalfAListener:
    def on_partitions_assigned(self, partitions: object) -> None:
        """Lacks every other method."""


TYPES: dict[str, tuple[Misdeed, str]] = {
    "one topic": (lambda c: c.subscribe("t"), "subscribe takes a list of topics, or a compiled pattern, not a str"),
    "no topics": (lambda c: c.subscribe(None), "not None"),
    "topics of bytes": (lambda c: c.subscribe([b"t"]), "the name of a topic is a str, not a bytes"),
    "pattern of bytes": (lambda c: c.subscribe(re.compile(b"t")), "a topic pattern must be compiled from a str"),
    "listener": (lambda c: c.subscribe(["t"], HalfAListener()), "has no on_partitions_revoked, on_partitions_lost"),
    "no listener": (lambda c: c.subscribe(["t"], None), "omit it if you need no callbacks"),
    "listener's class": (lambda c: c.subscribe(["t"], ConsumerRebalanceListener), "is a class"),
    "assign names": (
        lambda c: c.assign(["t"]),
        r"assign: 't' is not a partition: pass TopicPartition\(topic, number\)",
    ),
    "assign one": (lambda c: c.assign(T0), "assign takes a list of partitions"),
    "assign none": (lambda c: c.assign(None), "assign takes a list of partitions"),
    "assign text": (lambda c: c.assign([("t", "0")]), "is not a partition"),
    "seek text": (lambda c: c.seek("t-0", 1), "seek: 't-0' is not a partition"),
    "seek to text": (
        lambda c: c.seek(T0, "1"),
        "an offset to seek to is an int, or an OffsetAndMetadata, not a str",
    ),
    "seek to half": (lambda c: c.seek(T0, 1.5), "not a float"),
    "seek one": (lambda c: c.seek_to_beginning(T0), "seek takes a list of partitions"),
    "pause one": (lambda c: c.pause(T0), "pause takes a list of partitions"),
    "resume names": (lambda c: c.resume(["t"]), "resume: 't' is not a partition"),
    "commit numbers": (lambda c: c.commit_sync({T0: 1}), r"\{TopicPartition\(topic, number\): OffsetAndMetadata"),
    "commit an epoch": (lambda c: c.commit_sync({T0: OffsetAndMetadata(1, "", "7")}), "a leader epoch is an int"),  # type: ignore[arg-type]
    "commit list": (lambda c: c.commit_sync([T0]), "not a list"),
    "commit names": (lambda c: c.commit_async({"t": OffsetAndMetadata(1)}), "commit: 't' is not a partition"),
    "callback": (
        lambda c: c.commit_async({}, "done"),
        r"called as callback\(offsets, error\), but a str is not callable",
    ),
    "committed": (lambda c: c.committed(T0), "committed takes a list of partitions"),
    "times": (lambda c: c.offsets_for_times([T0]), "offsets_for_times takes times by partition"),
    "a time": (lambda c: c.offsets_for_times({T0: "now"}), "ms since the epoch, not a str"),
    "ends": (lambda c: c.end_offsets("t"), "end_offsets takes a list of partitions"),
    "beginnings": (lambda c: c.beginning_offsets(["t"]), "beginning_offsets: 't' is not a partition"),
    "partitions of": (lambda c: c.partitions_for(None), "the name of a topic is a str, not None"),
    "poll for ever": (lambda c: c.poll(None), "a timeout is a number of milliseconds, not None"),
    "commit in time": (lambda c: c.commit_sync(None, "1"), "a timeout is a number of milliseconds, not a str"),
}
VALUES: dict[str, tuple[Misdeed, str]] = {
    "empty topic": (lambda c: c.subscribe(["t", " "]), "cannot contain null or empty topic"),
    "partitions of no name": (lambda c: c.partitions_for(""), "the name of a topic cannot be empty"),
    "null topic": (lambda c: c.subscribe([None]), "cannot contain null or empty topic"),
    "empty pattern": (lambda c: c.subscribe(re.compile("")), "Topic pattern to subscribe to cannot be empty"),
    "assign minus": (lambda c: c.assign([("t", -1)]), "a number from 0 on"),
    "assign nothing": (lambda c: c.assign([("", 0)]), "needs a topic's name"),
    "seek above": (lambda c: c.seek(T0, 1 << 63), "invalid offset 9223372036854775808"),
    "commit above": (lambda c: c.commit_async({T0: OffsetAndMetadata(1 << 63)}), "Invalid offset to commit for t-0"),
    "epoch above": (lambda c: c.commit_sync({T0: OffsetAndMetadata(1, "", 1 << 31)}), "Invalid leader epoch"),
    "assign above": (lambda c: c.assign([("t", 1 << 31)]), r"assign: \('t', 2147483648\) is not a partition"),
    "committed above": (lambda c: c.committed([("t", 1 << 31)]), r"'t', 2147483648\) is not a partition"),
    "time above": (lambda c: c.offsets_for_times({T0: 1 << 63}), "a time to search for counts milliseconds"),
    "seek below": (lambda c: c.seek(T0, -1), "seek offset must not be a negative number"),
    "commit below": (lambda c: c.commit_sync({T0: OffsetAndMetadata(-1)}), "Invalid offset to commit for t-0: -1"),
    "commit half": (lambda c: c.commit_sync({T0: OffsetAndMetadata(1, "\ud800")}), "the metadata of an offset is text"),
    "times below": (lambda c: c.offsets_for_times({T0: -5}), "cannot be negative"),
    "poll below": (lambda c: c.poll(-1), "Timeout must not be negative"),
    "poll nan": (lambda c: c.poll(float("nan")), "Timeout must not be negative"),
    "close below": (lambda c: c.close(-1), "Timeout must not be negative"),
}


@pytest.mark.parametrize("name", TYPES)
def test_arguments_of_a_wrong_type_raise(new_consumer: ConsumerFactory, name: str) -> None:
    misdeed, says = TYPES[name]
    with pytest.raises(TypeError, match=says):
        misdeed(new_consumer("g"))


@pytest.mark.parametrize("name", VALUES)
def test_arguments_with_a_wrong_value_raise(new_consumer: ConsumerFactory, name: str) -> None:
    misdeed, says = VALUES[name]
    with pytest.raises(ValueError, match=says):
        misdeed(new_consumer("g"))


@pytest.mark.parametrize("topic", ["\ud800", "x" * 32768])
@pytest.mark.parametrize("misdeed", [lambda c, t: c.subscribe([t]), lambda c, t: c.assign([TopicPartition(t, 0)])])
def test_an_invalid_topic_name_changes_nothing(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, topic: str, misdeed: Callable[[Any, str], object]
) -> None:
    consumer = new_consumer("g")
    with pytest.raises(ApiError) as raised:
        misdeed(consumer, topic)
    assert raised.value.error is Errors.INVALID_TOPIC_EXCEPTION
    broker.append(T0, b"a")
    consumer.assign([T0])
    assert [record.value for _ in range(10) for record in consumer.poll(50)] == [b"a"]


def test_concurrent_use_by_two_threads_raises(
    broker: ScriptedBroker, new_consumer: ConsumerFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    consumer = new_consumer()
    consumer.assign([T0])
    raised: list[Exception] = []

    def poll_too() -> None:
        try:
            consumer.poll(0)
        except Exception as error:  # noqa: BLE001 - whatever it is, the test looks at it
            raised.append(error)

    poll_network = broker.poll

    def poll_from_another_thread_meanwhile(timeout_ms: float) -> None:
        if not raised:
            thread = threading.Thread(target=poll_too, name="the other")
            thread.start()
            thread.join()
        poll_network(timeout_ms)

    monkeypatch.setattr(broker, "poll", poll_from_another_thread_meanwhile)
    consumer.poll(50)
    assert isinstance(raised[0], ConcurrentModificationError)
    assert "not safe for multi-threaded access: thread MainThread is using it, and the other must not" in str(raised[0])
    assert "only wakeup may be called from another thread" in str(raised[0])
    consumer.wakeup()


AFTER_CLOSE: list[Misdeed] = [
    lambda c: c.poll(0), lambda c: c.subscribe(["t"]), lambda c: c.assign([T0]), lambda c: c.unsubscribe(),
    lambda c: c.commit_sync(), lambda c: c.commit_async(), lambda c: c.committed([T0]), lambda c: c.seek(T0, 1),
    lambda c: c.seek_to_end(), lambda c: c.position(T0), lambda c: c.pause([T0]), lambda c: c.resume([T0]),
    lambda c: c.assignment, lambda c: c.subscription, lambda c: c.paused, lambda c: c.partitions_for("t"),
    lambda c: c.list_topics(), lambda c: c.end_offsets([T0]), lambda c: c.offsets_for_times({T0: 0}),
    lambda c: c.current_lag(T0), lambda c: c.enforce_rebalance(),
]  # fmt: skip


def test_use_after_close_raises(new_consumer: ConsumerFactory) -> None:
    consumer = new_consumer("g")
    consumer.close()
    for misdeed in AFTER_CLOSE:
        with pytest.raises(IllegalConsumerStateError, match="already been closed"):
            misdeed(consumer)
    consumer.close()
    consumer.wakeup()


def test_a_subscription_pattern_needs_the_protocol_of_the_broker(new_consumer: ConsumerFactory) -> None:
    with pytest.raises(ValueError, match=r"group\.protocol=consumer"):
        new_consumer("g").subscribe(SubscriptionPattern("t.*"))
    modern = new_consumer("h", group_protocol="consumer")
    with pytest.raises(ValueError, match="cannot be empty"):
        modern.subscribe(SubscriptionPattern(""))
    with pytest.raises(TypeError, match="has a str"):
        modern.subscribe(SubscriptionPattern(b"t.*"))  # type: ignore[arg-type]
