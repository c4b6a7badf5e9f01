"""The bench says how long it will take before it begins."""

from __future__ import annotations

from bench.__main__ import QUICK_SCALE, duration


def test_the_duration_is_that_of_the_readme() -> None:
    assert duration(1027, 1) == "1027 measurements, about 42 minutes on two quiet cores"
    assert duration(304, QUICK_SCALE).endswith(" about 9 minutes on two quiet cores")


def test_a_short_run_takes_a_minute() -> None:
    assert duration(3, 1) == "3 measurements, about 1 minute on two quiet cores"
