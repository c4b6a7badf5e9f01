"""What the parts of a broker take from a new configuration."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.time import MockTime
from kafka_lite.log.cleaning.cleaner_config import CleanerConfig
from kafka_lite.log.producers.producer_state_manager_config import ProducerStateManagerConfig
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.network.connection_quotas import ConnectionQuotas, TooManyConnectionsError
from kafka_lite.network.connection_rate_quotas import ConnectionRateConfig, ConnectionRateQuotas
from kafka_lite.server.dynamic.broker_reconfigurable import (
    DynamicConnectionQuotas,
    DynamicLogCleaner,
    DynamicProducerStateManagerConfig,
)
from kafka_lite.server.dynamic.dynamic_broker_config import DynamicBrokerConfig
from kafka_lite.server.kafka_config import KafkaConfig


@pytest.fixture
def dynamic() -> DynamicBrokerConfig:
    return DynamicBrokerConfig(KafkaConfig({"zookeeper.connect": "zk", "max.connections.per.ip": "1"}))


def test_connection_limits_and_their_exceptions(dynamic: DynamicBrokerConfig) -> None:
    quotas = ConnectionQuotas(1, {})
    rates = ConnectionRateQuotas(ConnectionRateConfig(), Metrics(), MockTime())
    rates.add_listener("PLAINTEXT")
    dynamic.add_broker_reconfigurable(DynamicConnectionQuotas(quotas, rates))
    dynamic.update_default(
        {
            "max.connections.per.ip": "2",
            "max.connections.per.ip.overrides": "10.0.0.9:3",
            "max.connection.creation.rate": "1",
        }
    )
    assert [rates.record_connection("PLAINTEXT") for _ in range(11)] == [0] * 10 + [1000]
    for address, limit in (("10.0.0.1", 2), ("10.0.0.9", 3)):
        for _ in range(limit):
            quotas.inc(address)
        with pytest.raises(TooManyConnectionsError, match=f"maximum = {limit}"):
            quotas.inc(address)


def test_the_producer_state_of_all_logs(dynamic: DynamicBrokerConfig) -> None:
    shared = ProducerStateManagerConfig(5_000)
    dynamic.add_broker_reconfigurable(DynamicProducerStateManagerConfig(shared))
    assert not shared.transaction_verification_enabled
    dynamic.update_default({"producer.id.expiration.ms": "7000", "transaction.partition.verification.enable": "false"})
    assert shared == ProducerStateManagerConfig(7_000, transaction_verification_enabled=False)
    dynamic.update_default({"producer.id.expiration.ms": "7000", "transaction.partition.verification.enable": "true"})
    assert shared == ProducerStateManagerConfig(7_000, transaction_verification_enabled=True)


class Cleaner:
    """In place of the LogCleaner: it refuses more than four threads."""

    def __init__(self) -> None:
        self.told: list[CleanerConfig] = []

    def validate_reconfiguration(self, new_config: CleanerConfig) -> None:
        if new_config.num_threads > 4:
            raise ConfigError("log.cleaner.threads", new_config.num_threads, "too many")

    def reconfigure(self, new_config: CleanerConfig) -> None:
        self.told.append(new_config)


def test_the_log_cleaner_judges_and_takes_its_configuration(dynamic: DynamicBrokerConfig) -> None:
    cleaner: Any = Cleaner()
    dynamic.add_broker_reconfigurable(DynamicLogCleaner(cleaner))
    with pytest.raises(ConfigError, match="too many"):
        dynamic.validate({"log.cleaner.threads": "5"}, per_broker=False)
    dynamic.update_default({"log.cleaner.threads": "3", "log.cleaner.backoff.ms": "7"})
    assert [(told.num_threads, told.backoff_ms) for told in cleaner.told] == [(3, 7)]
