from __future__ import annotations

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.security_protocol import SecurityProtocol
from kafka_lite.consumer.consumer_config import ConsumerConfig
from kafka_lite.producer.producer_config import ProducerConfig
from kafka_lite.security.channel_builders import client_channel_builder, server_channel_builder
from tests.support.certificates import keys_and_trust, server_certificate

SERVERS = {"bootstrap.servers": "localhost:9092"}
RULES = {"ssl.principal.mapping.rules": "DEFAULT"}


@pytest.mark.parametrize("config", [ProducerConfig, ConsumerConfig])
def test_clients_are_plaintext_unless_they_say_otherwise(config: type) -> None:
    assert client_channel_builder(config(SERVERS)) is None
    assert client_channel_builder(config(SERVERS | {"security.protocol": "PLAINTEXT"})) is None
    assert client_channel_builder(config(SERVERS | {"security.protocol": "SSL"})) is not None


@pytest.mark.parametrize("config", [ProducerConfig, ConsumerConfig])
def test_sasl_is_refused_and_not_ignored(config: type) -> None:
    with pytest.raises(ConfigError, match=r"security\.protocol"):
        config(SERVERS | {"security.protocol": "SASL_SSL"})


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        ({"ssl.keystore.type": "JKS"}, "ssl.keystore.type"),
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
    for protocol in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL):
        with pytest.raises(ConfigError, match="SASL is not supported yet"):
            server_channel_builder(protocol, "SASL", config)


@pytest.mark.parametrize("rules", ["nonsense", "RULE:(/x/"])
def test_bad_mapping_rules_are_found_at_the_start(rules: str) -> None:
    config = keys_and_trust(server_certificate()) | {"ssl.principal.mapping.rules": rules}
    with pytest.raises(ConfigError, match=r"ssl\.principal\.mapping\.rules"):
        server_channel_builder(SecurityProtocol.SSL, "SSL", config)
