"""Rounds of a compact fetcher, turned by hand: partitions come and go between two requests."""

from __future__ import annotations

import threading
from collections.abc import Collection
from typing import Any

import pytest

from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.ureplicator.worker.compact_consumer_fetcher_thread import CompactConsumerFetcherThread
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
    """A fetcher of broker 1, whose manager owns two partitions."""

    def __init__(self, brokers: BlockingBrokers, capacity: int = 10, **options: object) -> None:
        self.brokers = brokers
        self.cluster = LeadersAndLogs(brokers, p0=1, p1=1)
        self.cluster.ends = {T0: (0, 9), T1: (0, 9)}
        self.queue: FetchedDataQueue[FetchedDataChunk] = FetchedDataQueue(capacity)
        self.owned = {each: topic_info(self.queue, *each) for each in (T0, T1)}
        self.with_errors: list[TopicPartition] = []
        config = consumer_config(**{"fetch_wait_max_ms": 0, "auto_offset_reset": "smallest", **options})
        self.thread = CompactConsumerFetcherThread(
            *("f", config, BrokerEndPoint(1, "h", 9001), self.owned, self._take_back, ConsumerStats(config)), MockTime()
        )

    def _take_back(self, partitions: Collection[TopicPartition]) -> None:
        self.with_errors += partitions

    def add(self, *partitions: TopicPartition) -> None:
        self.thread.add_partitions({each: self.owned[each].fetch_offset for each in partitions})

    def turn(self) -> list[tuple[int, int]]:
        """One round; returns the partitions and offsets of its fetch request, if there was one."""
        before = len(self.brokers.requests)
        self.thread.do_work()
        sent: list[Any] = [each for _, each, _ in self.brokers.requests[before:] if isinstance(each, FetchRequest)]
        return (
            [(each.partition, each.fetch_offset) for topic in sent[0].topics for each in topic.partitions]
            if sent
            else []
        )


@pytest.fixture
def turned(brokers: BlockingBrokers) -> Turned:
    return Turned(brokers)


def test_partitions_come_and_go_between_two_requests(turned: Turned) -> None:
    turned.add(T0)
    assert turned.turn() == [(0, 0)]
    turned.add(T1)
    assert turned.turn() == [(0, 1), (1, 0)]
    turned.thread.remove_partitions([T0])
    assert turned.turn() == [(1, 1)]
    turned.thread.remove_partitions([T1])
    assert turned.thread.partition_count == 0
    assert turned.turn() == []


def test_the_count_includes_what_the_next_round_changes(turned: Turned) -> None:
    turned.add(T0)
    assert turned.thread.partition_count == 1, "a thread with a partition to come is not idle"
    turned.turn()
    turned.thread.remove_partitions([T0])
    assert turned.thread.partition_count == 0


def test_a_partition_that_returns_is_fetched_from_its_new_offset(turned: Turned) -> None:
    turned.add(T0)
    turned.turn()
    turned.thread.remove_partitions([T0])
    turned.owned[T0] = topic_info(turned.queue, *T0, offset=5)
    turned.add(T0)
    assert turned.turn() == [(0, 5)]
    assert turned.owned[T0].fetch_offset == 6


def test_records_of_a_partition_that_was_removed_meanwhile_are_dropped(turned: Turned) -> None:
    turned.add(T0, T1)
    turned.turn()
    queued = len(turned.queue)
    turned.owned[T0].revoke()
    turned.turn()
    assert (len(turned.queue), turned.owned[T0].fetch_offset, turned.owned[T1].fetch_offset) == (queued + 1, 1, 2)


def test_an_offset_that_nobody_committed_is_looked_up_by_the_fetcher(turned: Turned) -> None:
    turned.cluster.ends[T0] = (4, 9)
    turned.owned[T0] = topic_info(turned.queue, *T0, offset=-1)
    turned.add(T0)
    assert turned.brokers.requests == [], "the manager does not wait for it"
    assert turned.turn() == [(0, 4)]
    assert (turned.owned[T0].consume_offset, turned.owned[T0].fetch_offset) == (4, 5)


def test_an_offset_that_cannot_be_looked_up_concerns_its_partition_only(
    turned: Turned, caplog: pytest.LogCaptureFixture
) -> None:
    turned.owned[T0] = topic_info(turned.queue, *T0, offset=-1)
    turned.brokers.answer(9001, ListOffsetsRequest, ConnectionError("lost"))
    turned.add(T0, T1)
    assert turned.turn() == [(1, 0)]
    assert turned.with_errors == [T0]
    assert "The first offset of t-0 is not known yet: lost" in caplog.text
    assert turned.thread.partition_count == 1


def test_a_partition_with_an_error_goes_back_to_the_manager(turned: Turned) -> None:
    turned.cluster.leaders[T0] = 2
    turned.add(T0, T1)
    turned.turn()
    assert turned.with_errors == [T0]
    assert turned.turn() == [(1, 1)]


def test_a_full_queue_does_not_hold_up_whoever_adds_and_removes(brokers: BlockingBrokers) -> None:
    turned = Turned(brokers, capacity=1)
    turned.add(T0)
    turned.thread.start()
    eventually(lambda: len(brokers.sent_to(9001)) == 2)  # the second response finds the queue full
    turned.add(T1)
    turned.thread.remove_partitions([T0])
    assert turned.thread.partition_count == 1
    turned.queue.take()
    chunks = [turned.queue.take() for _ in range(2)]
    assert [chunk.topic_info.topic_partition for chunk in chunks if isinstance(chunk, FetchedDataChunk)] == [T0, T1]
    turned.thread.shutdown()
    assert not turned.thread.is_alive()


@pytest.mark.parametrize(("min_bytes", "pauses"), [(1, False), (10_000, True)])
def test_a_round_that_brought_too_little_is_followed_by_a_pause(
    brokers: BlockingBrokers, monkeypatch: pytest.MonkeyPatch, min_bytes: int, pauses: bool
) -> None:
    turned = Turned(brokers, fetch_wait_max_ms=70, fetch_min_bytes=min_bytes)
    paused: list[float] = []
    monkeypatch.setattr(turned.thread, "pause", paused.append)
    turned.add(T0)
    turned.turn()
    assert paused == ([70] if pauses else [])


def test_many_threads_may_change_the_partitions(turned: Turned) -> None:
    def add_and_remove(partition: TopicPartition) -> None:
        for _ in range(200):
            turned.add(partition)
            turned.thread.remove_partitions([partition])

    threads = [threading.Thread(target=add_and_remove, args=(each,)) for each in (T0, T1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (turned.thread.partition_count, turned.turn()) == (0, [])
