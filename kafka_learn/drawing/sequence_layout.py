"""The layout of a sequence diagram: lanes, steps in rows, bars. It draws nothing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from kafka_learn.drawing.run_words import duration, phrase, word
from kafka_learn.recording.recorded_run import Detail, Event, Kind, RecordedRun, matches, thread_names

RETURNS = ("all", "results", "none")
LANES_ARE = ("objects", "threads")
FRAME_BYTES = "frame_bytes"
_MANY_ZEROS = re.compile(r"^0{16}")


class StepKind(Enum):
    """How a step is drawn."""

    CALL = "a solid arrow with a full head"
    RETURN = "a dashed arrow with an open head, back to the caller"
    HAND_OVER = "a dashed arrow with a full head"
    NOTE = "a box beside the lane"


@dataclass
class Step:
    """One row. ``source`` is None if the caller is not shown; equal lanes make a loop."""

    kind: StepKind
    event: Event
    source: str | None
    target: str
    label: str
    thread: str = ""
    """The thread that performs the step; for a hand-over, the thread that put the item."""
    index: int = 0
    """The number of its event in the run."""
    times: int = 1
    """How often it happened in immediate succession."""

    def __post_init__(self) -> None:
        self.thread = self.thread or self.event.thread


@dataclass(frozen=True)
class Bar:
    """A stretch of a lane between two rows, in fractions of rows: a running thread, or a waiting item.

    ``slot`` is the number of other bars to its left on the same lane.
    """

    lane: str
    first_row: float
    last_row: float
    thread: str
    slot: int = 0
    waiting: str = ""
    """The queue in which an item waits; empty for a running thread."""


@dataclass
class Layout:
    """The whole layout of ``run``, without the events that match ``hide``."""

    lanes: list[str]
    run: RecordedRun
    hide: Sequence[str] = ()
    steps: list[Step] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)


def lay_out(
    run: RecordedRun,
    *,
    lanes: Sequence[str] = (),
    hide: Sequence[str] = (),
    returns: str = "results",
    by: str = "objects",
    language: str = "en",
) -> Layout:
    """Lay out a run.

    ``lanes`` selects the objects and their order. Calls to other objects are omitted, and the calls that those make are
    drawn from their callers. ``hide`` omits events (see ``matches``) in the same way. The run has the defaults of both.
    ``returns``: ``all``, those with ``results``, or ``none``.

    With ``by="threads"`` the lanes are threads, by their short names. Calls are loops, and queues are arrows from
    thread to thread.

    Raises ValueError for unknown ``returns`` and ``by``.
    """
    if returns not in RETURNS:
        raise ValueError(f"returns={returns}: must be one of {', '.join(RETURNS)}")
    if by not in LANES_ARE:
        raise ValueError(f"by={by}: must be one of {', '.join(LANES_ARE)}")
    if by == "threads":
        return _Builder(
            by_threads(run.without(*(hide or run.hide)), language), list(lanes), [], returns, language
        ).build()
    return _Builder(run, list(lanes or run.lanes), list(hide or run.hide), returns, language).build()


def by_threads(run: RecordedRun, language: str = "en") -> RecordedRun:
    """The run with one lane per thread: every event is in its thread's lane and names its object in ``what``."""
    names = thread_names(run.threads)
    takes = {
        id(pair.take): pair for pair in run.hand_overs() if pair.take is not None and pair.put.who == pair.take.who
    }
    events = []
    for event in run:
        changed = replace(event, who=names[event.thread])
        if event.kind in (Kind.CALL, Kind.RETURN):
            changed = replace(changed, what=f"{event.who}.{event.what}")
        elif id(event) in takes:
            waited = f"{word('after', language)} {duration(takes[id(event)].waited_ns)}"
            changed = replace(changed, detail=event.detail | {"waited": waited})
        events.append(changed)
    return RecordedRun(tuple(events), run.title, run.recorded_by, names)


