"""Three brokers and the clients that people use: what is acknowledged by all replicas survives any one broker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

import confluent_kafka
import kafka
import pytest
from kafka.errors import KafkaError as KafkaPythonError

from kafka_lite.producer import KafkaProducer, ProducerRecord
from kafka_lite.testing.cluster import Cluster

# kafka-python leaves sockets to the garbage collector.
pytestmark = [
    pytest.mark.soak,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

TOPIC = "orders"
TIMEOUT_S = 60


class AnyProducer(Protocol):
    """A producer with acks=all and idempotence."""

    def send(self, value: str) -> None: ...

    def flush(self) -> list[Exception]:
        """Wait for all outcomes; returns the errors."""
        ...

    def close(self) -> None: ...


class ConfluentKafka:
    def __init__(self, servers: str, timeout_ms: int = 60_000) -> None:
        config = {"bootstrap.servers": servers, "enable.idempotence": True, "message.timeout.ms": timeout_ms}
        self._producer = confluent_kafka.Producer(config | {"log_level": 0})
        self._errors: list[Exception] = []

    def send(self, value: str) -> None:
        self._producer.produce(TOPIC, value, on_delivery=self._delivered)

    def _delivered(self, error: confluent_kafka.KafkaError | None, _message: object) -> None:
        if error is not None:
            self._errors.append(confluent_kafka.KafkaException(error))

    def flush(self) -> list[Exception]:
        assert self._producer.flush(TIMEOUT_S) == 0
        return self._errors

    def close(self) -> None:
        self._producer.flush(TIMEOUT_S)


class KafkaPython:
    def __init__(self, servers: str, timeout_ms: int = 60_000) -> None:
        self._producer = kafka.KafkaProducer(
            bootstrap_servers=servers.split(","),
            enable_idempotence=True,
            delivery_timeout_ms=timeout_ms,
            request_timeout_ms=min(timeout_ms // 2, 30_000),
            reconnect_backoff_max_ms=100,
        )
        self._futures: list[object] = []

    def send(self, value: str) -> None:
        self._futures.append(self._producer.send(TOPIC, value.encode()))

    def flush(self) -> list[Exception]:
        errors = []
        for future in self._futures:
            try:
                future.get(TIMEOUT_S)  # type: ignore[attr-defined]
            except KafkaPythonError as error:
                errors.append(error)
        return errors

    def close(self) -> None:
        self._producer.close()


class KafkaLite:
    def __init__(self, servers: str, timeout_ms: int = 60_000) -> None:
        self._producer = KafkaProducer(
            {
                "bootstrap.servers": servers,
                "enable.idempotence": True,
                "delivery.timeout.ms": timeout_ms,
                "request.timeout.ms": min(timeout_ms // 2, 30_000),
            }
        )
        self._errors: list[Exception] = []

    def send(self, value: str) -> None:
        self._producer.send(ProducerRecord(TOPIC, value.encode()), self._acknowledged)

    def _acknowledged(self, _metadata: object, error: Exception | None) -> None:
        if error is not None:
            self._errors.append(error)

    def flush(self) -> list[Exception]:
        assert self._producer.flush(TIMEOUT_S * 1000)
        return self._errors

    def close(self) -> None:
        self._producer.close()


NewProducer = Callable[..., AnyProducer]
CLIENTS = [ConfluentKafka, KafkaPython, KafkaLite]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster({"min.insync.replicas": 2}, brokers=3) as cluster:
        cluster.create_topic(TOPIC)
        yield cluster


@pytest.mark.parametrize("new_producer", CLIENTS)
def test_what_all_replicas_acknowledged_survives_the_kill_of_any_one_broker(
    cluster: Cluster, new_producer: NewProducer
) -> None:
    producer = new_producer(cluster.bootstrap_servers)
    sent: list[str] = []
    for role in ("leader", "controller", "follower"):
        leader, controller = cluster.leader_of(TOPIC), cluster.controller
        follower = next(broker for broker in cluster.brokers if broker not in (leader, controller))
        victim = {"leader": leader, "controller": controller, "follower": follower}[role]
        for part in ("before", "after"):
            for number in range(50):
                sent.append(f"{part} the {role}'s end {number}")
                producer.send(sent[-1])
            if part == "before":
                victim.kill()
        assert producer.flush() == []
        victim.start()
        cluster.wait_for_isr(TOPIC)
    producer.close()
    assert [value.decode() for value in cluster.values(TOPIC) if value is not None] == sent


@pytest.mark.parametrize("new_producer", CLIENTS)
def test_a_write_fails_while_two_brokers_are_cut_off_and_succeeds_afterwards(
    cluster: Cluster, new_producer: NewProducer
) -> None:
    leader = cluster.leader_of(TOPIC)
    with cluster.network.isolate(leader):
        cluster.produce(TOPIC, "in one log", acks=1)
        cluster.wait_for_isr(TOPIC, brokers=[leader])
        producer = new_producer(leader.bootstrap_server, timeout_ms=1500)
        producer.send("refused")
        assert len(producer.flush()) == 1
        producer.close()
    cluster.wait_for_isr(TOPIC)
    producer = new_producer(cluster.bootstrap_servers)
    producer.send("accepted")
    assert producer.flush() == []
    producer.close()
    assert cluster.values(TOPIC) == [b"in one log", b"accepted"]
