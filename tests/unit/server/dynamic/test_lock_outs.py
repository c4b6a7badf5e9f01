"""No change of a running broker locks the operator out."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.network.connection_quotas import ConnectionQuotas
from kafka_lite.server.dynamic.dynamic_broker_config import DynamicBrokerConfig
from kafka_lite.server.dynamic.lock_outs import lock_out
from kafka_lite.server.kafka_config import KafkaConfig

PER_IP, RATE, OVERRIDES = "max.connections.per.ip", "max.connection.creation.rate", "max.connections.per.ip.overrides"


@pytest.mark.parametrize(
    "config",
    [
        {PER_IP: "0"},
        {PER_IP: "000"},
        {RATE: "0"},
        {PER_IP: "0", OVERRIDES: "10.0.0.9:1"},
        {OVERRIDES: "127.0.0.1:0"},
        {OVERRIDES: "10.0.0.9:1, ::1:0"},
    ],
    ids=str,
)
@pytest.mark.parametrize("per_broker", [True, False])
def test_zero_connections_are_refused_with_a_reason(config: dict[str, str], per_broker: bool) -> None:
    dynamic = DynamicBrokerConfig(KafkaConfig({"zookeeper.connect": "zk"}))
    with pytest.raises(ApiError, match="would lock") as refused:
        dynamic.validate(config, per_broker=per_broker)
    assert refused.value.error is Errors.INVALID_CONFIG


@pytest.mark.parametrize(
    "config",
    [{PER_IP: "1"}, {RATE: "1"}, {OVERRIDES: "10.0.0.9:0"}, {OVERRIDES: "127.0.0.1:10"}, {OVERRIDES: ""}],
    ids=str,
)
def test_other_limits_are_allowed(config: dict[str, str]) -> None:
    DynamicBrokerConfig(KafkaConfig({"zookeeper.connect": "zk"})).validate(config, per_broker=True)


def test_what_was_written_by_hand_is_ignored_after_a_restart_too() -> None:
    dynamic = DynamicBrokerConfig(KafkaConfig({"zookeeper.connect": "zk"}))
    dynamic.update_default({PER_IP: "0", RATE: "7"})
    config = dynamic.current_config
    assert (config.max_connections_per_ip, config.max_connection_creation_rate) == (2**31 - 1, 7)
    ConnectionQuotas(config.max_connections_per_ip, config.max_connections_per_ip_overrides).inc("10.0.0.9")


@pytest.mark.parametrize("config", [{OVERRIDES: "127.0.0.1:many"}, {OVERRIDES: "nonsense"}, {PER_IP: "x"}], ids=str)
def test_values_that_mean_nothing_are_not_its_business(config: dict[str, str]) -> None:
    assert lock_out(config) is None
