"""The steps of a recorded run as data, from which a page plays the run: what happens, by which line, what it changes.

The steps are those of the static figure. ``docs/assets/stepper/`` reads them from JSON::

    {"lanes": ["producer", "Processor", …],
     "steps": [{"words": "producer → Processor: request: …", "lanes": [0, 1], "at": 101.2,
                "source": ["kafka_lite/network/selector.py", 120, "channel.read()"],
                "changes": [["request queue", "1"]]}, …]}
"""

from __future__ import annotations

import json
import linecache
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kafka_learn.drawing.run_words import lane_name, phrase, word
from kafka_learn.drawing.sequence_layout import file_facts, file_name
from kafka_learn.project import PROJECT_ROOT
from kafka_learn.recording.recorded_run import Event, Kind, RecordedRun, matches

Change = tuple[str, str]
"""The part that changed, and its value from now on."""


@dataclass(frozen=True)
class PlayedStep:
    """One step. ``lanes`` are the numbers of its lanes, ``at`` is its place in the figure (y, or x in a time line)."""

    words: str
    lanes: Sequence[int]
    at: float
    source: str = ""
    """``path:line`` of the line that runs; empty if the recording does not have it."""
    changes: Sequence[Change] = ()

    def to_json(self) -> dict[str, object]:
        """The step for JSON, without what it does not have."""
        row: dict[str, object] = {"words": self.words, "lanes": list(self.lanes), "at": round(self.at, 1)}
        if self.source:
            row["source"] = source_line(self.source)
        if self.changes:
            row["changes"] = [list(change) for change in self.changes]
        return row


def to_json(lanes: Iterable[str], steps: Iterable[PlayedStep]) -> str:
    """The steps as JSON that may stand in a page's HTML."""
    run = {"lanes": list(lanes), "steps": [step.to_json() for step in steps]}
    return json.dumps(run, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def source_line(source: str) -> tuple[str, int, str]:
    """The path, number and text of ``path:line``."""
    path, _, number = source.rpartition(":")
    return path, int(number), linecache.getline(str(PROJECT_ROOT / path), int(number)).strip()


class Changes:
    """The changes in a run, in order: states, files, and how many items wait in a queue."""

    def __init__(self, run: RecordedRun, hide: Sequence[str] = (), language: str = "en") -> None:
        """``hide`` omits events, see ``matches``."""
        self._events = run.events
        self._hide = hide
        self._language = language
        self._queues = {
            (pair.put.what, pair.put.number)
            for pair in run.hand_overs()
            if pair.take is None or pair.take.who == pair.put.who
        }
        self._waiting: dict[str, int] = {}
        self._next = 0

    def until(self, end: int) -> list[Change]:
        """The changes of the events before the one with index ``end`` that were not returned yet; one per thing."""
        found = dict(change for event in self._events[self._next : end] for change in self._of(event))
        self._next = max(end, self._next)
        return list(found.items())

    def _of(self, event: Event) -> Iterator[Change]:
        if any(matches(event, name) for name in self._hide):
            return
        if event.kind is Kind.STATE:
            thing = phrase(word(event.what, self._language), self._language)
            yield f"{lane_name(event.who, self._language)}: {thing}", phrase(str(event.detail["after"]), self._language)
        elif event.kind is Kind.FILE and event.where:
            yield file_name(event), f"{word(event.what, self._language)}: {file_facts(event, self._language)}"
        elif event.kind in (Kind.PUT, Kind.TAKE) and (event.what, event.number) in self._queues:
            change = 1 if event.kind is Kind.PUT else -1
            self._waiting[event.what] = self._waiting.get(event.what, 0) + change
            yield word(event.what, self._language), str(self._waiting[event.what])
