"""Records a run of the simulator from outside: requests between processes, lives of processes, faults, violations.

The bytes on the simulated network are read as requests and responses; nothing inside the world is touched, so the run
has the same events as without a recording::

    watch = WorldWatch(world)          before the world runs
    run = watch.run(violations)        afterwards: a RecordedRun, which ``around`` cuts down to what a figure can show
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from kafka_learn.recording.frame_words import Exchange, correlation_id, request_words, response_words, zookeeper_words
from kafka_learn.recording.recorded_run import Detail, Event, Kind, RecordedRun
from kafka_lite.testing.simulation.cluster import PORT, ZOOKEEPER_PORT
from kafka_lite.testing.simulation.endpoint import Endpoint
from kafka_lite.testing.simulation.world import World

SIZE_BYTES: Final = 4
FAULTS, PROMISES = "faults", "promises"
"""Lanes of faults, and of what was found broken."""
LIFE, RUNS, PAUSED = "process", "runs", "paused"
SPANS_FROM: Final = 1_000_000
"""Numbers of spans; those of requests and responses are smaller."""
STEPS: Final = 36
"""How many steps a figure has room for."""
BEFORE: Final = 1 / 3
"""The part of them that comes before the moment in question."""
_VALUE = re.compile(r"'([\w+-]+)'")


@dataclass
class Frame:
    """A request or response on its way. Times in ns; ``arrived_ns`` is None if it never arrives."""

    connection: int
    is_request: bool
    port: int
    source: str
    sent_ns: int
    data: bytes
    target: str
    arrived_ns: int | None = None
    is_on_its_way: bool = False
    """Whether it may still arrive: the run has ended before."""


class _Said(NamedTuple):
    """A frame in words."""

    frame: Frame
    words: str


@dataclass
class _Pair:
    """A request, and its response if there is one."""

    exchange: Exchange
    said: list[_Said]


@dataclass
class _Stream:
    """One direction of a connection: bytes that are no whole frame yet, and frames that have not arrived."""

    buffer: bytearray = field(default_factory=bytearray)
    sent: int = 0
    arrived: int = 0
    on_their_way: list[tuple[int, Frame]] = field(default_factory=list)
    """Frames, and how many bytes of the stream have arrived when they have."""


class WorldWatch:
    """Sees the bytes of a world's network, and asks the world for the rest at the end."""

    def __init__(self, world: World) -> None:
        self.frames: list[Frame] = []
        self._world = world
        self._numbers = itertools.count(SPANS_FROM)
        self._streams: dict[Endpoint, _Stream] = {}
        self._names: dict[Endpoint, str] = {}
        """Endpoint -> the process that has it."""
        world.network.observer = self

    # ── what the network tells ────────────────────────────────────────────────────────────────────────────────────

    def sent(self, source: Endpoint, piece: bytes) -> None:
        """Cut the stream into frames. Connections to other ports than Kafka's and ZooKeeper's are none of ours."""
        port = _port(source)
        if port is None:
            return
        task = self._world.scheduler.current
        self._names[source] = task.owner.name if task is not None else source.machine
        stream = self._streams.setdefault(source, _Stream())
        stream.buffer += piece
        while (frame := _take_frame(stream)) is not None:
            self._add(source, port, stream, frame)

    def _add(self, source: Endpoint, port: int, stream: _Stream, data: bytes) -> None:
        peer = source.peer
        assert peer is not None
        frame = Frame(
            source.number, source.local[1] != port, port, self._names[source], self._world.scheduler.now_ns, data,
            self._names.get(peer, peer.machine),
        )  # fmt: skip
        stream.on_their_way.append((stream.sent, frame))
        self.frames.append(frame)

    def arrived(self, target: Endpoint, piece: bytes) -> None:
        """Note which frames are complete at the other end."""
        stream = self._streams.get(target.peer) if target.peer is not None else None
        if stream is None:
            return
        stream.arrived += len(piece)
        while stream.on_their_way and stream.on_their_way[0][0] <= stream.arrived:
            stream.on_their_way.pop(0)[1].arrived_ns = self._world.scheduler.now_ns

    # ── the run ───────────────────────────────────────────────────────────────────────────────────────────────────

    def run(self, title: str, findings: Sequence[str] = (), *, everything: bool = False) -> RecordedRun:
        """The events in the order of time, and the findings.

        If the findings name records, only requests and responses with these records are kept, and the lives of those
        who sent and got them: the whole story of a record fits into a figure. ``everything`` keeps all.
        """
        self._mark_what_is_on_its_way()
        values = [] if everything else _values_in(findings)
        exchanges = list(self._exchanges(values))
        shown = {event.who for event in exchanges} | set(self._servers()) if values else None
        events = [*self._faults(), *self._lives(shown), *exchanges]
        end_ns = self._world.scheduler.now_ns
        for finding in findings[:1]:
            events.append(Event(end_ns, PROMISES, Kind.NOTE, PROMISES, finding))
            events += self._span(PROMISES, finding, end_ns, end_ns)
        events.sort(key=lambda event: event.time_ns)
        return RecordedRun(tuple(events), title, lanes=self._lanes(events))

    def _mark_what_is_on_its_way(self) -> None:
        for source, stream in self._streams.items():
            peer = source.peer
            if peer is not None and not (peer.was_reset or peer.is_closed or peer.has_vanished):
                for _, frame in stream.on_their_way:
                    frame.is_on_its_way = True

    def _lanes(self, events: Sequence[Event]) -> tuple[str, ...]:
        """Clients, servers, faults, findings."""
        seen = dict.fromkeys(event.who for event in events if event.who != LIFE)
        servers = [name for name in self._servers() if name in seen]
        marks = [name for name in (FAULTS, PROMISES) if name in seen]
        return (*(name for name in seen if name not in (*servers, *marks)), *servers, *marks)

    def _servers(self) -> list[str]:
        """Processes on machines of their own: brokers and ZooKeeper."""
        return sorted({process.name for process in self._world.processes if process.name == process.machine.name})

    def moment_ns(self, findings: Sequence[str], is_over: bool = True) -> int:
        """The time to look at: when a record that a finding names was first sent, or else the last fault.

        If the run is not over, because an invariant ended it, it is the end.
        """
        values = _values_in(findings)
        with_it = [frame.sent_ns for frame in self.frames if any(value.search(frame.data) for value in values)]
        faults = [span.began_ns for span in self._world.suffering]
        if is_over and (with_it or faults):
            return with_it[0] if with_it else faults[-1]
        return self._world.scheduler.now_ns

    def _exchanges(self, values: Sequence[re.Pattern[bytes]]) -> Iterator[Event]:
        """Requests and responses. Those that only ask whether there is anything new are left out."""
        numbers = itertools.count(1)
        for pair in self._pairs():
            is_meant = any(value.search(said.frame.data) for said in pair.said for value in values)
            if is_meant or not (values or pair.exchange.is_quiet):
                for said in pair.said:
                    yield from _passage(said.frame, pair.exchange.api, said.words, next(numbers))

    def _pairs(self) -> Iterator[_Pair]:
        """Each request with its response, if there is one."""
        asked: dict[tuple[int, int], _Pair] = {}
        for frame in self.frames:
            if frame.port == ZOOKEEPER_PORT:
                words = zookeeper_words(frame.data) if frame.is_request else None
                if words is not None:
                    asked[frame.connection, -len(asked)] = _Pair(
                        Exchange("ZooKeeper", 0, is_quiet=False), [_Said(frame, words)]
                    )
            elif frame.is_request:
                exchange, words = request_words(frame.data)
                asked[frame.connection, exchange.correlation_id] = _Pair(exchange, [_Said(frame, words)])
            elif (pair := asked.get((frame.connection, correlation_id(frame.data)))) is not None:
                pair.said.append(_Said(frame, response_words(pair.exchange, frame.data)))
        yield from asked.values()

    def _lives(self, shown: Container[str] | None) -> Iterator[Event]:
        """When processes run, and when they are paused: spans for a time line, changes of state for a sequence."""
        for process in self._world.processes:
            if shown is not None and process.name not in shown:
                continue
            name, end_ns = process.name, process.ended_ns
            yield from self._span(name, RUNS, process.began_ns, end_ns)
            yield _state(process.began_ns, name, "down", RUNS)
            for pause in process.pauses:
                until_ns = pause.ended_ns if pause.ended_ns is not None else end_ns
                yield from self._span(name, PAUSED, pause.began_ns, until_ns)
                yield _state(pause.began_ns, name, RUNS, PAUSED)
                if pause.ended_ns is not None:
                    yield _state(pause.ended_ns, name, PAUSED, RUNS)
            if end_ns is not None:
                code = process.exit_code or 0
                yield _state(end_ns, name, RUNS, "killed" if code < 0 else f"ended, exit code {code}")

    def _faults(self) -> Iterator[Event]:
        for span in self._world.suffering:
            yield Event(span.began_ns, FAULTS, Kind.NOTE, FAULTS, span.what)
            yield from self._span(FAULTS, span.what, span.began_ns, span.ended_ns)

    def _span(self, thread: str, what: str, begin_ns: int, end_ns: int | None) -> Iterator[Event]:
        """A call in no lane of a sequence: only a time line shows it."""
        number = next(self._numbers)
        yield Event(begin_ns, thread, Kind.CALL, LIFE, what, number)
        yield Event(
            end_ns if end_ns is not None else self._world.scheduler.now_ns, thread, Kind.RETURN, LIFE, what, number
        )


