"""The events of a live cluster for a reader: one line each, and a flood of the same one in one line with a count.

Not in Kafka. Clients of a broker that is down warn several times a second; a reader wants to see it once::

    12.040 s  producer: WARNING Connection to node 1 could not be established    ×17
"""

from __future__ import annotations

import itertools
import re
from collections import deque
from dataclasses import asdict, dataclass
from typing import Any, Final

KEPT: Final = 300
"""How many entries are kept."""
SAME_WITHIN_S: Final = 10.0
"""An event that was there so recently, but for its numbers, is counted with the earlier one."""
LONGEST: Final = 240
"""Characters of a line."""
_NUMBER = re.compile(r"\d+")


@dataclass
class Entry:
    """A line of the feed."""

    number: int
    time_s: float
    """When it happened first."""
    text: str
    count: int = 1
    last_s: float = 0.0
    """When it happened last."""


class EventFeed:
    """Takes notes of a world and keeps the last lines."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque(maxlen=KEPT)
        self._numbers = itertools.count(1)
        self._changed: dict[int, Entry] = {}

    def note(self, now_ns: int, text: str, *, is_own: bool = False) -> None:
        """Something has happened. Only the first line is shown. What a reader has done is a line of its own."""
        line, now_s = text.partition("\n")[0][:LONGEST], now_ns / 1e9
        entry = None if is_own else self._recent(_kind(line), now_s)
        if entry is None:
            entry = Entry(next(self._numbers), now_s, line, 0)
            self._entries.append(entry)
        entry.count += 1
        entry.last_s = now_s
        self._changed[entry.number] = entry

    def _recent(self, kind: str, now_s: float) -> Entry | None:
        for entry in reversed(self._entries):
            if entry.time_s < now_s - 10 * SAME_WITHIN_S:
                return None
            if _kind(entry.text) == kind and entry.last_s >= now_s - SAME_WITHIN_S:
                return entry
        return None

    def news(self) -> list[dict[str, Any]]:
        """Entries that are new or have another count since the last call."""
        changed, self._changed = self._changed, {}
        return [asdict(changed[number]) for number in sorted(changed)]


def _kind(line: str) -> str:
    """The line without its numbers, but for the name before the colon, which says whose it is."""
    name, colon, what = line.partition(":")
    return f"{name}{colon}{_NUMBER.sub('#', what)}"
