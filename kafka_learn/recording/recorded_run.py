"""A recorded run of a broker or client: events in the order in which they happened.

A run is plain data. It is stored as JSON lines and can be drawn without the recorded code. ``recorder`` creates runs,
``sequence_diagram`` and ``time_line`` draw them::

    {"format": 1, "title": "The way of a produce request", "recorded_by": "chapters…request_runs:produce_request", ...}
    {"time_ns": 0, "thread": "producer", "kind": "put", "who": "BlockingChannel", "what": "request", "number": 1, ...}
    ...
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

FORMAT = 1

Detail = dict[str, Any]
"""An event's details: names with numbers, text, booleans, or lists of these."""


class Kind(StrEnum):
    """The kind of an event."""

    CALL = "call"
    """A method begins. ``number`` identifies the call, ``parent`` the call that made it."""
    RETURN = "return"
    """A method ends; ``detail`` has ``result`` or ``error``."""
    PUT = "put"
    """A thread hands over an item. ``what`` names the queue, ``number`` identifies the item."""
    TAKE = "take"
    """Another thread (or the same, later) takes the item."""
    STATE = "state"
    """A state changed: ``detail`` has ``before`` and ``after``."""
    FILE = "file"
    """A file was written, read or sent: ``detail`` has positions and bytes."""
    PHASES = "phases"
    """A request has ended: ``detail`` has the milliseconds of its phases."""
    NOTE = "note"
    """A remark by the recording thread."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened.

    ``time_ns`` counts from the start of the run. ``who`` is the object's class. ``where`` distinguishes objects of one
    class if that matters (a file, a number). ``source`` is the line of kafka_lite that made it happen, such as
    ``kafka_lite/log/log.py:120``: of a call the line that calls; empty if no code of kafka_lite did.
    """

    time_ns: int
    thread: str
    kind: Kind
    who: str
    what: str
    number: int = 0
    parent: int = 0
    where: str = ""
    detail: Detail = field(default_factory=dict)
    source: str = ""

    def to_json(self) -> dict[str, Any]:
        """The event for JSON, without empty fields."""
        row = dataclasses.asdict(self)
        return {name: value for name, value in row.items() if value or name == "time_ns"}

    @classmethod
    def of_json(cls, row: dict[str, Any]) -> Event:
        """The inverse of ``to_json``. Raises ValueError or TypeError for a row that is not an event."""
        return cls(**{**row, "kind": Kind(row["kind"])})


@dataclass(frozen=True)
class CallSpan:
    """A call from its beginning to its end; ``end`` is None if the recording ended first."""

    begin: Event
    end: Event | None
    depth: int
    """Number of enclosing recorded calls of the same thread."""

    @property
    def duration_ns(self) -> int:
        """Duration of the call; 0 if its end is unknown."""
        return self.end.time_ns - self.begin.time_ns if self.end is not None else 0


@dataclass(frozen=True)
class HandOver:
    """An item that one thread handed to another; ``take`` is None if it was never taken."""

    put: Event
    take: Event | None

    @property
    def waited_ns(self) -> int:
        """How long the item waited; 0 if it was never taken."""
        return self.take.time_ns - self.put.time_ns if self.take is not None else 0


@dataclass(frozen=True)
class Turn:
    """A thread's work on one item: from taking it to the last event before it takes the next one.

    ``first`` and ``last`` are indexes into the run's events.
    """

    thread: str
    first: int
    last: int