def _values_in(findings: Sequence[str]) -> list[re.Pattern[bytes]]:
    """Patterns for the records that the first finding names: its words in quotes."""
    named = [value for finding in findings[:1] for value in _VALUE.findall(finding)]
    return [re.compile(re.escape(value.encode()) + rb"(?!\d)") for value in named]


def _port(source: Endpoint) -> int | None:
    """The port of the server, if it is Kafka's or ZooKeeper's."""
    ports = (source.local[1], source.remote[1] if source.remote is not None else 0)
    return next((port for port in ports if port in (PORT, ZOOKEEPER_PORT)), None)


def _take_frame(stream: _Stream) -> bytes | None:
    size = int.from_bytes(stream.buffer[:SIZE_BYTES], "big")
    if len(stream.buffer) < SIZE_BYTES or len(stream.buffer) < SIZE_BYTES + size:
        return None
    data = bytes(stream.buffer[SIZE_BYTES : SIZE_BYTES + size])
    del stream.buffer[: SIZE_BYTES + size]
    stream.sent += SIZE_BYTES + size
    return data


def _passage(frame: Frame, api: str, words: str, number: int) -> Iterator[Event]:
    what = api if frame.is_request else f"{api} response"
    if frame.arrived_ns is None:
        fate = "is on its way" if frame.is_on_its_way else "is lost"
        yield Event(frame.sent_ns, frame.source, Kind.NOTE, frame.source, f"{what} to {frame.target} {fate}: {words}")
        return
    detail: Detail = {"thing": words} if words else {}
    yield Event(frame.sent_ns, frame.source, Kind.PUT, frame.source, what, number, detail=detail)
    yield Event(frame.arrived_ns, frame.target, Kind.TAKE, frame.target, what, number)


