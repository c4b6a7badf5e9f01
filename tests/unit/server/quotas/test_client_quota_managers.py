"""The quotas of an entity are applied together, or not at all."""

from __future__ import annotations

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.time import MockTime
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.stats import MetricConfig
from kafka_lite.server.quotas.client_quota_entity import KafkaQuotaEntity
from kafka_lite.server.quotas.client_quota_managers import QUOTA_KEYS, ClientQuotaManagers, client_quota_managers
from kafka_lite.server.quotas.quota_type import QuotaType

CLIENT = KafkaQuotaEntity(client_id="c")
ALL = {
    "producer_byte_rate": "1",
    "consumer_byte_rate": "2",
    "request_percentage": "0.5",
    "controller_mutation_rate": "1.5",
}


def new(**defaults: float) -> ClientQuotaManagers:
    time = MockTime()
    config = MetricConfig(11, 1000)
    return client_quota_managers(config, config, Metrics(time=time), time, **defaults)


def bounds(managers: ClientQuotaManagers) -> list[float]:
    return [manager.quota("u", "c").bound for manager in managers]


def test_each_key_has_its_manager_and_a_missing_one_removes_its_quota() -> None:
    managers = new()
    unlimited = bounds(managers)
    managers.update_quotas(CLIENT, ALL)
    assert bounds(managers) == [1, 2, 0.5, 1.5]
    assert set(QUOTA_KEYS) == set(QuotaType)
    managers.update_quotas(CLIENT, {"consumer_byte_rate": "3"})
    assert bounds(managers) == [unlimited[0], 3, unlimited[2], unlimited[3]]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("consumer_byte_rate", "1.5"),
        ("request_percentage", "-1"),
        ("controller_mutation_rate", "nan"),
        ("producer_byte_rate", "fast"),
    ],
)
def test_a_bad_value_changes_none_of_the_quotas(key: str, value: str) -> None:
    managers = new()
    managers.update_quotas(CLIENT, ALL)
    with pytest.raises(ConfigError, match=key):
        managers.update_quotas(CLIENT, {**ALL, "producer_byte_rate": "7", key: value})
    assert bounds(managers) == [1, 2, 0.5, 1.5]


def test_requests_pay_for_quotas_once_there_has_been_one() -> None:
    managers = new()
    assert not managers.is_enabled
    managers.update_quotas(CLIENT, {})
    assert managers.is_enabled, "as in Kafka: a node without quotas counts, too"
    assert new(producer_default=5).is_enabled
    assert bounds(new(producer_default=5, consumer_default=6))[:2] == [5, 6]
