"""A rebalance of old consumers waits for the mirror's commit, except where that would be for ever."""

from __future__ import annotations

import threading
from typing import Any, cast

import pytest

from kafka_lite.mirror.maker.mirror_maker_base_consumer import PartitionProgress
from kafka_lite.mirror.maker.mirror_maker_old_consumer import MirrorMakerOldConsumer
from kafka_lite.mirror.maker.rebalance_listeners import InternalRebalanceListenerForOldConsumer
from kafka_lite.old_consumer.message_and_metadata import MessageAndMetadata
from kafka_lite.old_consumer.topic_filter import Whitelist
from kafka_lite.record.record import TimestampType
from tests.support.mirrors import P0, P1, a_record


class FakeMessages:
    def __init__(self, *offsets: int) -> None:
        self.offsets = list(offsets)

    def __iter__(self) -> FakeMessages:
        return self

    def has_next(self) -> bool:
        return bool(self.offsets)

    def __next__(self) -> Any:
        offset = self.offsets.pop(0)

        class Message:
            topic, partition = P0
            timestamp, timestamp_type = 1000 + offset, TimestampType.CREATE_TIME
            key, message = None, b"%d" % offset

        Message.offset = offset  # type: ignore[attr-defined]
        return cast(MessageAndMetadata[bytes, bytes], Message())


class FakeConnector:
    def __init__(self, *offsets: int) -> None:
        self.stream = FakeMessages(*offsets)
        self.listener: Any = None
        self.calls: list[str] = []

    def set_consumer_rebalance_listener(self, listener: Any) -> None:
        self.listener = listener

    def create_message_streams_by_filter(self, topic_filter: Whitelist, num_streams: int) -> list[FakeMessages]:
        self.calls.append(f"create {num_streams} for {topic_filter}")
        return [self.stream]

    def commit_offsets(self) -> bool:
        self.calls.append("commit")
        return True

    def shutdown(self) -> None:
        self.calls.append("shutdown")

    def progress(self) -> dict[Any, tuple[int, int | None]]:
        return {P1: (3, None), P0: (5, 9)}


@pytest.fixture
def connector() -> FakeConnector:
    return FakeConnector(4, 5)


@pytest.fixture
def consumer(connector: FakeConnector) -> MirrorMakerOldConsumer:
    return MirrorMakerOldConsumer(cast(Any, connector), Whitelist("t"))


def rebalance(connector: FakeConnector) -> threading.Thread:
    """A rebalancing thread that is about to release partitions."""
    thread = threading.Thread(target=connector.listener.before_releasing_partitions, args=({},), daemon=True)
    thread.start()
    return thread


def test_it_reads_one_stream_of_its_connector(consumer: MirrorMakerOldConsumer, connector: FakeConnector) -> None:
    assert isinstance(connector.listener, InternalRebalanceListenerForOldConsumer)
    consumer.init()
    assert connector.calls == ["create 1 for t"]
    received = []
    while consumer.has_data:
        received.append(consumer.receive())
    assert received == [a_record(4), a_record(5)]
    consumer.commit()
    consumer.stop()
    consumer.forget_missing_topics()
    assert connector.calls == ["create 1 for t", "commit"]


def test_a_rebalance_waits_until_the_mirror_has_committed(
    consumer: MirrorMakerOldConsumer, connector: FakeConnector
) -> None:
    consumer.init()
    rebalancing = rebalance(connector)
    while not consumer.commit_requested:
        assert rebalancing.is_alive()
    consumer.commit()
    assert rebalancing.is_alive()
    consumer.notify_commit()
    rebalancing.join()
    assert not consumer.commit_requested


def test_the_first_rebalance_of_init_itself_does_not_wait(
    consumer: MirrorMakerOldConsumer, connector: FakeConnector
) -> None:
    connector.listener.before_releasing_partitions({})
    assert not consumer.commit_requested


@pytest.mark.parametrize("first", ["rebalance", "cleanup"])
def test_a_mirror_that_has_ended_keeps_no_rebalance_waiting(
    consumer: MirrorMakerOldConsumer, connector: FakeConnector, first: str
) -> None:
    consumer.init()
    if first == "rebalance":
        rebalancing = rebalance(connector)
        while not consumer.commit_requested:
            assert rebalancing.is_alive()
        consumer.cleanup()
    else:
        consumer.cleanup()
        rebalancing = rebalance(connector)
    rebalancing.join()
    assert connector.calls[-1] == "shutdown"


def test_progress_is_the_connectors_in_order(consumer: MirrorMakerOldConsumer) -> None:
    assert consumer.progress() == [PartitionProgress(P0, 5, 9), PartitionProgress(P1, 3, None)]
