"""The rates of new connections in server.properties."""

from __future__ import annotations

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.server.kafka_config import KafkaConfig

LISTENERS = {
    "zookeeper.connect": "zk",
    "broker.id": "0",
    "listeners": "INTERNAL://:9092,EXTERNAL://:9093",
    "listener.security.protocol.map": "INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT",
    "inter.broker.listener.name": "INTERNAL",
}


def test_a_listener_has_its_own_rate_beside_the_brokers() -> None:
    config = KafkaConfig(
        {
            **LISTENERS,
            "max.connection.creation.rate": "100",
            "listener.name.external.max.connection.creation.rate": "5",
            "quota.window.num": "3",
            "quota.window.size.seconds": "2",
        }
    )
    rates = config.socket_server_config().connection_rates
    assert (rates.max_connection_creation_rate, rates.listener_rates) == (100, {"EXTERNAL": 5})
    assert (rates.window.samples, rates.window.time_window_ms) == (3, 2000)
    assert rates.protected_listener == "INTERNAL"


def test_an_only_listener_is_not_protected_from_the_brokers_rate() -> None:
    config = KafkaConfig({"zookeeper.connect": "zk", "broker.id": "0"})
    assert config.socket_server_config().connection_rates.protected_listener is None


@pytest.mark.parametrize("value", ["-1", "many"])
def test_a_bad_rate_of_a_listener_names_its_key(value: str) -> None:
    key = "listener.name.external.max.connection.creation.rate"
    with pytest.raises(ConfigError, match=key):
        KafkaConfig({**LISTENERS, key: value}).socket_server_config()
