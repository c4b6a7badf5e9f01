"""Bounds, and how long a client that has left its own is delayed."""

from __future__ import annotations

import pytest

from kafka_lite.metrics.quota import (
    MAX_THROTTLE_TIME_MS,
    Quota,
    QuotaViolationError,
    rate_throttle_time_ms,
    tokens_throttle_time_ms,
)


def test_the_bound_itself_is_acceptable() -> None:
    assert [Quota.upper_bound(5).acceptable(value) for value in (4, 5, 6)] == [True, True, False]
    assert [Quota.lower_bound(5).acceptable(value) for value in (4, 5, 6)] == [False, True, True]


def test_quotas_are_equal_by_bound_and_direction() -> None:
    assert Quota.upper_bound(5) == Quota(5.0)
    assert Quota.upper_bound(5) != Quota.lower_bound(5)


def test_after_the_delay_the_sum_is_spread_over_enough_time() -> None:
    violation = QuotaViolationError("byte-rate", value=150, bound=100, window_size_ms=10_000)
    delay_ms = rate_throttle_time_ms(violation)
    assert delay_ms == 5000
    assert 150 * 10_000 / (10_000 + delay_ms) == 100
    assert "'byte-rate' violated quota. Actual: 150, Threshold: 100" in str(violation)


def test_a_delay_can_be_capped() -> None:
    assert rate_throttle_time_ms(QuotaViolationError("request-time", 150, 100, 10_000), maximum_ms=1000) == 1000


def test_halves_are_rounded_up_as_in_java() -> None:
    delays = [
        rate_throttle_time_ms(QuotaViolationError("r", 2, 1, window_size_ms)) for window_size_ms in (0.5, 1.5, 2.5)
    ]
    assert delays == [1, 2, 3]


def test_debt_is_paid_back_at_the_rate_of_the_bucket() -> None:
    assert tokens_throttle_time_ms(QuotaViolationError("tokens", value=-30, bound=10)) == 3000


@pytest.mark.parametrize("value", [-1.0, 1e30])
def test_no_delay_exceeds_what_a_response_can_carry(value: float) -> None:
    """A bound of 0 gives no finite delay."""
    assert rate_throttle_time_ms(QuotaViolationError("r", abs(value), 0, 1000)) == MAX_THROTTLE_TIME_MS
    assert tokens_throttle_time_ms(QuotaViolationError("t", -abs(value), 0)) == MAX_THROTTLE_TIME_MS
    assert rate_throttle_time_ms(QuotaViolationError("r", 1e30, 1, 1000)) == MAX_THROTTLE_TIME_MS