class _Builder:
    def __init__(self, run: RecordedRun, lanes: list[str], hide: list[str], returns: str, language: str) -> None:
        self._run = run
        self._hide = hide
        self._returns = returns
        self._language = language
        self._calls = {event.number: event for event in run if event.kind is Kind.CALL}
        self._hand_overs = {(pair.put.what, pair.put.number): pair for pair in run.hand_overs()}
        self._all_lanes = not lanes
        self._layout = Layout(lanes, run, hide)
        self._rows: dict[int, float] = {}
        """Event index -> its row, or the row after which it would be."""

    def build(self) -> Layout:
        if self._all_lanes:
            self._layout.lanes = self._found_lanes()
        for index, event in enumerate(self._run):
            step = None if self._hidden(event) else self._step(event)
            if step is not None and not self._repeats(step):
                step.index = index
                self._layout.steps.append(step)
            self._rows[index] = len(self._layout.steps) - 1 + (0 if step is not None else 0.4)
        self._add_bars()
        return self._layout

    # ── lanes ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _found_lanes(self) -> list[str]:
        found: dict[str, None] = {}
        for event in self._run:
            if event.kind in (Kind.FILE, Kind.PHASES) or self._hidden(event):
                continue
            if event.kind in (Kind.TAKE, Kind.CALL, Kind.PUT) and not event.parent:
                found.setdefault(self._run.actors.get(event.thread, event.thread))
            found.setdefault(event.who)
        return list(found)

    def _hidden(self, event: Event) -> bool:
        return any(matches(event, name) for name in self._hide)

    def _shown_call(self, event: Event) -> bool:
        return event.who in self._layout.lanes and not self._hidden(event)

    def _caller(self, event: Event) -> str | None:
        """The lane of the innermost call around the event that is shown, else that of the thread itself."""
        parent = self._calls.get(event.parent)
        while parent is not None and not self._shown_call(parent):
            parent = self._calls.get(parent.parent)
        if parent is not None:
            return parent.who
        actor = self._run.actors.get(event.thread, event.thread)
        return actor if actor in self._layout.lanes else None

    # ── steps ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _step(self, event: Event) -> Step | None:
        match event.kind:
            case Kind.CALL if self._shown_call(event):
                label = f"{event.what}({', '.join(_values(event.detail, self._language))})"
                return Step(StepKind.CALL, event, self._caller(event), event.who, label)
            case Kind.RETURN if self._shown_call(event):
                return self._return_step(event)
            case Kind.PUT | Kind.TAKE:
                return self._hand_over_step(event)
            case Kind.STATE | Kind.FILE | Kind.NOTE:
                lane = event.who if event.who in self._layout.lanes else self._caller(event)
                return Step(StepKind.NOTE, event, None, lane, _note_label(event, self._language)) if lane else None
        return None

    def _return_step(self, event: Event) -> Step | None:
        """An arrow back to the caller, unless the caller is not shown or is in the same lane."""
        result = event.detail.get("error", event.detail.get("result"))
        if self._returns == "none" or (self._returns == "results" and (result is None or isinstance(result, bool))):
            return None
        target = self._caller(event)
        if target is None or target == event.who:
            return None
        sign = "✗ " if "error" in event.detail else ""
        label = sign + phrase(str("" if result is None else result), self._language)
        return Step(StepKind.RETURN, event, event.who, target, label)

    def _hand_over_step(self, event: Event) -> Step | None:
        """A hand-over: two steps through the queue's lane, or one from thread to thread when the item is taken."""
        pair = self._hand_overs.get((event.what, event.number))
        if pair is None:
            return None
        lanes = self._layout.lanes
        if pair.take is not None and pair.take.who != pair.put.who:
            if event.kind is Kind.PUT or event.who not in lanes:
                return None
            source = pair.put.who if pair.put.who in lanes else None
            label = self._thing_label(pair.put.detail | pair.take.detail, event.what)
            return Step(StepKind.HAND_OVER, event, source, event.who, label, pair.put.thread)
        lane = event.who if event.who in lanes else None
        other = self._caller(event)
        if event.kind is Kind.PUT:
            label = self._thing_label(event.detail, event.what)
            return Step(StepKind.HAND_OVER, event, other, lane, label) if lane else None
        label = f"{word(event.what, self._language)}: {word('after', self._language)} {duration(pair.waited_ns)}"
        return Step(StepKind.HAND_OVER, event, lane, other, label) if other else None

    def _thing_label(self, detail: Detail, what: str) -> str:
        """The label of a hand-over: the item, then its fields, then its size on the wire."""
        facts = {name: value for name, value in detail.items() if name not in ("thing", FRAME_BYTES)}
        facts |= {FRAME_BYTES: detail[FRAME_BYTES]} if FRAME_BYTES in detail else {}
        name = word(what, self._language)
        named = f"{name}: {phrase(str(detail['thing']), self._language)}" if "thing" in detail else name
        return ", ".join([named, *_values(facts, self._language)])

    def _repeats(self, step: Step) -> bool:
        """Whether the step repeats the previous one, whose count is then incremented."""
        last = self._layout.steps[-1] if self._layout.steps else None
        if last is None or step.kind is StepKind.RETURN or last.event.thread != step.event.thread:
            return False
        if step.event.kind is Kind.STATE and step.label != last.label:
            return False  # another change of the same object
        same = (last.kind, last.source, last.target, last.event.what) == (
            step.kind,
            step.source,
            step.target,
            step.event.what,
        )
        if same:
            last.times += 1
        return same

    # ── bars ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _add_bars(self) -> None:
        bars = [*self._call_bars(), *self._thread_bars(), *self._waiting_bars()]
        taken: dict[str, list[Bar]] = defaultdict(list)
        for bar in sorted(bars, key=lambda one: (one.first_row, -one.last_row)):
            beside = {other.slot for other in taken[bar.lane] if other.last_row > bar.first_row}
            slot = next(number for number in range(len(beside) + 1) if number not in beside)
            placed = Bar(bar.lane, bar.first_row, bar.last_row, bar.thread, slot, bar.waiting)
            taken[bar.lane].append(placed)
            self._layout.bars.append(placed)

    def _call_bars(self) -> Iterable[Bar]:
        ends = {event.number: index for index, event in enumerate(self._run) if event.kind is Kind.RETURN}
        for index, event in enumerate(self._run):
            if event.kind is Kind.CALL and self._shown_call(event):
                end = self._rows[ends.get(event.number, len(self._run) - 1)]
                yield Bar(event.who, self._rows[index], max(end, self._rows[index] + 0.4), event.thread)

    def _thread_bars(self) -> Iterable[Bar]:
        """A running thread in its own lane."""
        for turn in self._run.turns():
            actor = self._run.actors.get(turn.thread, turn.thread)
            first, last = self._rows[turn.first], self._rows[turn.last]
            if actor in self._layout.lanes and last >= 0:
                yield Bar(actor, max(first, 0), max(last, first + 0.4), turn.thread)

    def _waiting_bars(self) -> Iterable[Bar]:
        index_of = {id(event): index for index, event in enumerate(self._run)}
        for pair in self._hand_overs.values():
            if pair.take is None or pair.take.who != pair.put.who or pair.put.who not in self._layout.lanes:
                continue
            if self._hidden(pair.put) or self._hidden(pair.take):
                continue
            first, last = self._rows[index_of[id(pair.put)]], self._rows[index_of[id(pair.take)]]
            yield Bar(pair.put.who, first, last, pair.put.thread, waiting=pair.put.what)


