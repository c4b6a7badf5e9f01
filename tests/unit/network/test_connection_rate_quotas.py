"""Rates of new connections: of the broker, of a listener, of an address, and what a refused one leaves."""

from __future__ import annotations

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.stats import MetricConfig
from kafka_lite.network.connection_rate_quotas import (
    UNLIMITED_RATE,
    ConnectionRateConfig,
    ConnectionRateQuotas,
    ConnectionThrottledError,
)

EXTERNAL, INTERNAL, ADDRESS = "EXTERNAL", "INTERNAL", "10.0.0.7"


@pytest.fixture
def time() -> MockTime:
    return MockTime()


@pytest.fixture
def metrics(time: MockTime) -> Metrics:
    return Metrics(time=time)


@pytest.fixture
def quotas(metrics: Metrics, time: MockTime) -> ConnectionRateQuotas:
    """Windows of 1 s, of which 11: ten times the rate is a free burst."""
    quotas = ConnectionRateQuotas(
        ConnectionRateConfig(MetricConfig(11, 1000), protected_listener=INTERNAL), metrics, time
    )
    quotas.add_listener(EXTERNAL)
    quotas.add_listener(INTERNAL)
    return quotas


def delays(quotas: ConnectionRateQuotas, count: int, listener: str = EXTERNAL) -> list[int]:
    return [quotas.record_connection(listener) for _ in range(count)]


def value(metrics: Metrics, name: str, tags: dict[str, str] | None = None) -> float:
    metric = metrics.metric(metrics.metric_name(name, "socket-server-metrics", tags=tags))
    assert metric is not None
    return metric.value


def refused(quotas: ConnectionRateQuotas, count: int, address: str = ADDRESS) -> list[int]:
    """The throttle times of those that are refused."""
    times = []
    for _ in range(count):
        quotas.record_connection(EXTERNAL)
        try:
            quotas.record_ip_connection(EXTERNAL, address)
        except ConnectionThrottledError as error:
            times.append((error.address, error.throttle_time_ms))
    assert {each for each, _ in times} <= {address}
    return [throttle_time_ms for _, throttle_time_ms in times]


def test_without_rates_nothing_is_delayed(quotas: ConnectionRateQuotas) -> None:
    assert set(delays(quotas, 1000)) == {0}
    assert refused(quotas, 1000) == []


def test_a_listener_waits_at_most_a_window(quotas: ConnectionRateQuotas, metrics: Metrics, time: MockTime) -> None:
    quotas.update_listener_rate(EXTERNAL, 2)
    assert delays(quotas, 23) == [0] * 20 + [500, 1000, 1000]
    assert delays(quotas, 20, INTERNAL) == [0] * 20
    tags = {"listener": EXTERNAL}
    assert value(metrics, "connection-accept-rate", tags) == 2.3
    assert value(metrics, "connection-accept-throttle-time", tags) == pytest.approx(2500 / 3)
    time.sleep(12_000)
    assert quotas.record_connection(EXTERNAL) == 0


def test_the_brokers_rate_does_not_limit_the_other_brokers(quotas: ConnectionRateQuotas, metrics: Metrics) -> None:
    quotas.update_broker_rate(1)
    assert delays(quotas, 30, INTERNAL) == [0] * 30
    assert delays(quotas, 11) == [0] * 10 + [1000]
    assert value(metrics, "broker-connection-accept-rate") == 1.1


def test_the_longer_delay_counts(quotas: ConnectionRateQuotas) -> None:
    quotas.update_broker_rate(10)
    quotas.update_listener_rate(EXTERNAL, 4)
    assert delays(quotas, 41)[-1] == 250
    quotas.update_listener_rate(EXTERNAL, 1000)
    assert delays(quotas, 60)[-1] == 100


def test_an_address_that_is_too_fast_is_refused_and_counted_nowhere(
    quotas: ConnectionRateQuotas, metrics: Metrics
) -> None:
    quotas.update_ip_rate(ADDRESS, 1)
    assert refused(quotas, 15) == [1000] * 5
    assert refused(quotas, 15, "10.0.0.8") == []
    tags = {"listener": EXTERNAL}
    assert value(metrics, "connection-accept-rate", {"ip": ADDRESS}) == 1
    assert value(metrics, "connection-accept-rate", tags) == value(metrics, "broker-connection-accept-rate") == 2.5
    assert value(metrics, "ip-connection-accept-throttle-time", tags) == 1000


def test_an_address_is_admitted_again_when_its_burst_has_left_the_ring(
    quotas: ConnectionRateQuotas, time: MockTime
) -> None:
    quotas.update_ip_rate(ADDRESS, 1)
    assert refused(quotas, 11) == [1000]
    time.sleep(10_999)
    assert refused(quotas, 1) == [1]
    time.sleep(1)
    assert refused(quotas, 1) == []


def test_a_default_rate_is_for_addresses_without_one(quotas: ConnectionRateQuotas) -> None:
    quotas.update_ip_rate(ADDRESS, 2)
    quotas.update_ip_rate(None, 1)
    assert (len(refused(quotas, 25)), len(refused(quotas, 25, "10.0.0.8"))) == (5, 15)
    quotas.update_ip_rate(None, 3)
    assert (len(refused(quotas, 5)), len(refused(quotas, 5, "10.0.0.8"))) == (5, 0), "existing sensors change, too"
    quotas.update_ip_rate(ADDRESS, None)
    assert quotas.connection_rate_for_ip(ADDRESS) == 3
    quotas.update_ip_rate(None, None)
    assert quotas.connection_rate_for_ip(ADDRESS) == UNLIMITED_RATE


def test_a_rate_of_zero_admits_nobody(quotas: ConnectionRateQuotas) -> None:
    quotas.update_ip_rate(ADDRESS, 0)
    assert refused(quotas, 3) == [1000] * 3


def test_the_sensor_of_an_address_expires(quotas: ConnectionRateQuotas, metrics: Metrics, time: MockTime) -> None:
    quotas.update_ip_rate(ADDRESS, 1)
    refused(quotas, 1)
    time.sleep(3_600_001)
    metrics.remove_expired_sensors()
    sensors = [metrics.get_sensor(f"Connection-Accept-Rate-{each}") for each in (ADDRESS, EXTERNAL)]
    assert [sensor is None for sensor in sensors] == [True, False]


def test_a_removed_listener_leaves_no_metrics(quotas: ConnectionRateQuotas, metrics: Metrics) -> None:
    quotas.remove_listener(EXTERNAL)
    assert not [name for name in metrics.metrics if ("listener", EXTERNAL) in name.tags]


def test_the_configured_rates_of_the_broker_and_of_a_listener(metrics: Metrics, time: MockTime) -> None:
    config = ConnectionRateConfig(MetricConfig(11, 1000), 100, {EXTERNAL: 1}, INTERNAL)
    quotas = ConnectionRateQuotas(config, metrics, time)
    quotas.add_listener(EXTERNAL)
    quotas.add_listener(INTERNAL)
    assert delays(quotas, 11) == [0] * 10 + [1000]
    assert delays(quotas, 2000, INTERNAL) == [0] * 2000, "neither has a rate nor is limited by the broker's"
