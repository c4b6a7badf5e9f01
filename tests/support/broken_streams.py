"""Applications of Streams that break a promise, for the simulator to find."""

from __future__ import annotations

from kafka_lite.testing.history.history import History
from kafka_lite.testing.simulation.streams import programs


def at_least_once(bootstrap: str, name: str, state_dir: str, replicas: int, _guarantee: str, history: History) -> None:
    """It commits seldom, and counts again what it had counted since then."""
    programs.CONFIGS |= {"commit.interval.ms": 3_000}
    programs.instance(bootstrap, name, state_dir, replicas, "at_least_once", history)
