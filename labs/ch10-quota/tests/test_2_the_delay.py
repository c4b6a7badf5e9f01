"""Task 2: how long a client is delayed."""

import pytest

from kafka_lite.metrics.quota import MAX_THROTTLE_TIME_MS, QuotaViolationError, rate_throttle_time_ms


def delay_ms(rate, bound, window_ms=10_000, **maximum):
    return rate_throttle_time_ms(QuotaViolationError("byte-rate", rate, bound, window_ms), **maximum)


@pytest.mark.points(6, task=2)
def test_after_the_delay_the_rate_is_the_bound():
    """Twice the bound, and a tenth more than it, over 10 s"""
    found = delay_ms(200, 100)
    assert found == 10_000, f"twice the bound over 10 s is the bound over 20 s: a delay of 10,000 ms, not {found}"
    assert delay_ms(110, 100) == 1000, f"a tenth too much over 10 s is one second, not {delay_ms(110, 100)} ms"


@pytest.mark.points(4, task=2)
def test_it_is_rounded_as_in_kafka():
    """0.5 ms and 2.5 ms"""
    for excess, expected in ((0.5, 1), (2.5, 3)):
        found = delay_ms(1000 + excess, 1000, 1000)
        assert found == expected, f"{excess} ms: half a millisecond is rounded up, to {expected}, not {found}"


@pytest.mark.points(5, task=2)
def test_a_delay_has_a_limit():
    """A long one, and a bound of 0"""
    found = delay_ms(1000, 1, maximum_ms=1000)
    assert found == 1000, f"no delay is longer than maximum_ms, 1,000, but this one is {found}"
    assert delay_ms(5, 0) == MAX_THROTTLE_TIME_MS, "the rate never sinks to 0: the delay is the longest one"
