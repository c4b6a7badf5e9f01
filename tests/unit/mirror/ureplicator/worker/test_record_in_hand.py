"""The offset of a partition that is given up is that after its last record that was sent, whatever the threads do."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from kafka_lite.mirror.ureplicator.worker.record_in_hand import RecordInHand
from kafka_lite.old_consumer.consumer_iterator import ConsumerIterator
from kafka_lite.old_consumer.consumer_stats import ConsumerTopicStats
from kafka_lite.old_consumer.decoder import DefaultDecoder
from kafka_lite.old_consumer.fetched_data_queue import FetchedDataQueue
from kafka_lite.old_consumer.partition_topic_info import FetchedDataChunk
from tests.support.eventually import eventually
from tests.support.message_chunks import message_set, topic_info


class Stream:
    """Three records of one partition, from offset 4 on."""

    def __init__(self) -> None:
        self.queue: FetchedDataQueue[FetchedDataChunk] = FetchedDataQueue(10)
        self.info = topic_info(self.queue, offset=4)
        self.info.enqueue(message_set(4, b"a", b"b", b"c"))
        self.iterator: ConsumerIterator[Any, Any] = ConsumerIterator(
            self.queue, 1, DefaultDecoder(), DefaultDecoder(), ConsumerTopicStats("c")
        )

    def take(self, hand: RecordInHand) -> int | None:
        assert self.iterator.has_next()
        message = hand.take(self.iterator)
        return None if message is None else message.offset


@pytest.fixture
def stream() -> Stream:
    return Stream()


@pytest.fixture
def hand() -> RecordInHand:
    return RecordInHand()


def giving_up(hand: RecordInHand, stream: Stream) -> tuple[threading.Thread, list[int]]:
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(hand.give_up(stream.info)), daemon=True)
    thread.start()
    assert eventually(lambda: stream.info.is_revoked)
    return thread, found


def test_a_partition_without_a_record_in_hand_is_given_up_at_once(hand: RecordInHand, stream: Stream) -> None:
    assert stream.take(hand) == 4
    hand.sent()
    assert hand.give_up(stream.info) == 5


def test_the_record_in_hand_is_sent_first(hand: RecordInHand, stream: Stream) -> None:
    stream.take(hand)
    thread, found = giving_up(hand, stream)
    assert thread.is_alive()
    hand.sent()
    thread.join()
    assert found == [5]


def test_a_record_that_was_found_but_not_taken_is_dropped(hand: RecordInHand, stream: Stream) -> None:
    assert stream.iterator.has_next()
    assert hand.give_up(stream.info) == 4
    assert hand.take(stream.iterator) is None


def test_a_record_in_hand_of_another_partition_does_not_matter(hand: RecordInHand, stream: Stream) -> None:
    stream.take(hand)
    assert hand.give_up(topic_info(stream.queue, partition=1, offset=9)) == 9


def test_a_record_that_will_never_be_sent_leaves_the_offset_unknown(hand: RecordInHand, stream: Stream) -> None:
    stream.take(hand)
    thread, found = giving_up(hand, stream)
    hand.end()
    thread.join()
    assert found == [-1]
