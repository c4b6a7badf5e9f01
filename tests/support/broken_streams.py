"""Applications of Streams that break a promise, for the simulator to find."""

from __future__ import annotations

from typing import Any

from kafka_lite.testing.simulation.streams import programs


def at_least_once(*args: Any) -> None:
    """It commits seldom, and counts again what it had counted since then."""
    programs.CONFIGS |= {"processing.guarantee": "at_least_once", "commit.interval.ms": 3_000}
    programs.instance(*args)
