"""A broker's machine is suspended for hours while clients are connected: sessions and tokens afterwards."""

from __future__ import annotations

import base64

import pytest

from kafka_lite.clients.admin_client import AdminClient
from kafka_lite.consumer.consumer_config import ConsumerConfig
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.network.authentication_error import SaslAuthenticationError
from kafka_lite.network.blocking_channel import BlockingChannel, NotConnectedError
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.protocol.messages import api_38_create_delegation_token as create
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataResponse
from kafka_lite.security.channel_builders import client_channel_builder
from kafka_lite.testing import Cluster
from kafka_lite.testing.shifted_time import ShiftedTime
from tests.support.eventually import eventually

SESSION_MS, WAIT_MS = 600_000, 60_000
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"
SETTINGS = {
    "listeners": "PLAINTEXT://127.0.0.1:0,USERS://127.0.0.1:0",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,USERS:SASL_PLAINTEXT",
    "inter.broker.listener.name": "PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
    "listener.name.users.plain.sasl.jaas.config": f'{PLAIN} user_alice="secret";',
    "listener.name.users.plain.connections.max.reauth.ms": SESSION_MS,
    "delegation.token.secret.key": "of all brokers",
}


def config(cluster: Cluster, jaas: str = f'{PLAIN} username="alice" password="secret";') -> dict[str, str]:
    return {
        "bootstrap.servers": f"127.0.0.1:{cluster.server.bound_port('USERS')}", "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN" if jaas.startswith(PLAIN) else "SCRAM-SHA-256", "sasl.jaas.config": jaas,
    }  # fmt: skip


def test_clients_go_on_in_new_sessions() -> None:
    """Their own clocks did not jump: they learn of the end of a session by the end of the connection."""
    time = ShiftedTime()
    with (
        Cluster(SETTINGS, time=time) as cluster,
        KafkaProducer(config(cluster)) as producer,
        KafkaConsumer(config(cluster)) as consumer,
    ):
        for _ in range(3):
            producer.send(ProducerRecord("orders", value=b"x")).get(WAIT_MS)
            assert "orders" in consumer.list_topics()
            time.advance(hours=5)


def test_a_session_that_is_over_serves_no_request() -> None:
    time = ShiftedTime()
    with Cluster(SETTINGS, time=time) as cluster:
        keys = config(cluster)
        host, _, port = keys["bootstrap.servers"].rpartition(":")
        security = client_channel_builder(ConsumerConfig(keys))
        with BlockingChannel(host, int(port), read_timeout_ms=WAIT_MS, security=security) as channel:
            channel.exchange(MetadataRequest(topics=[]), 1)
            time.advance(hours=5)
            with pytest.raises(NotConnectedError):
                channel.exchange(MetadataRequest(topics=[]), 1)


def test_a_token_that_expired_meanwhile_lets_nobody_in() -> None:
    time = ShiftedTime()
    with Cluster(SETTINGS, time=time) as cluster:
        request = create.CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=-1)
        token = AdminClient(config(cluster)).send_any_node(request, create.CreateDelegationTokenResponse)
        password = base64.b64encode(token.hmac).decode()
        jaas = f'{SCRAM} username="{token.token_id}" password="{password}" tokenauth="true";'
        eventually(lambda: logs_in(config(cluster, jaas)))
        time.advance(days=2)
        eventually(lambda: not logs_in(config(cluster, jaas)))


def logs_in(keys: dict[str, str]) -> bool:
    try:
        AdminClient(keys).send_any_node(MetadataRequest(topics=[]), MetadataResponse, 4)
    except (SaslAuthenticationError, NotConnectedError):  # refused, or let in for no time at all
        return False
    return True
