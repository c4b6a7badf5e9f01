from __future__ import annotations

import sys
from typing import Any

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.security_protocol import SecurityProtocol
from kafka_lite.common.time import MockTime
from kafka_lite.consumer.consumer_config import ConsumerConfig
from kafka_lite.producer.producer_config import ProducerConfig
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsResponse
from kafka_lite.security.channel_builders import client_channel_builder, server_channel_builder
from kafka_lite.security.delegation_token.delegation_token_cache import DelegationTokenCache
from kafka_lite.security.sasl_channel_builder import (
    SaslClientChannelBuilder,
    SaslServerChannelBuilder,
    SaslServices,
)
from kafka_lite.security.scram.credential_provider import CredentialProvider
from kafka_lite.server.kafka_config import KafkaConfig
from tests.support.certificates import keys_and_trust, server_certificate
from tests.support.fake_gss import FakeGssapi

SERVERS = {"bootstrap.servers": "localhost:9092"}
RULES = {"ssl.principal.mapping.rules": "DEFAULT"}


@pytest.mark.parametrize("config", [ProducerConfig, ConsumerConfig])
def test_clients_are_plaintext_unless_they_say_otherwise(config: type) -> None:
    assert client_channel_builder(config(SERVERS)) is None
    assert client_channel_builder(config(SERVERS | {"security.protocol": "PLAINTEXT"})) is None
    assert client_channel_builder(config(SERVERS | {"security.protocol": "SSL"})) is not None


SCRAM_JAAS = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="alice" password="secret";'
PLAIN_JAAS = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="secret";'
SASL = SERVERS | {"security.protocol": "SASL_PLAINTEXT"}


@pytest.mark.parametrize(
    "keys",
    [
        {"sasl.mechanism": "SCRAM-SHA-512", "sasl.jaas.config": SCRAM_JAAS},
        {"sasl.mechanism": "PLAIN", "sasl.username": "alice", "sasl.password": "secret"},
    ],
)
@pytest.mark.parametrize("config", [ProducerConfig, ConsumerConfig])
def test_clients_with_sasl(config: type, keys: dict[str, str]) -> None:
    assert isinstance(client_channel_builder(config(SASL | keys)), SaslClientChannelBuilder)


@pytest.mark.parametrize(
    ("keys", "key", "says"),
    [
        ({}, "sasl.jaas.config", "is missing"),
        ({"sasl.mechanism": "NTLM"}, "sasl.mechanism", "NTLM is not supported; valid: PLAIN, SCRAM-SHA-256"),
        ({"sasl.mechanism": "PLAIN"}, "sasl.jaas.config", "is missing"),
        ({"sasl.mechanism": "PLAIN", "sasl.username": "alice"}, "sasl.jaas.config", "is missing"),
        ({"sasl.mechanism": "PLAIN", "sasl.jaas.config": SCRAM_JAAS}, "sasl.jaas.config", "not PLAIN"),
        ({"sasl.mechanism": "PLAIN", "sasl.jaas.config": PLAIN_JAAS[:-1]}, "sasl.jaas.config", "semi-colon"),
    ],
)
def test_a_bad_key_of_sasl_is_named_without_its_secret(keys: dict[str, str], key: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as raised:
        client_channel_builder(ProducerConfig(SASL | keys))
    assert raised.value.name == key
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        ({"ssl.keystore.type": "BKS"}, "ssl.keystore.type"),
        ({"ssl.truststore.location": "/not/there"}, "ssl.truststore.location"),
        ({"ssl.enabled.protocols": "TLSv1"}, "ssl.enabled.protocols"),
        ({"ssl.endpoint.identification.algorithm": "LDAPS"}, "ssl.endpoint.identification.algorithm"),
    ],
)
def test_a_bad_key_of_a_client_is_named(keys: dict[str, str], key: str) -> None:
    with pytest.raises(ConfigError) as raised:
        client_channel_builder(ProducerConfig(SERVERS | {"security.protocol": "SSL"} | keys))
    assert raised.value.name == key


def test_listeners() -> None:
    config = keys_and_trust(server_certificate()) | RULES

    assert server_channel_builder(SecurityProtocol.PLAINTEXT, "PLAINTEXT", {}) is None
    assert server_channel_builder(SecurityProtocol.SSL, "SSL", config) is not None


def sasl_values(**keys: str) -> dict[str, Any]:
    given = {key.replace("_", "."): value for key, value in keys.items()}
    return KafkaConfig({"zookeeper.connect": "embedded"} | given).values


