"""A clock that somebody sets, as an administrator or NTP does: the time of day jumps, durations go on as before."""

from __future__ import annotations

from kafka_lite.common.time import MockTime

HOUR_MS = 3_600_000


class ClockThatIsSet(MockTime):
    """``set_ahead`` moves the wall clock alone; ``sleep`` moves both, as it is after a machine was suspended."""

    def set_ahead(self, ms: float) -> None:
        """Set the time of day forward, or back if negative."""
        self._wall_ms += ms
