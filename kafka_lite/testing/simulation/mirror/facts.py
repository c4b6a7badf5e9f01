"""The evidence of a run of mirrors: the records that were copied.

Not in Kafka. It is plain data, since each simulated process has its own copy of every class.
"""

from __future__ import annotations

from typing import NamedTuple

ORIGINALS, COPIES = "originals", "copies"
"""The topic of the source that is mirrored, and the topic of the target that its records go to."""


class Copy(NamedTuple):
    """A record of COPIES."""

    partition: int
    offset: int
    key: str | None
    value: str


class Facts:
    """Filled by the witness and by the operator."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        """The values that have arrived so far."""
        self.copies: list[Copy] = []
        """All copies at the end, in the order of their offsets."""
