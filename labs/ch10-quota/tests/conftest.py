"""Helpers that the tests of this lab share."""

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.metrics.stats import MetricConfig


@pytest.fixture
def config():
    """Eleven samples of a second each."""
    return MetricConfig(samples=11, time_window_ms=1000)


@pytest.fixture
def time():
    """A clock that jumps when a thread waits."""
    return MockTime()
