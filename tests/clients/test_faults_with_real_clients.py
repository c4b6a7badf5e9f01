"""How clients handle faults: retries, lost acknowledgements with and without idempotence, broken connections."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from itertools import pairwise
from random import Random
from typing import Any, cast

import confluent_kafka
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from kafka_lite.common.errors import Errors
from kafka_lite.protocol.messages.api_08_offset_commit import OffsetCommitRequest
from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.fault import Fault
from tests.support.patience import Patience, patient_s

pytestmark = [
    pytest.mark.soak,
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"),
]

Produce = Callable[[Cluster, str, list[bytes], bool], None]
"""Sends values one after the other and waits until all are acknowledged; the last argument: idempotent or not."""
PATIENCE_MS = 20_000
"""For an answer: none is missing here without the end of its connection, and requests sent again are counted."""


@pytest.fixture(scope="module")
def broker() -> Iterator[Cluster]:
    with Cluster() as running:
        yield running


@pytest.fixture
def topic(broker: Cluster, request: pytest.FixtureRequest) -> Iterator[str]:
    name = "".join(c if c.isalnum() else "-" for c in request.node.name)
    broker.create_topic(name)
    broker.reset()
    yield name
    broker.reset()


def with_confluent_kafka(broker: Cluster, topic: str, values: list[bytes], idempotent: bool) -> None:
    config = {
        "bootstrap.servers": broker.bootstrap_servers,
        "enable.idempotence": idempotent,
        "acks": "all",
        "retry.backoff.ms": 20,
        "reconnect.backoff.ms": 20,
        "socket.timeout.ms": PATIENCE_MS,
        "request.timeout.ms": PATIENCE_MS,
        "linger.ms": 0,
        "log_level": 0,
    }
    producer = confluent_kafka.Producer(config)
    failures: list[object] = []
    for value in values:
        producer.produce(topic, value, on_delivery=lambda error, _message: error and failures.append(error))
        producer.flush(patient_s(60))
    assert len(producer) == 0
    assert failures == []


def with_aiokafka(broker: Cluster, topic: str, values: list[bytes], idempotent: bool) -> None:
    async def run() -> None:
        producer = AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers,
            enable_idempotence=idempotent,
            acks="all",
            retry_backoff_ms=20,
            request_timeout_ms=PATIENCE_MS,
        )
        await producer.start()
        for value in values:
            await producer.send_and_wait(topic, value)
        await producer.stop()

    asyncio.run(asyncio.wait_for(run(), 60))


def with_kafka_python(broker: Cluster, topic: str, values: list[bytes], idempotent: bool) -> None:
    producer = KafkaProducer(
        bootstrap_servers=broker.bootstrap_servers,
        enable_idempotence=idempotent,
        acks="all",
        retries=20,
        retry_backoff_ms=20,
        reconnect_backoff_ms=20,
        request_timeout_ms=PATIENCE_MS,
        delivery_timeout_ms=60_000,
    )
    for value in values:
        producer.send(topic, value).get(patient_s(60))
    producer.close()


CLIENTS = [
    pytest.param(with_confluent_kafka, id="confluent-kafka"),
    pytest.param(with_aiokafka, id="aiokafka"),
    pytest.param(with_kafka_python, id="kafka-python"),
]
VALUES = [b"a", b"b", b"c"]


@pytest.mark.parametrize("error", [Errors.NOT_LEADER_OR_FOLLOWER, Errors.NOT_ENOUGH_REPLICAS, Errors.REQUEST_TIMED_OUT])
@pytest.mark.parametrize("produce", CLIENTS)
def test_a_transient_error_is_retried(broker: Cluster, topic: str, produce: Produce, error: Errors) -> None:
    fault = broker.inject("Produce", error).times(2)
    produce(broker, topic, VALUES, True)
    assert fault.count == 2
    assert broker.values(topic) == VALUES
    assert len(broker.requests.of("Produce")) == len(VALUES) + 2


@pytest.mark.parametrize("how", ["drop_response", "cut_response"])
@pytest.mark.parametrize("produce", CLIENTS)
def test_a_lost_acknowledgement_of_an_idempotent_producer_causes_no_duplicate(
    broker: Cluster, topic: str, produce: Produce, how: str
) -> None:
    fault = getattr(broker.inject("Produce"), how)().skip(1).once()
    produce(broker, topic, VALUES, True)
    assert fault.count == 1
    assert broker.values(topic) == VALUES


@pytest.mark.parametrize("produce", CLIENTS)
def test_a_lost_acknowledgement_without_idempotence_duplicates_a_record(
    broker: Cluster, topic: str, produce: Produce
) -> None:
    broker.inject("Produce").drop_response().skip(1).once()
    produce(broker, topic, VALUES, False)
    assert broker.values(topic) == [b"a", b"b", b"b", b"c"]


@pytest.mark.parametrize("idempotent", [True, False])
@pytest.mark.parametrize("produce", CLIENTS)
def test_a_lost_request_is_sent_again_once(broker: Cluster, topic: str, produce: Produce, idempotent: bool) -> None:
    fault = broker.inject("Produce").drop_request().skip(1).once()
    produce(broker, topic, VALUES, idempotent)
    assert fault.count == 1
    assert broker.values(topic) == VALUES


@pytest.mark.parametrize("produce", CLIENTS)
def test_clients_wait_for_a_stuck_broker(broker: Cluster, topic: str, produce: Produce) -> None:
    broker.pause()
    thread = threading.Timer(0.3, broker.resume)
    thread.start()
    produce(broker, topic, VALUES, True)
    thread.join()
    assert broker.values(topic) == VALUES


@pytest.mark.parametrize("produce", CLIENTS)
def test_slow_responses_are_accepted(broker: Cluster, topic: str, produce: Produce) -> None:
    fault = broker.inject("Metadata").slow_response(bytes_per_s=2000).once()
    produce(broker, topic, VALUES, True)
    assert fault.count == 1
    assert broker.values(topic) == VALUES


@pytest.mark.parametrize("produce", CLIENTS)
def test_a_topic_without_a_leader_is_looked_up_again(broker: Cluster, topic: str, produce: Produce) -> None:
    fault = broker.inject("Metadata", Errors.LEADER_NOT_AVAILABLE).for_topic(topic).times(2)
    produce(broker, topic, VALUES, True)
    assert fault.count == 2
    assert broker.values(topic) == VALUES


@pytest.mark.parametrize("produce", CLIENTS)
def test_clients_survive_a_restart_of_the_broker(topic: str, produce: Produce) -> None:
    with Cluster() as own:
        own.create_topic(topic)
        produce(own, topic, VALUES, True)
        own.stop_broker()
        thread = threading.Timer(0.3, own.start_broker)
        thread.start()
        if produce is with_aiokafka:  # it gives up if its first connection is refused
            thread.join()
        produce(own, topic, VALUES, True)
        thread.join()
        assert own.values(topic) == VALUES * 2


# ── consumers ─────────────────────────────────────────────────────────────────────────────────────────────────────


def read_confluent_kafka(broker: Cluster, topic: str, count: int) -> list[Any]:
    config = {
        "bootstrap.servers": broker.bootstrap_servers,
        "group.id": "g",
        "enable.auto.commit": False,
        "auto.offset.reset": "error",
        "fetch.error.backoff.ms": 20,
        "reconnect.backoff.ms": 20,
        "log_level": 0,
    }
    consumer = confluent_kafka.Consumer(config)
    consumer.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
    found: list[Any] = []
    patience = Patience(60)
    while len(found) < count and not patience.is_over():
        message = consumer.poll(0.5)
        if message is not None and message.error() is None:
            found.append(message.value())
    consumer.close()
    return found


def read_aiokafka(broker: Cluster, topic: str, count: int) -> list[Any]:
    async def run() -> list[Any]:
        consumer = AIOKafkaConsumer(bootstrap_servers=broker.bootstrap_servers, retry_backoff_ms=20)
        await consumer.start()
        partition = TopicPartition(topic, 0)
        consumer.assign([partition])
        consumer.seek(partition, 0)
        found = [(await consumer.getone()).value for _ in range(count)]
        await consumer.stop()
        return found

    return asyncio.run(asyncio.wait_for(run(), 60))


def read_kafka_python(broker: Cluster, topic: str, count: int) -> list[Any]:
    consumer = KafkaConsumer(
        bootstrap_servers=broker.bootstrap_servers,
        retry_backoff_ms=20,
        reconnect_backoff_ms=20,
        consumer_timeout_ms=60_000,
    )
    partition = TopicPartition(topic, 0)
    consumer.assign([partition])
    consumer.seek(partition, 0)
    found = [message.value for _, message in zip(range(count), consumer, strict=False)]
    consumer.close()
    return found


READERS = [
    pytest.param(read_confluent_kafka, id="confluent-kafka"),
    pytest.param(read_aiokafka, id="aiokafka"),
    pytest.param(read_kafka_python, id="kafka-python"),
]


@pytest.mark.parametrize("what", ["error", "cut", "drop", "slow"])
@pytest.mark.parametrize("read", READERS)
def test_every_record_is_read_once_despite_faults_in_fetches(
    broker: Cluster, topic: str, read: Callable[[Cluster, str, int], list[Any]], what: str
) -> None:
    values = [f"{number}" for number in range(50)]
    broker.produce(topic, *values)
    broker.produce(topic, *values)
    if what == "error":
        fault = broker.inject("Fetch", Errors.NOT_LEADER_OR_FOLLOWER).times(2)
    elif what == "cut":
        fault = broker.inject("Fetch").cut_response(after_bytes=300).times(2)
    elif what == "drop":
        fault = broker.inject("Fetch").drop_response().times(2)
    else:
        fault = broker.inject("Fetch").slow_response(bytes_per_s=5000).once()
    assert read(broker, topic, 100) == [value.encode() for value in values * 2]
    assert fault.count >= 1


# ── all at once ───────────────────────────────────────────────────────────────────────────────────────────────────


def some_fault(broker: Cluster, random: Random) -> Fault:
    fault = random.choice(
        [
            lambda: broker.inject("Produce", Errors.NOT_LEADER_OR_FOLLOWER),
            lambda: broker.inject("Produce", Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND),
            lambda: broker.inject("Produce").drop_request(),
            lambda: broker.inject("Produce").drop_response(),
            lambda: broker.inject("Produce").cut_response(random.randrange(40)),
            lambda: broker.inject("Produce").delay(random.randrange(1, 30)),
            lambda: broker.inject("Metadata").drop_response(),
        ]
    )()
    # Not at the very first metadata request: aiokafka gives up if the only bootstrap server closes the connection.
    return fault.skip(random.randrange(1, 5)).once()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("produce", CLIENTS)
def test_an_idempotent_producer_writes_each_record_once_in_order_despite_any_faults(
    broker: Cluster, topic: str, produce: Produce, seed: int
) -> None:
    random = Random(seed)
    for _ in range(6):
        some_fault(broker, random)
    values = [b"%d" % number for number in range(30)]
    produce(broker, topic, values, True)
    assert broker.values(topic) == values
    assert sum(fault.count for fault in broker.faults) >= 3


@pytest.mark.parametrize("kind", ["loading", "lost"])
def test_librdkafka_sends_an_unanswered_commit_again_after_newer_ones(broker: Cluster, topic: str, kind: str) -> None:
    """So a committed offset may go back for a moment when a coordinator ends. No broker knows such a commit."""
    configs: dict[str, str | int | float | bool] = {
        "bootstrap.servers": broker.bootstrap_servers,
        "group.id": topic,
        "auto.offset.reset": "earliest",
        "auto.commit.interval.ms": 50,
        "retry.backoff.ms": 300,
        "retry.backoff.max.ms": 300,
        "log_level": 0,
    }
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    consumer = confluent_kafka.Consumer(configs)
    consumer.subscribe([topic])

    def commits() -> list[int]:
        bodies = [cast(OffsetCommitRequest, request.body) for request in broker.requests.of("OffsetCommit")]
        return [body.topics[0].partitions[0].committed_offset for body in bodies if body.group_id == topic]

    def consume_until(done: Callable[[], bool]) -> None:
        patience = Patience(PATIENCE_MS / 1000)
        while not done() and not patience.is_over():
            producer.produce(topic, b"value")
            producer.poll(0)
            consumer.poll(0.01)
        assert done(), commits()

    try:
        consume_until(lambda: len(commits()) >= 3)
        if kind == "loading":
            broker.inject("OffsetCommit", Errors.COORDINATOR_LOAD_IN_PROGRESS).once()
        else:
            broker.inject("OffsetCommit").drop_response().once()
        consume_until(lambda: any(later < earlier for earlier, later in pairwise(commits())))
        went_back = len(commits())
        consume_until(lambda: max(commits()[:went_back]) < commits()[-1])
    finally:
        consumer.close()
        producer.flush(PATIENCE_MS / 1000)
