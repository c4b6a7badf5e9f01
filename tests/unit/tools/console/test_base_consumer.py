"""The console tools' consumers: what they wait for, what they say while nothing comes, and what they give back."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import WakeupError
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.old_consumer.consumer_iterator import ConsumerTimeoutError
from kafka_lite.old_consumer.topic_filter import Whitelist
from kafka_lite.record.record import TimestampType
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.tools.console import base_consumer
from kafka_lite.tools.console.base_consumer import (
    EARLIEST_OFFSET,
    LATEST_OFFSET,
    POLL_MS,
    NewShinyConsumer,
    OldConsumer,
    StreamEndError,
)

F0, F1 = TopicPartition("flights", 0), TopicPartition("flights", 1)
Look = list[int] | Exception
"""The partitions of a topic, or the error of asking for them."""


def record(partition: TopicPartition, offset: int) -> ConsumerRecord:
    return ConsumerRecord(*partition, offset, 0, TimestampType.CREATE_TIME, None, b"%d" % offset)


class Consumer:
    """Returns the scripted batches of records, then nothing; a poll takes as long as it may."""

    def __init__(self, time: MockTime) -> None:
        self.time = time
        self.batches: list[list[ConsumerRecord] | Exception] = []
        self.topic: list[Look] = [[0, 1]]
        self.assignment: set[TopicPartition] = set()
        self.done: list[tuple[Any, ...]] = []
        self.waits: list[float] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: self.done.append((name, *arguments))

    def assign(self, partitions: list[TopicPartition]) -> None:
        self.assignment = set(partitions)

    def poll(self, wait_ms: float) -> list[ConsumerRecord]:
        self.waits.append(wait_ms)
        batch = self.batches.pop(0) if self.batches else []
        if isinstance(batch, Exception):
            raise batch
        if not batch:
            self.time.sleep(max(wait_ms, 1))
        return batch

    def partitions_for(self, _topic: str, timeout_ms: float) -> list[Any]:
        look = self.topic.pop(0) if len(self.topic) > 1 else self.topic[0]
        if isinstance(look, Exception):
            raise look
        return [SimpleNamespace(partition=number) for number in look]


@pytest.fixture
def consumer(monkeypatch: pytest.MonkeyPatch) -> Consumer:
    consumer = Consumer(MockTime())
    monkeypatch.setattr(base_consumer, "KafkaConsumer", lambda _configs: consumer)
    return consumer


def new(consumer: Consumer, **options: Any) -> NewShinyConsumer:
    return NewShinyConsumer({}, **{"topic": "flights", **options}, time=consumer.time)


@pytest.mark.parametrize(
    ("offset", "done"),
    [
        (EARLIEST_OFFSET, ("seek_to_beginning", [F0])),
        (LATEST_OFFSET, ("seek_to_end", [F0])),
        (0, ("seek", F0, 0)),
        (7, ("seek", F0, 7)),
    ],
)
def test_a_partition_is_read_from_where_the_user_says(consumer: Consumer, offset: int, done: tuple[Any, ...]) -> None:
    new(consumer, partition=0, offset=offset)
    assert (consumer.assignment, consumer.done) == ({F0}, [done])


def test_a_pattern_is_javas(consumer: Consumer) -> None:
    new(consumer, topic=None, include="fl.*|w")
    ((name, pattern),) = consumer.done
    assert name == "subscribe"
    assert pattern.fullmatch("flights")
    with pytest.raises(KafkaError, match=r"\( is an invalid regex"):
        new(consumer, topic=None, include="(")


def test_records_come_one_by_one_and_polls_only_if_there_are_none_left(consumer: Consumer) -> None:
    consumer.batches = [[record(F0, 1), record(F1, 5)], [], [record(F0, 2)]]
    shiny = new(consumer)
    assert [shiny.receive().offset for _ in range(3)] == [1, 5, 2]
    assert consumer.waits == [POLL_MS] * 3


def test_no_record_in_time_is_a_timeout(consumer: Consumer) -> None:
    shiny = new(consumer, timeout_ms=2_500)
    with pytest.raises(ConsumerTimeoutError, match="no message within 2500 ms"):
        shiny.receive()
    assert consumer.waits[:3] == [POLL_MS, POLL_MS, 500]


def test_the_timeout_is_for_each_record(consumer: Consumer) -> None:
    consumer.batches = [[], [record(F0, 1)], [], [record(F0, 2)]]
    shiny = new(consumer, timeout_ms=1_500)
    assert [shiny.receive().offset, shiny.receive().offset] == [1, 2]


@pytest.mark.parametrize(
    ("look", "complaint"),
    [
        ([], "no message within 900 ms: the topic flights does not exist"),
        (Errors.NETWORK_EXCEPTION.exception("no broker responds"), "no message within 900 ms: no broker responds"),
    ],
)
def test_the_timeout_says_why_nothing_comes(consumer: Consumer, look: Look, complaint: str) -> None:
    consumer.topic = [look]
    with pytest.raises(ToolError, match=complaint):
        new(consumer, timeout_ms=900).receive()


def test_a_missing_topic_is_said_once_and_read_once_it_exists(
    consumer: Consumer, caplog: pytest.LogCaptureFixture
) -> None:
    consumer.topic = [[], [], [0]]
    consumer.batches = [[], [], [], [], [record(F0, 0)]]
    with caplog.at_level(logging.WARNING):
        assert new(consumer).receive().offset == 0
    assert [each.message.partition(".")[0] for each in caplog.records] == ["The topic flights does not exist"]


def test_a_problem_that_is_over_is_not_the_reason_of_a_later_timeout(consumer: Consumer) -> None:
    consumer.topic = [KafkaError("no broker responds"), [0, 1]]
    with pytest.raises(ConsumerTimeoutError):
        new(consumer, timeout_ms=2_500).receive()


def test_a_partition_that_the_topic_lacks_is_an_error_that_says_which_it_has(consumer: Consumer) -> None:
    with pytest.raises(ToolError, match="The topic flights has no partition 7; it has 2: 0 to 1"):
        new(consumer, partition=7).receive()


def test_a_wakeup_ends_a_poll_and_a_look_at_the_topic(consumer: Consumer) -> None:
    consumer.batches = [WakeupError()]
    with pytest.raises(WakeupError):
        new(consumer).receive()
    consumer.topic = [WakeupError()]
    with pytest.raises(WakeupError):
        new(consumer).receive()


def test_what_was_fetched_but_not_returned_is_not_committed(consumer: Consumer) -> None:
    consumer.batches = [[record(F0, 1), record(F0, 2), record(F1, 5), record(F0, 3)]]
    shiny = new(consumer)
    assert shiny.receive().offset == 1
    consumer.assignment, consumer.done = {F0}, []  # the other partition has been revoked meanwhile
    shiny.cleanup()
    assert consumer.done == [("seek", F0, 2), ("close",)]


# ── The old consumer ──────────────────────────────────────────────────────────────────────────────────────────────────


class Connector:
    def __init__(self, streams: Any) -> None:
        self.streams = streams
        self.done: list[str] = []

    def create_message_streams_by_filter(self, _filter: Whitelist, _count: int) -> Any:
        if isinstance(self.streams, Exception):
            raise self.streams
        return self.streams

    def shutdown(self) -> None:
        self.done.append("shutdown")

    def commit_offsets(self) -> None:
        self.done.append("commit")


def old(monkeypatch: pytest.MonkeyPatch, streams: Any) -> tuple[OldConsumer, Connector]:
    connector = Connector(streams)
    monkeypatch.setattr(base_consumer, "Consumer", SimpleNamespace(create=lambda _configs: connector))
    return OldConsumer(Whitelist("flights"), {}), connector


def test_messages_of_a_stream_are_records(monkeypatch: pytest.MonkeyPatch) -> None:
    message = SimpleNamespace(
        topic="flights", partition=1, offset=5, timestamp=7, timestamp_type=TimestampType.CREATE_TIME,
        key=b"k", message=b"v",
    )  # fmt: skip
    consumer, connector = old(monkeypatch, [[message]])
    assert consumer.receive() == ConsumerRecord("flights", 1, 5, 7, TimestampType.CREATE_TIME, b"k", b"v")
    with pytest.raises(StreamEndError):
        consumer.receive()
    consumer.commit()
    consumer.stop()
    assert connector.done == ["commit", "shutdown"]


def test_a_connector_without_streams_is_shut_down(monkeypatch: pytest.MonkeyPatch) -> None:
    connector = Connector(KafkaError("no ZooKeeper"))
    monkeypatch.setattr(base_consumer, "Consumer", SimpleNamespace(create=lambda _configs: connector))
    with pytest.raises(KafkaError, match="no ZooKeeper"):
        OldConsumer(Whitelist("flights"), {})
    assert connector.done == ["shutdown"]
