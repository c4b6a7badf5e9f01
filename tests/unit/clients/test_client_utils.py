"""Addresses of brokers."""

from __future__ import annotations

import pytest

from kafka_lite.clients.client_utils import parse_and_validate_addresses
from kafka_lite.common.config_def import ConfigError


def test_addresses() -> None:
    assert parse_and_validate_addresses([" 127.0.0.1:9092", "[::1]:80", ""]) == [("127.0.0.1", 9092), ("::1", 80)]


@pytest.mark.parametrize("text", ["localhost", "localhost:", ":", "localhost:0", "localhost:65536", "SSL://a:1"])
def test_invalid_addresses_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"Invalid value \S+ for configuration bootstrap.servers"):
        parse_and_validate_addresses([text])


def test_no_resolvable_host_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"bootstrap\.servers: none of the hosts can be resolved"):
        parse_and_validate_addresses(["no-such-host.invalid:9092"])
    with pytest.raises(ConfigError, match=r"metadata\.broker\.list: none of the hosts can be resolved"):
        parse_and_validate_addresses(["no-such-host.invalid:9092"], "metadata.broker.list")


def test_a_host_that_cannot_be_resolved_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    assert parse_and_validate_addresses("no-such-host.invalid:1, 127.0.0.1:2") == [("127.0.0.1", 2)]
    assert "Removing server no-such-host.invalid:1 from bootstrap.servers" in caplog.text
