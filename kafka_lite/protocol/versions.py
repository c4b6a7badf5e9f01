"""Ranges of message versions in Kafka's notation: ``0-9``, ``3+``, ``2``, ``none``.

Kafka 0.10.2: clients/.../common/protocol/Protocol.java (one schema per version, in arrays) · book 2.3.5
"""

from __future__ import annotations

from typing import NamedTuple

HIGHEST = 0x7FFF
"""The largest version that fits into an int16: the upper end of an open range."""


class Versions(NamedTuple):
    """All versions from ``lowest`` to ``highest``, inclusive; empty if ``lowest`` is above ``highest``."""

    lowest: int
    highest: int

    @staticmethod
    def parse(text: str) -> Versions:
        """Parse ``"3-9"``, ``"3+"``, ``"3"`` or ``"none"``."""
        if text == "none":
            return NO_VERSIONS
        if text.endswith("+"):
            return Versions(int(text[:-1]), HIGHEST)
        lowest, dash, highest = text.partition("-")
        return Versions(int(lowest), int(highest if dash else lowest))

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and self.lowest <= version <= self.highest

    def __str__(self) -> str:
        if self.lowest > self.highest:
            return "none"
        if self.highest == HIGHEST:
            return f"{self.lowest}+"
        return str(self.lowest) if self.lowest == self.highest else f"{self.lowest}-{self.highest}"


NO_VERSIONS = Versions(0, -1)
"""The empty range."""

ALL_VERSIONS = Versions(0, HIGHEST)
"""Every version."""