@dataclass(frozen=True)
class RecordedRun:
    """A run: its events, in an order in which no effect precedes its cause.

    Events of one thread are in the order of that thread, and an item is put before it is taken. Apart from that,
    events of different threads are ordered by the clock.
    """

    events: tuple[Event, ...]
    title: str = ""
    recorded_by: str = ""
    """``module:function`` that records this run again."""
    actors: dict[str, str] = field(default_factory=dict)
    """Thread → the class of its thread object (``Processor``), or the name of a plain thread."""
    lanes: tuple[str, ...] = ()
    """The objects that a sequence diagram shows by default; empty: all."""
    hide: tuple[str, ...] = ()
    """The events that it hides by default, see ``matches``."""

    def __len__(self) -> int:
        return len(self.events)

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    @property
    def threads(self) -> list[str]:
        """The threads, in the order of their first event."""
        return list(dict.fromkeys(event.thread for event in self.events))

    def recorded_in(
        self, module: str, function: str, lanes: tuple[str, ...] = (), hide: tuple[str, ...] = ()
    ) -> RecordedRun:
        """The run with the function that records it and what a sequence diagram shows of it by default."""
        return dataclasses.replace(self, recorded_by=f"{module}:{function}", lanes=lanes, hide=hide)

    # ── choosing ──────────────────────────────────────────────────────────────────────────────────────────────────

    def where(self, condition: Callable[[Event], bool]) -> RecordedRun:
        """The run with only the events for which ``condition`` is true."""
        return dataclasses.replace(self, events=tuple(event for event in self.events if condition(event)))

    def only(self, *names: str) -> RecordedRun:
        """The run with only the events that match one of ``names``: see ``matches``."""
        return self.where(lambda event: any(matches(event, name) for name in names))

    def without(self, *names: str) -> RecordedRun:
        """The run without the events that match one of ``names``: see ``matches``."""
        return self.where(lambda event: not any(matches(event, name) for name in names))

    # ── what belongs together ─────────────────────────────────────────────────────────────────────────────────────

    def calls(self) -> list[CallSpan]:
        """Calls with their ends, in order of their beginnings."""
        ends = {event.number: event for event in self.events if event.kind is Kind.RETURN}
        depths: dict[int, int] = {0: -1}
        spans = []
        for event in self.events:
            if event.kind is Kind.CALL:
                depths[event.number] = depths.get(event.parent, -1) + 1
                spans.append(CallSpan(event, ends.get(event.number), depths[event.number]))
        return spans

    def hand_overs(self) -> list[HandOver]:
        """Everything that was put, with the event that took it."""
        takes = {(event.what, event.number): event for event in self.events if event.kind is Kind.TAKE}
        puts = (event for event in self.events if event.kind is Kind.PUT)
        return [HandOver(put, takes.get((put.what, put.number))) for put in puts]

    def turns(self) -> list[Turn]:
        """The threads' work, item by item. A thread that takes nothing, such as a client's, has a single turn."""
        open_turns: dict[str, Turn] = {}
        turns = []
        for index, event in enumerate(self.events):
            turn = open_turns.get(event.thread)
            takes = event.kind is Kind.TAKE and not event.parent and not self.is_client(event.thread)
            if turn is None or takes:
                turns += [turn] if turn is not None else []
                turn = Turn(event.thread, index, index)
            open_turns[event.thread] = dataclasses.replace(turn, last=index)
        return sorted([*turns, *open_turns.values()], key=lambda turn: turn.first)

    def is_client(self, thread: str) -> bool:
        """Whether a thread has no class of its own, so it was created for the run."""
        return self.actors.get(thread, thread) in (thread, "main")

    def structure(self) -> dict[str, list[str]]:
        """The part that is the same in every recording: the actions of each thread, and the hand-overs between threads.

        Times, sizes and the order of events across threads are not part of it. Threads of one pool count as one.
        """
        roles = {thread: thread_role(thread) for thread in self.threads}
        found: dict[str, list[str]] = {}
        for event in self.events:
            if event.kind not in (Kind.PUT, Kind.TAKE, Kind.PHASES):
                found.setdefault(roles[event.thread], []).append(f"{event.kind} {event.who}.{event.what}")
        found["hand-overs"] = sorted(
            f"{hand_over.put.what}: {roles[hand_over.put.thread]} → "
            f"{roles[hand_over.take.thread] if hand_over.take is not None else 'nobody'}"
            for hand_over in self.hand_overs()
        )
        return found

    # ── keeping ───────────────────────────────────────────────────────────────────────────────────────────────────

    def save(self, path: Path) -> None:
        """Write the run as JSON lines."""
        rows: list[dict[str, Any]] = [{"format": FORMAT, **self._header()}]
        rows += [event.to_json() for event in self.events]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")

    def _header(self) -> dict[str, Any]:
        names = ("title", "recorded_by", "actors", "lanes", "hide")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def load(cls, path: Path) -> RecordedRun:
        """Read a run. Raises OSError, or ValueError if the file is not a run."""
        try:
            header, *rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
            if header["format"] != FORMAT:
                raise ValueError(f"format {header['format']} is unknown")
            lanes, hide = tuple(header["lanes"]), tuple(header["hide"])
            events = tuple(map(Event.of_json, rows))
            return cls(events, header["title"], header["recorded_by"], header["actors"], lanes, hide)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is not a recorded run: {error}") from error


def matches(event: Event, name: str) -> bool:
    """Whether ``name`` is the event's object (``Log``), method or queue (``Log.append``, ``.append``), kind or thread.

    >>> matches(Event(0, "producer", Kind.CALL, "Log", "append"), "Log.append")
    True
    """
    who, dot, what = name.partition(".")
    if dot:
        return who in ("", event.who) and what == event.what
    return name in (event.who, event.kind.value, event.thread, thread_role(event.thread))


_NUMBERS = re.compile(r"-\d+(?=-|$)")


def thread_role(thread: str) -> str:
    """A thread's name without the numbers that distinguish it within its pool (and without ports).

    >>> thread_role("kafka-network-thread-0-PLAINTEXT-1")
    'kafka-network-thread-PLAINTEXT'
    """
    return _NUMBERS.sub("", thread)


def thread_names(threads: Iterable[str]) -> dict[str, str]:
    """Short names for threads: without ``kafka-``, and numbered from 1 only if there are several of a pool.

    >>> list(thread_names(["kafka-request-handler-3", "producer", "kafka-request-handler-7"]).values())
    ['request-handler 1', 'request-handler 2', 'producer']
    """
    pools: dict[str, list[str]] = {}
    for thread in threads:
        role = thread_role(thread).removeprefix("kafka-").replace("MainThread", "main")
        pools.setdefault(role, []).append(thread)
    return {
        thread: f"{role} {number}" if len(pool) > 1 else role
        for role, pool in pools.items()
        for number, thread in enumerate(pool, 1)
    }