def sasl_services() -> SaslServices:
    versions = ApiVersionsResponse()
    return SaslServices(
        CredentialProvider(), DelegationTokenCache(), lambda _header, _request: versions, lambda: versions, MockTime()
    )


@pytest.mark.parametrize("protocol", [SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL])
def test_listeners_with_sasl(protocol: SecurityProtocol) -> None:
    config = sasl_values(sasl_enabled_mechanisms="SCRAM-SHA-256") | keys_and_trust(server_certificate())
    assert isinstance(server_channel_builder(protocol, "SASL", config, sasl_services()), SaslServerChannelBuilder)


@pytest.mark.parametrize(
    ("keys", "key", "says"),
    [
        ({}, "listener.name.sasl.gssapi.sasl.jaas.config", "GSSAPI needs the options of its login module"),
        ({"sasl_enabled_mechanisms": "NTLM"}, "sasl.enabled.mechanisms", "NTLM is not supported"),
        ({"sasl_enabled_mechanisms": ""}, "sasl.enabled.mechanisms", "must name one of"),
        ({"sasl_enabled_mechanisms": "PLAIN"}, "listener.name.sasl.plain.sasl.jaas.config", "is missing"),
        (
            {"sasl_enabled_mechanisms": "OAUTHBEARER", "sasl_jaas_config": PLAIN_JAAS},
            "listener.name.sasl.oauthbearer.sasl.jaas.config",
            "not OAUTHBEARER",
        ),
    ],
)
def test_a_bad_key_of_a_listener_with_sasl_is_named(keys: dict[str, str], key: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as raised:
        server_channel_builder(SecurityProtocol.SASL_PLAINTEXT, "SASL", sasl_values(**keys), sasl_services())
    assert raised.value.name == key
    assert "secret" not in str(raised.value)


KERBEROS_JAAS = (
    'com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true principal="kafka/h";'
)
KERBEROS = {"sasl_jaas_config": KERBEROS_JAAS, "sasl_kerberos_service_name": "kafka"}


def kerberos_listener(**keys: str) -> object:
    return server_channel_builder(SecurityProtocol.SASL_PLAINTEXT, "SASL", sasl_values(**keys), sasl_services())


def kerberos_client(jaas: str = KERBEROS_JAAS) -> object:
    keys = {"sasl.jaas.config": jaas, "sasl.kerberos.service.name": "kafka"}
    return client_channel_builder(ProducerConfig(SASL | keys))


def test_gssapi_is_the_mechanism_of_those_who_name_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gssapi", FakeGssapi())
    assert isinstance(kerberos_listener(**KERBEROS), SaslServerChannelBuilder)
    assert isinstance(kerberos_client(), SaslClientChannelBuilder)
    for call, key in (
        (lambda: kerberos_listener(sasl_jaas_config=KERBEROS_JAAS), "listener.name.sasl.gssapi.sasl.jaas.config"),
        (
            lambda: kerberos_listener(**KERBEROS, sasl_kerberos_principal_to_local_rules="RULE:x"),
            "sasl.kerberos.principal.to.local.rules",
        ),
        (lambda: kerberos_client(KERBEROS_JAAS.replace("useKeyTab", "debug")), "sasl.jaas.config"),
    ):
        with pytest.raises(ConfigError) as raised:
            call()
        assert raised.value.name == key


def test_gssapi_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gssapi", None)
    for call, key in (
        (lambda: kerberos_listener(**KERBEROS), "sasl.enabled.mechanisms"),
        (kerberos_client, "sasl.mechanism"),
    ):
        with pytest.raises(ConfigError, match=r"pip install 'kafka-lite\[gssapi\]'") as raised:
            call()
        assert raised.value.name == key


def test_rules_about_kerberos_do_not_matter_without_it() -> None:
    rules = {"sasl_kerberos_principal_to_local_rules": "RULE:x", "sasl_enabled_mechanisms": "SCRAM-SHA-256"}
    assert isinstance(kerberos_listener(**rules), SaslServerChannelBuilder)


@pytest.mark.parametrize("rules", ["nonsense", "RULE:(/x/"])
def test_bad_mapping_rules_are_found_at_the_start(rules: str) -> None:
    config = keys_and_trust(server_certificate()) | {"ssl.principal.mapping.rules": rules}
    with pytest.raises(ConfigError, match=r"ssl\.principal\.mapping\.rules"):
        server_channel_builder(SecurityProtocol.SSL, "SSL", config)
