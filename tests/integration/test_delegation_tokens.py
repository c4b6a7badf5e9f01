"""Tokens on two brokers: one creates them, the other lets clients in with them, and follows their ends."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_lite.clients.admin_client import AdminClient
from kafka_lite.common.errors import Errors
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.network.authentication_error import SaslAuthenticationError
from kafka_lite.network.blocking_channel import NotConnectedError
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.protocol.messages import api_38_create_delegation_token as create
from kafka_lite.protocol.messages import api_39_renew_delegation_token as renew
from kafka_lite.protocol.messages import api_40_expire_delegation_token as expire
from kafka_lite.protocol.messages import api_41_describe_delegation_token as describe
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataResponse
from kafka_lite.testing.kafka_servers import KafkaServers
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from tests.support.eventually import eventually

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
SETTINGS = {
    "listeners": "SASL_PLAINTEXT://localhost:0",
    "security.inter.broker.protocol": "SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
    "sasl.mechanism.inter.broker.protocol": "PLAIN",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": (
        f'{PLAIN} required username="broker" password="b" user_broker="b" user_alice="a" user_bob="b";'
    ),
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "super.users": "User:broker;User:alice",
    "delegation.token.secret.key": "of all brokers",
    "delegation.token.expiry.check.interval.ms": 100,
    "offsets.topic.num.partitions": 1,
    "offsets.topic.replication.factor": 1,
    "group.initial.rebalance.delay.ms": 0,
    "controlled.shutdown.retry.backoff.ms": 50,
}
WAIT_MS = 60_000


@pytest.fixture(scope="module")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaServers]:
    folder = tmp_path_factory.mktemp("tokens")
    with EmbeddedZooKeeper(folder / "zookeeper") as zookeeper:
        servers = KafkaServers(folder, zookeeper.connect_string, SETTINGS)
        try:
            servers.start(0)
            servers.start(1)
            eventually(servers.know_each_other)
            yield servers
        finally:
            servers.stop_all()


def config(brokers: KafkaServers, broker: int, mechanism: str, jaas: str) -> dict[str, Any]:
    return {
        "bootstrap.servers": f"localhost:{brokers.servers[broker].bound_port('SASL_PLAINTEXT')}",
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": jaas,
    }


def user(brokers: KafkaServers, name: str = "alice", broker: int = 0) -> AdminClient:
    jaas = f'{PLAIN} required username="{name}" password="{name[0]}";'
    return AdminClient(config(brokers, broker, "PLAIN", jaas))


def with_token(
    brokers: KafkaServers, token: Any, broker: int = 1, mechanism: str = "SCRAM-SHA-512", secret: bytes | None = None
) -> dict[str, Any]:
    """The configuration of a client that has a token."""
    password = base64.b64encode(token.hmac if secret is None else secret).decode()
    jaas = f'{SCRAM} required username="{token.token_id}" password="{password}" tokenauth="true";'
    return config(brokers, broker, mechanism, jaas)


def new_token(brokers: KafkaServers, name: str = "alice", **fields: Any) -> create.CreateDelegationTokenResponse:
    request = create.CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=-1)
    for field, value in fields.items():
        setattr(request, field, value)
    return user(brokers, name).send_any_node(request, create.CreateDelegationTokenResponse)


def logs_in(configs: dict[str, Any]) -> bool:
    try:
        AdminClient(configs).send_any_node(MetadataRequest(topics=[]), MetadataResponse, 4)
    except SaslAuthenticationError:
        return False
    return True


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_producer_and_a_consumer_have_only_a_token(brokers: KafkaServers, mechanism: str) -> None:
    token = new_token(brokers)
    assert (token.error_code, token.principal_name, token.token_requester_principal_name) == (0, "alice", "alice")
    configs = with_token(brokers, token, mechanism=mechanism)
    eventually(lambda: logs_in(configs))
    with KafkaProducer(configs) as producer:
        producer.send(ProducerRecord(f"of-{mechanism}", value=b"v")).get(WAIT_MS)
    group = {"group.id": mechanism, "auto.offset.reset": "earliest"}
    with KafkaConsumer({**configs, **group}) as consumer:
        consumer.subscribe([f"of-{mechanism}"])
        found: list[bytes] = []
        eventually(lambda: found.extend(record.value for record in consumer.poll(100)) or found)
        assert found == [b"v"]


def test_a_token_is_renewed_and_ended_and_its_clients_are_refused_then(brokers: KafkaServers) -> None:
    token = new_token(brokers)
    configs = with_token(brokers, token)
    eventually(lambda: logs_in(configs))
    renewal = renew.RenewDelegationTokenRequest(hmac=token.hmac, renew_period_ms=1000)
    renewed = user(brokers, broker=1).send_any_node(renewal, renew.RenewDelegationTokenResponse)
    assert renewed.error_code == 0
    assert token.issue_timestamp_ms < renewed.expiry_timestamp_ms < token.expiry_timestamp_ms
    end = expire.ExpireDelegationTokenRequest(hmac=token.hmac, expiry_time_period_ms=-1)
    assert user(brokers).send_any_node(end, expire.ExpireDelegationTokenResponse).error_code == 0
    eventually(lambda: not logs_in(configs))


def test_a_token_that_has_expired_is_deleted_by_the_controller(brokers: KafkaServers) -> None:
    token = new_token(brokers, max_lifetime_ms=300)
    everything = describe.DescribeDelegationTokenRequest(owners=None)

    def is_known() -> bool:
        response = user(brokers).send_any_node(everything, describe.DescribeDelegationTokenResponse)
        return token.token_id in {each.token_id for each in response.tokens}

    def is_refused() -> bool:
        try:
            return not logs_in(with_token(brokers, token))
        except NotConnectedError:
            return False  # it expired after the authentication, which ends the session

    eventually(lambda: not is_known())
    eventually(is_refused)


def test_wrong_secrets_and_unknown_tokens_have_the_same_answer(brokers: KafkaServers) -> None:
    token = new_token(brokers)
    eventually(lambda: logs_in(with_token(brokers, token)))
    words = []
    for configs in (with_token(brokers, token, secret=b"wrong"), with_token(brokers, _Unknown)):
        with pytest.raises(SaslAuthenticationError) as raised:
            AdminClient(configs).send_any_node(MetadataRequest(topics=[]), MetadataResponse, 4)
        words.append(str(raised.value).partition("Authentication failed")[2])
    assert len(set(words)) == 1


class _Unknown:
    token_id, hmac = "none", b"none"


def test_a_client_with_a_token_gets_no_further_tokens(brokers: KafkaServers) -> None:
    token = new_token(brokers)
    configs = with_token(brokers, token, broker=0)
    request = create.CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=-1)
    refused = AdminClient(configs).send_any_node(request, create.CreateDelegationTokenResponse)
    assert refused.error_code == Errors.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED.code


def test_tokens_of_others_need_rights(brokers: KafkaServers) -> None:
    refused = new_token(brokers, "bob", owner_principal_type="User", owner_principal_name="alice")
    assert refused.error_code == Errors.DELEGATION_TOKEN_AUTHORIZATION_FAILED.code
    own, for_bob = (
        new_token(brokers, "bob"),
        new_token(brokers, owner_principal_type="User", owner_principal_name="bob"),
    )
    new_token(brokers)
    everything = describe.DescribeDelegationTokenRequest(owners=None)
    seen = user(brokers, "bob").send_any_node(everything, describe.DescribeDelegationTokenResponse)
    assert {each.token_id for each in seen.tokens} == {own.token_id, for_bob.token_id}
    of_super_user = user(brokers).send_any_node(everything, describe.DescribeDelegationTokenResponse)
    assert len(of_super_user.tokens) > 2
