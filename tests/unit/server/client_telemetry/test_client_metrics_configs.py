"""Subscriptions to metrics of clients: what they may say, and whom they match."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.server.client_telemetry.client_metrics_configs import DEFAULT_INTERVAL_MS, parse_subscription

JAVA = {"client_id": "orders-1", "client_software_name": "apache-kafka-java", "client_software_version": "3.9.1"}


def test_a_subscription_has_metrics_an_interval_and_patterns() -> None:
    found = parse_subscription(
        "s",
        {"metrics": "a.,b.", "interval.ms": "1000", "match": "client_id=orders-.*, client_software_version = 3\\..*"},
    )
    assert (found.metrics, found.interval_ms) == ({"a.", "b."}, 1000)
    assert found.matches(JAVA)
    assert not found.matches({**JAVA, "client_software_version": "4.1.0"})


def test_the_defaults_match_every_client_and_no_metric() -> None:
    found = parse_subscription("s", {})
    assert (found.metrics, found.interval_ms) == (frozenset(), DEFAULT_INTERVAL_MS)
    assert found.matches({})


def test_a_pattern_must_match_the_whole_value_and_an_unknown_value_never_does() -> None:
    found = parse_subscription("s", {"match": "client_id=orders"})
    assert not found.matches(JAVA)
    assert not found.matches({})


@pytest.mark.parametrize(
    ("name", "config", "error"),
    [
        ("", {}, Errors.INVALID_REQUEST),
        ("s", {"other": "1"}, Errors.INVALID_REQUEST),
        ("s", {"interval.ms": "99"}, Errors.INVALID_REQUEST),
        ("s", {"interval.ms": "3600001"}, Errors.INVALID_REQUEST),
        ("s", {"interval.ms": "soon"}, Errors.INVALID_REQUEST),
        ("s", {"match": "client_id"}, Errors.INVALID_CONFIG),
        ("s", {"match": "colour=red"}, Errors.INVALID_CONFIG),
        ("s", {"match": "client_id=a=b"}, Errors.INVALID_CONFIG),
        ("s", {"match": "client_id=("}, Errors.INVALID_CONFIG),
    ],
)
def test_bad_subscriptions_are_refused(name: str, config: dict[str, str], error: Errors) -> None:
    with pytest.raises(ApiError) as caught:
        parse_subscription(name, config)
    assert caught.value.error is error
