"""One turn of a fetcher: the request, and what each kind of response does. Turned by hand, without its thread."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.old_consumer.consumer_fetcher_thread import ConsumerFetcherThread
from kafka_lite.old_consumer.consumer_stats import ConsumerStats
from kafka_lite.old_consumer.fetched_data_queue import FetchedDataQueue
from kafka_lite.old_consumer.partition_topic_info import FetchedDataChunk
from kafka_lite.protocol.messages.api_01_fetch import FetchRequest
from kafka_lite.protocol.messages.api_02_list_offsets import ListOffsetsRequest
from tests.support.blocking_brokers import BlockingBrokers
from tests.support.eventually import eventually
from tests.support.leaders_and_logs import LeadersAndLogs, consumer_config
from tests.support.message_chunks import topic_info

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


class Turned:
    """A fetcher of broker 1 with two partitions."""

    def __init__(self, brokers: BlockingBrokers, capacity: int = 10, offset: int = 0, **options: object) -> None:
        self.cluster = LeadersAndLogs(brokers, p0=1, p1=1)
        self.queue: FetchedDataQueue[FetchedDataChunk] = FetchedDataQueue(capacity)
        self.infos = {each: topic_info(self.queue, *each, offset=offset) for each in (T0, T1)}
        self.handed_over: list[TopicPartition] = []
        self.config = consumer_config(**options)
        self.time = MockTime()
        self.thread = ConsumerFetcherThread(
            "f", self.config, BrokerEndPoint(1, "h", 9001), self.infos, self._hand_over, ConsumerStats(self.config),
            self.time,
        )  # fmt: skip

    def _hand_over(self, partitions: Collection[TopicPartition]) -> None:
        self.handed_over += partitions

    def add(self, *partitions: TopicPartition) -> None:
        self.thread.add_partitions({each: self.infos[each].fetch_offset for each in partitions})

    def turn(self) -> Any:
        """One turn; returns the request that was sent."""
        self.thread.do_work()
        return self.cluster.brokers.sent_to(9001)[-1]


def test_a_request_asks_for_each_partition_from_its_offset_on(brokers: BlockingBrokers) -> None:
    turned = Turned(brokers, offset=7, fetch_wait_max_ms=5, fetch_min_bytes=6, fetch_max_bytes=7_000,
                    fetch_message_max_bytes=800)  # fmt: skip
    turned.cluster.ends = {T0: (0, 9), T1: (0, 9)}
    turned.add(T0, T1)
    request = turned.turn()
    assert isinstance(request, FetchRequest)
    assert (request.max_wait_ms, request.min_bytes, request.max_bytes, request.replica_id) == (5, 6, 7_000, -1)
    asked = [(e.partition, e.fetch_offset, e.partition_max_bytes) for topic in request.topics for e in topic.partitions]
    assert asked == [(0, 7, 800), (1, 7, 800)]
    assert [version for _, _, version in brokers.requests] == [3]


def test_messages_go_to_the_queue_and_move_the_fetch_offset_only(brokers: BlockingBrokers) -> None:
    turned = Turned(brokers)
    turned.cluster.ends[T0] = (0, 2)
    turned.add(T0)
    turned.turn()
    assert turned.turn().topics[0].partitions[0].fetch_offset == 1
    info = turned.infos[T0]
    assert (info.fetch_offset, info.consume_offset, len(turned.queue)) == (2, 0, 2)
    turned.turn()
    assert len(turned.queue) == 2, "an empty response is not a chunk"


@pytest.mark.parametrize(("reset", "offset"), [("smallest", 5), ("largest", 8)])
def test_an_offset_out_of_range_is_reset(brokers: BlockingBrokers, reset: str, offset: int) -> None:
    turned = Turned(brokers, offset=2, auto_offset_reset=reset)
    turned.cluster.ends[T0] = (5, 8)
    turned.add(T0)
    assert isinstance(turned.turn(), ListOffsetsRequest)
    info = turned.infos[T0]
    assert (info.fetch_offset, info.consume_offset) == (offset, offset)
    assert turned.turn().topics[0].partitions[0].fetch_offset == offset
    assert turned.handed_over == []


def test_an_offset_that_cannot_be_reset_stays(brokers: BlockingBrokers, caplog: pytest.LogCaptureFixture) -> None:
    turned = Turned(brokers, offset=2)
    turned.cluster.ends[T0] = (5, 8)
    turned.add(T0)
    brokers.answer(9001, ListOffsetsRequest, ConnectionError("lost"))
    turned.turn()
    assert turned.handed_over == [T0], "its leader may have moved"
    assert (turned.infos[T0].fetch_offset, turned.infos[T0].consume_offset) == (2, 2)
    assert "Error getting offset for partition t-0" in caplog.text


def test_a_partition_that_fails_is_handed_over_alone(brokers: BlockingBrokers) -> None:
    turned = Turned(brokers)
    turned.cluster.ends = {T0: (0, 5), T1: (0, 5)}
    turned.cluster.leaders[T0] = 2
    turned.add(T0, T1)
    turned.turn()
    assert (turned.handed_over, turned.infos[T1].fetch_offset) == ([T0], 1)
    assert [each.partition for each in turned.turn().topics[0].partitions] == [1]


def test_all_partitions_of_a_broker_that_is_away_are_handed_over(brokers: BlockingBrokers) -> None:
    turned = Turned(brokers)
    turned.add(T0, T1)
    brokers.stop(9001)
    turned.thread.do_work()
    assert turned.handed_over == [T0, T1]
    assert turned.time.hi_res_ms() == turned.config["refresh.leader.backoff.ms"]
    assert turned.thread.partition_count == 0


def test_messages_for_another_offset_are_never_queued(brokers: BlockingBrokers) -> None:
    turned = Turned(brokers)
    turned.cluster.ends[T0] = (0, 5)
    turned.add(T0)
    turned.infos[T0].reset_fetch_offset(3)  # behind the fetcher's back
    with pytest.raises(RuntimeError, match=r"Offset doesn't match for t:0.*fetched from 0"):
        turned.thread.do_work()
    assert len(turned.queue) == 0


def test_a_shutdown_ends_the_wait_for_room_in_the_queue(brokers: BlockingBrokers) -> None:
    turned = Turned(brokers, capacity=1)
    turned.cluster.ends[T0] = (0, 5)
    turned.add(T0)
    turned.thread.start()
    eventually(lambda: len(brokers.sent_to(9001)) == 2)
    turned.thread.shutdown()
    assert not turned.thread.is_alive()
    assert (len(turned.queue), turned.infos[T0].fetch_offset, brokers.open) == (1, 1, 0)


def test_without_partitions_there_is_no_request(brokers: BlockingBrokers) -> None:
    turned = Turned(brokers)
    turned.thread.do_work()
    assert (brokers.requests, turned.time.hi_res_ms()) == ([], 1)
