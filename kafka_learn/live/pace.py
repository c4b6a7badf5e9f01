"""How fast the time of a live cluster passes: a speed, a pause, single steps.

Not in Kafka. The driver asks with the real time that has passed since it asked before.
"""

from __future__ import annotations

from typing import Final

LONGEST_TURN_S: Final = 0.1
"""Simulated seconds that pass in one turn at most: a slow machine has a slower world, and a page that never freezes."""
SPEEDS: Final = (0.1, 0.5, 1.0, 5.0)
ROUNDING_S: Final = 1e-6
"""A turn may be so much longer: 9.3 - 9.2 is more than 0.1."""
STEP_S: Final = 0.01
"""Simulated seconds of a single step: about as long as a request takes."""


class Pace:
    """The relation of simulated to real time."""

    def __init__(self, speed: float = 1.0) -> None:
        self.is_paused = False
        self.speed = speed
        self._steps = 0
        self._hurry_to_s = 0.0

    def set_speed(self, speed: float) -> None:
        """Simulated seconds for each real one. Raises ValueError for one that is not offered."""
        if speed not in SPEEDS:
            raise ValueError(f"the speed {speed:g} is not among {SPEEDS}")
        self.speed = speed

    def pause(self) -> None:
        """Stop the time of the world, until ``resume``."""
        self.is_paused = True

    def resume(self) -> None:
        """Let it pass again."""
        self.is_paused = False

    def step(self) -> None:
        """Let a little of it pass, and stop it then."""
        self.pause()
        self._steps += 1

    def hurry(self, until_s: float) -> None:
        """Let time pass as fast as it can, and stop it at this time of the world."""
        self._hurry_to_s = until_s

    def is_hurrying(self, now_s: float) -> bool:
        """Whether time passes as fast as it can."""
        return now_s < self._hurry_to_s and not self.is_paused

    def due_s(self, elapsed_s: float, now_s: float = 0.0) -> float:
        """Simulated seconds that are to pass now, after so many real ones; ``now_s`` is the time of the world."""
        if self.is_hurrying(now_s):
            left_s = self._hurry_to_s - now_s
            if left_s > LONGEST_TURN_S + ROUNDING_S:
                return LONGEST_TURN_S
            self.pause()
            return left_s
        if not self.is_paused:
            return min(elapsed_s * self.speed, LONGEST_TURN_S)
        steps, self._steps = self._steps, 0
        return steps * STEP_S
