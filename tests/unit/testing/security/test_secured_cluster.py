"""Brokers and clients of a secured cluster get what fits together; librdkafka and our clients connect with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import KafkaError, Producer

from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.network.authentication_error import SaslAuthenticationError, SslAuthenticationError
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.security.certificate_authority import CertificateAuthority
from kafka_lite.testing.security.cluster_security import ClusterSecurity
from kafka_lite.testing.security.secured_cluster import SecuredCluster

WAIT_S = 60
TWO_LISTENERS = {
    "listeners": "CLIENTS://127.0.0.1:1,INTERNAL://127.0.0.1:2",
    "inter.broker.listener.name": "INTERNAL",
    "zookeeper.connect": "127.0.0.1:3",
}


@pytest.mark.parametrize(
    "wanted",
    [
        ClusterSecurity("SSL"),
        ClusterSecurity("SSL", client_certificates=True, acls=True),
        ClusterSecurity("SASL_PLAINTEXT", mechanism="PLAIN"),
        ClusterSecurity("SASL_SSL", mechanism="SCRAM-SHA-256", acls=True),
    ],
)
def test_a_broker_accepts_its_properties(wanted: ClusterSecurity) -> None:
    properties = SecuredCluster(wanted).broker_properties(["INTERNAL"])
    config = KafkaConfig({**TWO_LISTENERS, **properties})
    assert [listener.security_protocol.name for listener in config.listeners] == [wanted.protocol, "SASL_PLAINTEXT"]
    assert bool(config.values["authorizer.class.name"]) is wanted.acls


def test_an_unknown_user_is_refused_where_it_is_named() -> None:
    secured = SecuredCluster(ClusterSecurity("SASL_PLAINTEXT", users={"alice": "secret"}))
    for configs in (secured.client_configs, secured.librdkafka_configs):
        with pytest.raises(ValueError, match="there is no user 'eve' in this cluster: admin, alice"):
            configs("eve")
        assert "wrong" in str(configs("alice", "wrong"))


def test_a_secured_cluster_chooses_its_listeners() -> None:
    with pytest.raises(ValueError, match="a secured cluster chooses them"):
        Cluster({"listeners": "SSL://127.0.0.1:0"}, security="SSL")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(security=ClusterSecurity("SASL_SSL", acls=True)) as made:
        made.create_topic("orders")
        yield made


def delivered(configs: dict[str, Any]) -> object:
    """The error code with which librdkafka reports a record."""
    producer, codes = Producer(configs), []
    producer.produce("orders", b"a", on_delivery=lambda error, _: codes.append(error and error.code()))
    assert producer.flush(WAIT_S) == 0
    (code,) = codes
    return code


def test_users_do_what_they_may(cluster: Cluster) -> None:
    assert delivered(cluster.librdkafka_configs()) is None
    assert delivered(cluster.librdkafka_configs("alice")) == KafkaError.TOPIC_AUTHORIZATION_FAILED
    with KafkaProducer(cluster.client_configs()) as producer:
        producer.send(ProducerRecord("orders", value=b"b")).get(WAIT_S * 1000)
    assert cluster.values("orders") == [b"a", b"b"]


def test_a_wrong_password_is_an_error(cluster: Cluster) -> None:
    wrong = cluster.client_configs("alice", password="wrong") | {"group.id": "g"}
    with KafkaConsumer(wrong) as consumer, pytest.raises(SaslAuthenticationError):
        consumer.partitions_for("orders")


def test_a_client_that_does_not_know_the_authority_stays_outside(cluster: Cluster) -> None:
    foreign = {"ssl.truststore.certificates": CertificateAuthority().certificate}
    with pytest.raises(SslAuthenticationError), KafkaProducer(cluster.client_configs() | foreign) as producer:
        producer.send(ProducerRecord("orders", value=b"c"))


def test_passwords_alone_without_certificates() -> None:
    with Cluster(security=ClusterSecurity("SASL_PLAINTEXT", mechanism="PLAIN")) as cluster:
        cluster.create_topic("orders")
        assert delivered(cluster.librdkafka_configs("alice")) is None
        assert cluster.values("orders") == [b"a"]


def test_a_certificate_names_the_user_of_several_brokers() -> None:
    with Cluster(brokers=2, security=ClusterSecurity("SSL", client_certificates=True, acls=True)) as cluster:
        cluster.create_topic("orders")
        cluster.produce("orders", "a")
        assert delivered(cluster.librdkafka_configs("bob")) == KafkaError.TOPIC_AUTHORIZATION_FAILED
        assert delivered(cluster.librdkafka_configs()) is None
