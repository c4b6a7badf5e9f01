"""A listener with TLS: librdkafka and our own clients, with and without certificates of their own."""

from __future__ import annotations

import logging
import socket
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.network.authentication_error import SslAuthenticationError
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.testing.cluster import Cluster
from tests.support.certificates import certificate, keys_and_trust, server_certificate

LISTENERS = "PLAINTEXT://127.0.0.1:0,SSL://127.0.0.1:0,MUTUAL://127.0.0.1:0"
PROTOCOLS = "PLAINTEXT:PLAINTEXT,SSL:SSL,MUTUAL:SSL"
LARGE = b"x" * 700_000
VALUES = [b"first", LARGE, b"last"]
WAIT_S = 60


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    keys = keys_and_trust(server_certificate(), server_certificate(), ssl_client_auth="requested")
    keys["listener.name.mutual.ssl.client.auth"] = "required"
    with Cluster({"listeners": LISTENERS, "listener.security.protocol.map": PROTOCOLS, **keys}) as made:
        yield made


def address(cluster: Cluster, listener: str = "SSL") -> str:
    return f"localhost:{cluster.server.bound_port(listener)}"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    _, trust = server_certificate().write(tmp_path_factory.mktemp("tls"), "broker")
    return trust


def librdkafka(cluster: Cluster, authority: Path) -> dict[str, object]:
    return {"bootstrap.servers": address(cluster), "security.protocol": "ssl", "ssl.ca.location": str(authority)}


def ours(cluster: Cluster, **more: object) -> dict[str, object]:
    trust = {"ssl.truststore.certificates": server_certificate().authority}
    return {"bootstrap.servers": address(cluster), "security.protocol": "SSL", **trust} | more


def read_by_librdkafka(config: dict[str, object], topic: str) -> list[bytes]:
    consumer = Consumer(config | {"group.id": f"of-{topic}", "auto.offset.reset": "earliest"})
    try:
        consumer.subscribe([topic])
        found: list[bytes] = []
        deadline = time.monotonic() + WAIT_S
        while len(found) < len(VALUES) and time.monotonic() < deadline:
            message = consumer.poll(1)
            if message is not None and message.error() is None:
                found.append(message.value())
        return found
    finally:
        consumer.close()


def read_by_ours(config: dict[str, object], topic: str) -> list[bytes | None]:
    with KafkaConsumer(config | {"group.id": f"ours-{topic}", "auto.offset.reset": "earliest"}) as consumer:
        consumer.subscribe([topic])
        found: list[bytes | None] = []
        deadline = time.monotonic() + WAIT_S
        while len(found) < len(VALUES) and time.monotonic() < deadline:
            found += [record.value for record in consumer.poll(1000)]
        return found


def test_clients_of_both_kinds_write_and_read_through_tls(cluster: Cluster, authority: Path) -> None:
    theirs = librdkafka(cluster, authority)
    admin = AdminClient(theirs)
    for created in admin.create_topics([NewTopic("theirs", 1, 1), NewTopic("ours", 1, 1)]).values():
        created.result(WAIT_S)
    producer = Producer(theirs)
    for value in VALUES:
        producer.produce("theirs", value)
    assert producer.flush(WAIT_S) == 0
    with KafkaProducer(ours(cluster)) as own:
        for future in [own.send(ProducerRecord("ours", value=value)) for value in VALUES]:
            future.get(WAIT_S * 1000)

    assert read_by_librdkafka(theirs, "ours") == VALUES
    assert read_by_ours(ours(cluster), "theirs") == VALUES


def test_a_client_learns_the_addresses_of_its_own_listener(cluster: Cluster, authority: Path) -> None:
    admin = AdminClient(librdkafka(cluster, authority))
    metadata = admin.list_topics(timeout=WAIT_S)
    (broker,) = metadata.brokers.values()
    assert broker.port == cluster.server.bound_port("SSL")


def poll_for_ever(consumer: KafkaConsumer) -> None:
    while True:
        consumer.poll(100)


def test_a_client_that_does_not_trust_the_broker_says_why(cluster: Cluster, caplog: pytest.LogCaptureFixture) -> None:
    foreign = certificate("localhost", of="Foreign CA").authority
    config = ours(cluster) | {"ssl.truststore.certificates": foreign, "group.id": "distrustful"}
    with caplog.at_level(logging.ERROR), KafkaConsumer(config) as consumer:
        consumer.subscribe(["ours"])
        with pytest.raises(SslAuthenticationError, match="SSL handshake failed: certificate verify failed"):
            poll_for_ever(consumer)
    assert "failed authentication due to: SSL handshake failed: certificate verify failed" in caplog.text


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
def test_a_client_whose_certificate_is_refused_does_not_try_for_ever(cluster: Cluster, version: str) -> None:
    """With TLS 1.3 the broker's alert comes after the handshake, in place of the first response."""
    config = ours(cluster, **{"ssl.enabled.protocols": version}) | {"bootstrap.servers": address(cluster, "MUTUAL")}
    stranger = certificate("mallory.example", of="Foreign CA")
    for own in ({}, {"ssl.keystore.key": stranger.key, "ssl.keystore.certificate.chain": stranger.chain}):
        with KafkaProducer(config | own) as producer, pytest.raises(SslAuthenticationError, match=r"failed: .*alert"):
            producer.send(ProducerRecord("ours", value=b"v"))
        with KafkaConsumer(config | own | {"group.id": "refused"}) as consumer:
            consumer.subscribe(["ours"])
            with pytest.raises(SslAuthenticationError, match=r"failed: .*alert"):
                poll_for_ever(consumer)


@pytest.mark.parametrize("many", [50, pytest.param(1000, marks=pytest.mark.soak)])
def test_strangers_are_turned_away_and_others_are_served(cluster: Cluster, many: int) -> None:
    """Plain requests, garbage, and half of a hello; none of them keeps the next client from its handshake."""
    port = cluster.server.bound_port("SSL")
    half_open = [socket.create_connection(("127.0.0.1", port)) for _ in range(many)]
    for sock in half_open:
        sock.sendall(b"\x16\x03\x01\x02\x00\x01")
    for garbage in (b"\0\0\0\x0a\0\x12\0\0\0\0\0\1\xff\xff", b"GET / HTTP/1.1\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as sock:
            sock.sendall(garbage)
            while sock.recv(1000):
                pass  # an alert, and the end
    trusting = ssl.create_default_context(cadata=server_certificate().authority)
    with (
        socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as sock,
        trusting.wrap_socket(sock, server_hostname="localhost") as tls,
    ):
        tls.sendall(b"\0\0\0\x0a\0\x12\0\0\0\0\0\7\xff\xff")
        assert tls.recv(8)[4:] == b"\0\0\0\7"
    for sock in half_open:
        sock.close()
