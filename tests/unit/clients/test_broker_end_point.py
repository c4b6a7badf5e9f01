"""Addresses of brokers."""

from __future__ import annotations

import pytest

from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.common.errors import KafkaError


def test_addresses_are_parsed() -> None:
    assert BrokerEndPoint.parse(1, " kafka.example:9092 ") == BrokerEndPoint(1, "kafka.example", 9092)
    ipv6 = BrokerEndPoint.parse(2, "[::1]:9093")
    assert ipv6 == (2, "::1", 9093)
    assert (ipv6.connection_string, str(ipv6)) == ("[::1]:9093", "[::1]:9093 (id: 2)")


@pytest.mark.parametrize(
    "text",
    [
        *("", "host", ":9092", "host:0", "host:65536", "host:x", "::1:9092", "a/b:1"),
        pytest.param("host:" + "9" * 5_000, id="more digits than Python converts"),
    ],
)
def test_invalid_addresses_are_refused(text: str) -> None:
    with pytest.raises(KafkaError, match="must be host:port"):
        BrokerEndPoint.parse(0, text)
