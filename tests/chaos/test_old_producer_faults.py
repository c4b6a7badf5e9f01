"""The old producer while requests and responses are lost, cut, delayed and rejected: at least once, and in order."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator, Mapping

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.old_producer import KeyedMessage, Producer
from kafka_lite.old_producer.default_event_handler import FailedToSendMessageError
from kafka_lite.old_producer.producer import QueueFullError
from tests.support.eventually import eventually
from tests.support.faulty_cluster import FaultyCluster, faulty_cluster
from tests.support.patience import patient_s
from tests.support.producers import is_in_order

TOPIC = "t"
PARTITIONS = 3
RECORDS = 1500
BATCH = 10
CONFIG: Mapping[str, object] = {
    "request.required.acks": -1, "request.timeout.ms": 500, "retry.backoff.ms": 10, "queue.buffering.max.ms": 20,
    "partitioner.class": "kafka_lite.old_producer.partitioner.DefaultPartitioner",
}  # fmt: skip
WAIT_S = 60.0


@pytest.fixture
def setup() -> Iterator[FaultyCluster]:
    with faulty_cluster() as faulty:
        faulty.cluster.create_topic(TOPIC, partitions=PARTITIONS)
        yield faulty


def producer_of(setup: FaultyCluster, **configs: object) -> Producer:
    named = {key.replace("_", "."): value for key, value in configs.items()}
    return Producer({"metadata.broker.list": setup.bootstrap_servers, **CONFIG, **named})


def message(number: int) -> KeyedMessage:
    return KeyedMessage(TOPIC, b"%06d" % number, part_key=number)


def numbers_of(setup: FaultyCluster, partition: int) -> list[int]:
    return [int(value or b"") for value in setup.cluster.values(TOPIC, partition)]


def all_numbers_of(setup: FaultyCluster) -> list[int]:
    return [number for partition in range(PARTITIONS) for number in numbers_of(setup, partition)]


def check_all_is_there_in_order(setup: FaultyCluster) -> None:
    """At least once; without repeats, each partition has its messages in the order in which they were sent."""
    for partition in range(PARTITIONS):
        numbers = numbers_of(setup, partition)
        assert set(numbers) == set(range(partition, RECORDS, PARTITIONS))
        assert is_in_order(numbers)


@pytest.mark.slow
def test_a_synchronous_send_that_returns_has_been_appended(setup: FaultyCluster) -> None:
    """The user sends again what fails after all retries, as intended."""
    failures = 0
    with producer_of(setup, message_send_max_retries=1) as producer, setup.faults(1):
        for first in range(0, RECORDS, BATCH):
            messages = [message(number) for number in range(first, first + BATCH)]
            while True:
                try:
                    producer.send(*messages)
                    break
                except FailedToSendMessageError:
                    failures += 1
            time.sleep(0.01)
    assert producer.stats.producer.failed_send_rate.count == failures
    assert producer.stats.producer.resend_rate.count >= failures
    check_all_is_there_in_order(setup)


@pytest.mark.slow
@pytest.mark.soak
def test_an_asynchronous_producer_with_enough_retries_sends_everything(setup: FaultyCluster) -> None:
    config = {"producer_type": "async", "batch_num_messages": BATCH, "message_send_max_retries": 1000}
    with producer_of(setup, **config) as producer, setup.faults(2):
        for number in range(RECORDS):
            producer.send(message(number))
            time.sleep(0.002)
    assert producer.stats.producer.resend_rate.count > 0
    assert producer.stats.producer.failed_send_rate.count == 0
    check_all_is_there_in_order(setup)


@pytest.mark.slow
def test_acks_0_loses_messages_but_never_duplicates_them(setup: FaultyCluster) -> None:
    """A message that the socket has accepted is not sent again."""
    with producer_of(setup, request_required_acks=0, message_send_max_retries=20) as producer:
        for number in range(100):
            producer.send(message(number))
        setup.cluster.wait_for_records(TOPIC, 100, patient_s(WAIT_S))
        with setup.cluster.inject("Produce").drop_request().always():
            producer.send(message(100))
            setup.cluster.requests.wait_for("Produce", 101, patient_s(WAIT_S))
        more = itertools.count(101)

        def arrives_again() -> bool:  # messages are lost until the producer notices the disconnect
            producer.send(message(next(more)))
            return max(all_numbers_of(setup)) > 100

        eventually(arrives_again)
        last = next(more) + 100
        for number in range(last - 100, last + 1):
            producer.send(message(number))
        eventually(lambda: last in all_numbers_of(setup))
    found = all_numbers_of(setup)
    assert len(found) == len(set(found))
    assert 100 not in found
    assert all(is_in_order(numbers_of(setup, partition)) for partition in range(PARTITIONS))


def test_a_synchronous_send_raises_after_its_retries(setup: FaultyCluster) -> None:
    with producer_of(setup, message_send_max_retries=2, request_timeout_ms=20_000) as producer:
        setup.cluster.inject("Produce", Errors.LEADER_NOT_AVAILABLE).for_topic(TOPIC, 1).always()
        with pytest.raises(FailedToSendMessageError, match="after 2 tries: topics t"):
            producer.send(*map(message, range(6)))
        assert producer.stats.producer.failed_send_rate.count == 1
        assert producer.stats.producer.resend_rate.count == 3
    # The others were sent once: only failed messages are sent again.
    assert [numbers_of(setup, partition) for partition in range(PARTITIONS)] == [[0, 3], [], [2, 5]]


def test_a_full_queue_without_a_timeout_drops_and_counts_messages(setup: FaultyCluster) -> None:
    config = {"producer_type": "async", "queue_buffering_max_messages": 20, "batch_num_messages": 5}
    with producer_of(setup, queue_enqueue_timeout_ms=0, request_timeout_ms=20_000, **config) as producer:
        dropped: list[int] = []
        number = 0
        with setup.cluster.paused():
            while len(dropped) < 10:
                try:
                    producer.send(message(number))
                except QueueFullError:
                    dropped.append(number)
                number += 1
        assert number <= 20 + 5 + 10, "only the batch in flight and the queue are waiting"
        assert producer.stats.topics.all_topics.dropped_message_rate.count == 10
        assert producer.stats.topics.topic(TOPIC).dropped_message_rate.count == 10
    found = all_numbers_of(setup)
    assert sorted(found) == [each for each in range(number) if each not in dropped]


def test_a_full_queue_with_an_unlimited_timeout_waits_for_space(setup: FaultyCluster) -> None:
    config = {"producer_type": "async", "queue_buffering_max_messages": 10, "batch_num_messages": 5}
    with producer_of(setup, queue_enqueue_timeout_ms=-1, request_timeout_ms=20_000, **config) as producer:
        sent: list[int] = []

        def send() -> None:
            for number in range(60):
                producer.send(message(number))
                sent.append(number)

        thread = threading.Thread(target=send)
        with setup.cluster.paused():
            thread.start()
            eventually(lambda: len(sent) >= 10)
            assert len(sent) <= 10 + 5
        thread.join(patient_s(WAIT_S))
        assert len(sent) == 60
        assert producer.stats.topics.all_topics.dropped_message_rate.count == 0
    found = all_numbers_of(setup)
    assert sorted(found) == list(range(60))


def test_a_full_queue_waits_for_its_timeout(setup: FaultyCluster) -> None:
    config = {"producer_type": "async", "queue_buffering_max_messages": 5, "batch_num_messages": 5}
    with producer_of(setup, queue_enqueue_timeout_ms=100, request_timeout_ms=20_000, **config) as producer:
        began = time.monotonic()
        with setup.cluster.paused(), pytest.raises(QueueFullError):
            producer.send(*map(message, range(100)))
        assert time.monotonic() - began >= 0.1
        assert producer.stats.topics.all_topics.dropped_message_rate.count == 1


def test_an_asynchronous_failure_is_counted_and_the_producer_continues(setup: FaultyCluster) -> None:
    config = {"producer_type": "async", "batch_num_messages": 3, "message_send_max_retries": 1}
    with producer_of(setup, request_timeout_ms=20_000, **config) as producer:
        with setup.cluster.inject("Produce", Errors.NOT_LEADER_OR_FOLLOWER).always():
            for number in range(3):
                producer.send(message(number))
            eventually(lambda: producer.stats.producer.failed_send_rate.count == 1)
        for number in range(3, 6):
            producer.send(message(number))
    assert [numbers_of(setup, partition) for partition in range(PARTITIONS)] == [[3], [4], [5]]


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_messages_wait_while_a_topic_is_deleted_and_recreated(setup: FaultyCluster, kind: str) -> None:
    """With enough retries, they are sent once it exists again."""
    config = {"producer_type": kind, "batch_num_messages": 3, "message_send_max_retries": 5000}
    with producer_of(setup, **config) as producer:
        for number in range(30):
            producer.send(message(number))
        setup.cluster.delete_topic(TOPIC)
        thread = threading.Timer(0.3, setup.cluster.create_topic, (TOPIC, PARTITIONS))
        thread.start()
        for number in range(30, 60):
            producer.send(message(number))
        thread.join()
    found = [numbers_of(setup, partition) for partition in range(PARTITIONS)]
    assert {number for numbers in found for number in numbers} >= set(range(33, 60))
    assert all(is_in_order(numbers) for numbers in found)
