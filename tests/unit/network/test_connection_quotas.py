from __future__ import annotations

import pytest

from kafka_lite.network.connection_quotas import ConnectionQuotas, TooManyConnectionsError


def test_the_limit_is_kept_per_address() -> None:
    quotas = ConnectionQuotas(2, {"127.0.0.1": 1, "no.such.host.invalid": 3})
    quotas.inc("10.0.0.1")
    quotas.inc("10.0.0.1")
    quotas.inc("10.0.0.2")
    quotas.inc("127.0.0.1")
    with pytest.raises(TooManyConnectionsError, match=r"from 10\.0\.0\.1 \(maximum = 2\)"):
        quotas.inc("10.0.0.1")
    with pytest.raises(TooManyConnectionsError, match=r"from 127\.0\.0\.1 \(maximum = 1\)"):
        quotas.inc("127.0.0.1")
    assert quotas.get("10.0.0.1") == 2


@pytest.mark.parametrize("host", ["two..dots", "x" * 300])
def test_a_limit_for_an_invalid_host_name_applies_to_no_address(host: str) -> None:
    quotas = ConnectionQuotas(1, {host: 0})
    quotas.inc("10.0.0.1")
    assert quotas.get("10.0.0.1") == 1


def test_a_closed_connection_makes_room() -> None:
    quotas = ConnectionQuotas(1, {})
    quotas.inc("10.0.0.1")
    quotas.dec("10.0.0.1")
    quotas.inc("10.0.0.1")
    assert quotas.get("10.0.0.1") == 1


def test_new_limits_replace_the_old_ones_and_close_nothing() -> None:
    quotas = ConnectionQuotas(1, {"10.0.0.1": 3, "10.0.0.2": 3})
    for _ in range(3):
        quotas.inc("10.0.0.1")
    quotas.update(2, {"10.0.0.2": 1})
    assert quotas.get("10.0.0.1") == 3
    with pytest.raises(TooManyConnectionsError, match="maximum = 2"):
        quotas.inc("10.0.0.1")
    quotas.dec("10.0.0.1")
    quotas.dec("10.0.0.1")
    quotas.inc("10.0.0.1")
    quotas.inc("10.0.0.2")
    with pytest.raises(TooManyConnectionsError, match="maximum = 1"):
        quotas.inc("10.0.0.2")


def test_addresses_without_connections_take_no_memory() -> None:
    quotas = ConnectionQuotas(1, {})
    for number in range(100):
        quotas.inc(f"10.0.0.{number}")
        quotas.dec(f"10.0.0.{number}")
    assert not quotas._counts


def test_counts_below_zero_are_an_error() -> None:
    with pytest.raises(ValueError, match="no connections"):
        ConnectionQuotas(1, {}).dec("10.0.0.1")
