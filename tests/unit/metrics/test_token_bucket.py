"""A token bucket: full at first, refilled at its bound, and in debt for what was taken too much."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.metrics.quota import UNLIMITED, Quota
from kafka_lite.metrics.stats import MetricConfig
from kafka_lite.metrics.token_bucket import TokenBucket

CONFIG = MetricConfig(samples=10, time_window_ms=1000, quota=Quota.upper_bound(5))
BURST = 50


def test_a_new_bucket_is_full() -> None:
    assert TokenBucket().measure(CONFIG, 12_345) == BURST
    bucket = TokenBucket()
    bucket.record(CONFIG, 60, 1, 12_345)
    assert bucket.measure(CONFIG, 12_345) == BURST - 60


def test_it_fills_at_the_rate_of_its_bound_up_to_the_burst() -> None:
    bucket = TokenBucket()
    bucket.record(CONFIG, 60, 1, 0)
    assert [bucket.measure(CONFIG, ms) for ms in (1000, 2000, 3000, 60_000)] == [-5, 0, 5, BURST]


def test_tokens_that_are_put_back_do_not_overflow() -> None:
    bucket = TokenBucket()
    bucket.record(CONFIG, 10, 1, 0)
    bucket.record(CONFIG, -100, 1, 0)
    assert bucket.measure(CONFIG, 0) == BURST


def test_without_a_quota_it_is_unlimited() -> None:
    bucket = TokenBucket()
    bucket.record(MetricConfig(), 60, 1, 0)
    assert bucket.measure(MetricConfig(), 0) == UNLIMITED
    assert bucket.measure(CONFIG, 0) == BURST


def test_a_lower_bound_empties_a_bucket_that_is_too_full() -> None:
    bucket = TokenBucket()
    bucket.measure(CONFIG, 0)
    lower = MetricConfig(samples=10, time_window_ms=1000, quota=Quota.upper_bound(1))
    assert bucket.measure(lower, 0) == 10


@given(taken=st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 30)), min_size=1, max_size=40))
def test_no_more_is_admitted_than_the_burst_and_the_refill(taken: list[tuple[int, int]]) -> None:
    """Values are admitted while the bucket is not in debt, so only the last one may exceed it."""
    bucket, now_ms, admitted, largest = TokenBucket(), 0, 0, 0
    for pause_ms, value in taken:
        now_ms += pause_ms
        if bucket.measure(CONFIG, now_ms) >= 0:
            bucket.record(CONFIG, value, 1, now_ms)
            admitted, largest = admitted + value, max(largest, value)
    assert admitted <= BURST + 5 * now_ms / 1000 + largest + 1e-6