# ── labels ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _values(detail: Detail, language: str) -> list[str]:
    return [phrase(value, language) if isinstance(value, str) else f"{name}={value}" for name, value in detail.items()]


def _note_label(event: Event, language: str) -> str:
    detail = event.detail
    if event.kind is Kind.STATE:
        before, after = (phrase(str(detail.get(each)), language) for each in ("before", "after"))
        return f"{phrase(word(event.what, language), language)}: {before} → {after}"
    if event.kind is Kind.FILE:
        return _file_label(event, language)
    return phrase(event.what, language)


def _file_label(event: Event, language: str) -> str:
    """``append …0000.log: position 73, 73 bytes``."""
    place = f"{word(event.what, language)} {file_name(event)}".rstrip()
    return f"{place}: {file_facts(event, language)}"


def file_name(event: Event) -> str:
    """The name of an event's file, without most of the zeros of a segment's."""
    return _MANY_ZEROS.sub("…", event.where)


def file_facts(event: Event, language: str) -> str:
    """Where in its file something happened, and how many bytes it was: ``position 73, 73 bytes``."""
    facts = {name: value for name, value in event.detail.items() if name != "bytes"}
    words = [f"{word(name, language)} {value}" for name, value in facts.items()]
    if "bytes" in event.detail:
        words.append(f"{event.detail['bytes']} {word('bytes', language)}")
    return ", ".join(words)
