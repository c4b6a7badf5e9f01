"""Keys with a listener's prefix, and with a mechanism's."""

from __future__ import annotations

import logging

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.server.config.listener_configs import is_listener_key, listener_values
from kafka_lite.server.kafka_config import KafkaConfig

GIVEN: dict[str, object] = {
    "zookeeper.connect": "embedded",
    "ssl.client.auth": "none",
    "connections.max.reauth.ms": "1000",
    "listener.name.internal.ssl.client.auth": "required",
    "listener.name.internal.sasl.enabled.mechanisms": "PLAIN",
    "listener.name.internal.plain.connections.max.reauth.ms": "7",
    "listener.name.internal.plain.sasl.jaas.config": "secret",
}


def test_the_nearest_key_counts() -> None:
    config = KafkaConfig(GIVEN)
    internal = listener_values(config.values, config.original, "INTERNAL")
    plain = listener_values(config.values, config.original, "INTERNAL", "PLAIN")
    other = listener_values(config.values, config.original, "OTHER", "PLAIN")
    assert [each["ssl.client.auth"] for each in (internal, plain, other)] == ["required", "required", "none"]
    assert [each["connections.max.reauth.ms"] for each in (internal, plain, other)] == [1000, 7, 1000]
    assert (plain["sasl.jaas.config"].value, other["sasl.jaas.config"]) == ("secret", None)
    assert internal["sasl.enabled.mechanisms"] == ["PLAIN"]


@pytest.mark.parametrize("key", ["ssl.client.auth", "plain.connections.max.reauth.ms"])
def test_a_bad_value_names_the_whole_key(key: str) -> None:
    name = f"listener.name.internal.{key}"
    config = KafkaConfig(GIVEN | {name: "x"})
    with pytest.raises(ConfigError) as raised:
        listener_values(config.values, config.original, "INTERNAL", "PLAIN")
    assert (raised.value.name, raised.value.value) == (name, "x")


@pytest.mark.parametrize(
    ("key", "known"),
    [
        ("listener.name.internal.ssl.keystore.location", True),
        ("listener.name.internal.scram-sha-256.sasl.jaas.config", True),
        ("listener.name.internal.max.connection.creation.rate", True),
        ("listener.name.internal.no.such.key", False),
        ("listener.name.internal.plain.ssl.client.auth", False),
        ("ssl.client.auth", False),
        ("metrics.http.ssl.client.auth", True),
        ("metrics.http.sasl.jaas.config", False),
    ],
)
def test_keys_of_listeners_are_known(key: str, known: bool, caplog: pytest.LogCaptureFixture) -> None:
    assert is_listener_key(key) is known
    if key.startswith("listener."):
        value = "none" if not key.endswith("rate") else "1"
        with caplog.at_level(logging.WARNING):
            KafkaConfig({"zookeeper.connect": "embedded", key: value})
        assert ("isn't a known config" in caplog.text) is not known
