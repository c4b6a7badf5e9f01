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


def test_counts_below_zero_are_an_error() -> None:
    with pytest.raises(ValueError, match="no connections"):
        ConnectionQuotas(1, {}).dec("10.0.0.1")