def _state(time_ns: int, name: str, before: str, after: str) -> Event:
    return Event(time_ns, name, Kind.STATE, name, LIFE, detail={"before": before, "after": after})


def around(run: RecordedRun, moment_ns: int, steps: int = STEPS) -> RecordedRun:
    """The run cut down to the steps next to a moment, and what was found; without lanes in which nothing happens."""
    times = [event.time_ns for event in run if event.kind in (Kind.TAKE, Kind.STATE, Kind.NOTE)]
    if not times:
        return run
    middle = sum(time_ns < moment_ns for time_ns in times)
    first = max(0, min(middle - int(steps * BEFORE), len(times) - steps))
    begin_ns, end_ns = times[first], times[min(first + steps, len(times)) - 1]
    events = sorted(_within(run, begin_ns, end_ns), key=lambda event: event.time_ns)
    pairs = (pair for pair in run.hand_overs() if pair.take is not None and begin_ns <= pair.take.time_ns <= end_ns)
    busy = {event.who for event in events} | {pair.put.who for pair in pairs}
    return replace(run, events=tuple(events), lanes=tuple(lane for lane in run.lanes if lane in busy))


def _within(run: RecordedRun, begin_ns: int, end_ns: int) -> Iterator[Event]:
    """The events between two moments: messages received then, whenever they were sent; parts of spans."""
    taken = {
        (event.what, event.number) for event in run if event.kind is Kind.TAKE and begin_ns <= event.time_ns <= end_ns
    }
    for event in run:
        if event.kind is Kind.PUT:
            if (event.what, event.number) in taken:
                yield event
        elif event.who == PROMISES or (event.who != LIFE and begin_ns <= event.time_ns <= end_ns):
            yield event
    for span in run.calls():
        if span.end is not None and span.begin.thread == PROMISES:
            yield from (span.begin, span.end)
        elif span.end is not None and span.begin.time_ns <= end_ns and span.end.time_ns >= begin_ns:
            yield replace(span.begin, time_ns=max(span.begin.time_ns, begin_ns))
            yield replace(span.end, time_ns=min(span.end.time_ns, end_ns))
