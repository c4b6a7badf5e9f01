"""Figures of a producer's recorded run: where batches and requests were, for how long, and which batches held memory.

They are time lines with other lanes: one for each partition, one for the buffers of the pool, one for requests.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafka_learn.both_languages import with_chinese_twin
from kafka_learn.drawing.graphviz_drawing import BLUE, GREEN, ORANGE, PLAIN, Drawing, cell, new_graph, table
from kafka_learn.drawing.state_machines import draw_states
from kafka_learn.drawing.svg import PALETTE, text_width
from kafka_learn.drawing.time_line import FONT, Lane, Span, TimeLine
from kafka_learn.recording.client_watches import FILLING, FULL, IN_FLIGHT, RETRY
from kafka_learn.recording.recorded_run import Event, Kind, RecordedRun
from kafka_learn.recording.run_store import recorded_run
from kafka_lite.clients.cluster_connection_states import VALID_PREVIOUS_STATES
from kafka_lite.producer.producer_batch import ProducerBatch
from kafka_lite.producer.record_accumulator import RecordAccumulator

COLOURS = {FILLING: PALETTE[2], FULL: PALETTE[6], IN_FLIGHT: PALETTE[0], RETRY: PALETTE[4]}
_WAITS = PALETTE[4]

_WORDS = {
    "en": {
        FILLING: "filling",
        FULL: "full",
        IN_FLIGHT: "in flight",
        RETRY: "waiting for a retry",
        "memory": "buffers of the pool",
        "waits": "send waits",
        "requests": "in flight",
    },
    "zh": {
        FILLING: "正在填充",
        FULL: "已满",
        IN_FLIGHT: "在途",
        RETRY: "等待重试",
        "memory": "缓冲池的缓冲区",
        "waits": "send 阻塞",
        "requests": "在途请求",
    },
}


class BatchLives(TimeLine):
    """Each batch from its first record to its end, and beside that the memory it held: see ``batch_lives``."""

    def _draw_legend(self) -> float:
        x = 0.0
        for state in (FILLING, FULL, IN_FLIGHT, RETRY):
            label = _WORDS[self._language][state]
            self._canvas.box((x, 4), (10, 10), fill=COLOURS[state], opacity=0.75, radius=2)
            self._canvas.text((x + 14, 13), label, size=FONT)
            x += text_width(label, FONT) + 30
        return 20.0


@with_chinese_twin
def batch_lives(run: RecordedRun, language: str = "en") -> BatchLives:
    """A lane for each partition, with its batches and how many records each took; the buffers that were handed out.

    Needs a run with ``watch_batches()``, and for the memory ``watch_memory()`` and calls of ``BufferPool.allocate``.
    """
    words = _WORDS[language]
    end_ns = run.events[-1].time_ns
    lives = _states(run)
    lanes = []
    for partition in sorted({events[0].where for events in lives.values()}):
        spans = [
            span
            for name, events in lives.items()
            if events[0].where == partition
            for span in _life(name, events, end_ns)
        ]
        lanes.append(Lane(partition, _beside_each_other(spans)))
    waiting = [call for call in run.calls() if (call.begin.who, call.begin.what) == ("BufferPool", "allocate")]
    if waiting:
        held = [Span(events[0].time_ns, _last_ns(events, end_ns), name) for name, events in lives.items()]
        lanes.append(Lane(words["memory"], _stacked(held, PALETTE[3])))
        ends = ((call.begin.time_ns, call.end.time_ns if call.end else end_ns) for call in waiting)
        blocked = [Span(start, end, words["waits"], colour=_WAITS) for start, end in ends if end - start > 1e6]
        lanes.append(Lane(words["waits"], blocked))
    return BatchLives(run, lanes, language)


@with_chinese_twin
def requests_in_flight(run: RecordedRun, language: str = "en") -> TimeLine:
    """A row for each request in flight at once, with the requests by their correlation ids.

    Needs a run with ``watch_in_flight()``.
    """
    begun: dict[int, Event] = {}
    spans = []
    for event in run:
        if event.who == "InFlightRequests":
            number = event.detail["correlation_id"]
            if event.detail["after"] > event.detail["before"]:
                begun[number] = event
            elif number in begun:
                spans.append(Span(begun.pop(number).time_ns, event.time_ns, f"#{number}"))
    return TimeLine(run, [Lane(_WORDS[language]["requests"], _stacked(spans, PALETTE[0]))], language)


def _states(run: RecordedRun) -> dict[str, list[Event]]:
    """The changes of each batch, by its name."""
    found: dict[str, list[Event]] = {}
    for event in run:
        if event.kind is Kind.STATE and event.who == "ProducerBatch":
            found.setdefault(event.what, []).append(event)
    return {name: events for name, events in found.items() if events[0].detail["after"] == FILLING}


def _life(name: str, events: list[Event], end_ns: int) -> Iterable[Span]:
    number = name.rpartition(" ")[2]
    ends = [*(event.time_ns for event in events[1:]), end_ns]
    for event, until in zip(events, ends, strict=True):
        state = event.detail["after"]
        if state in COLOURS:
            label = f"{number}: {event.detail['records']}" if state == IN_FLIGHT else number
            yield Span(event.time_ns, until, label, colour=COLOURS[state], hollow=state == FILLING)


def _last_ns(events: list[Event], end_ns: int) -> int:
    return events[-1].time_ns if events[-1].detail["after"] not in COLOURS else end_ns


def _beside_each_other(spans: list[Span]) -> list[Span]:
    """Phases of one batch in one row; batches that overlap below each other."""
    rows: dict[str, int] = {}
    ends: list[tuple[int, str]] = []
    placed = []
    for span in sorted(spans, key=lambda one: one.start_ns):
        batch = span.label.partition(":")[0]
        if batch not in rows:
            last_ns = max(one.end_ns for one in spans if one.label.partition(":")[0] == batch)
            taken = {rows[other] for until, other in ends if until > span.start_ns}
            rows[batch] = next(row for row in range(len(taken) + 1) if row not in taken)
            ends.append((last_ns, batch))
        placed.append(Span(span.start_ns, span.end_ns, span.label, rows[batch], span.colour, span.hollow))
    return placed


def _stacked(spans: list[Span], colour: str) -> list[Span]:
    """Puts each span into the first free row."""
    placed: list[Span] = []
    for span in sorted(spans, key=lambda one: one.start_ns):
        taken = {other.depth for other in placed if other.end_ns > span.start_ns}
        row = next(row for row in range(len(taken) + 1) if row not in taken)
        placed.append(Span(span.start_ns, span.end_ns, span.label, row, colour))
    return placed


def draw_accumulator(accumulator: RecordAccumulator) -> Drawing:
    """The deques now, with the oldest batch on the left, and the memory below."""
    rows = []
    for partition, queue in sorted(accumulator._batches.items()):
        cells = [_batch_cell(batch, takes_more=batch is queue[-1] and not batch.is_full) for batch in queue]
        rows.append([cell(str(partition), border=0), *(cells or [cell("–", border=0)])])
    pool = accumulator._pool
    widest = max(map(len, rows), default=2)
    rows = [[*row, *[cell("", border=0)] * (widest - len(row))] for row in rows]
    memory = f"free: {pool.available_memory} of {pool.total_memory} bytes, {pool.queued} wait"
    rows.append([cell("BufferPool", border=0), cell(memory, fill=PLAIN, columns=widest - 1)])
    graph = new_graph()
    graph.node("accumulator", table(rows))
    return Drawing(graph, "; ".join(f"{each}: {len(queue)} batches" for each, queue in accumulator._batches.items()))


def _batch_cell(batch: ProducerBatch, *, takes_more: bool) -> str:
    """Orange: waits for a retry. Blue: has room. Green: is closed."""
    fill = ORANGE if batch.in_retry else BLUE if takes_more else GREEN
    plural = "" if batch.record_count == 1 else "s"
    return cell(f"{batch.record_count} record{plural}\n{batch.size_in_bytes} bytes", fill=fill)


# ── for pages ───────────────────────────────────────────────────────────────────────────────────────────────────────


def filling_and_draining(language: str) -> str:
    """Batches for three partitions and a slow broker, with the memory used up."""
    return batch_lives(
        recorded_run("chapters.ch02_producer.figures.producer_runs:filling_and_draining"), language
    ).svg()


def reordered(language: str) -> str:
    """Three batches of one partition, of which the first is sent twice."""
    return batch_lives(recorded_run("chapters.ch02_producer.figures.producer_runs:reordered"), language).svg()


def five_in_flight(language: str) -> str:
    """Eight requests, five at once."""
    return requests_in_flight(
        recorded_run("chapters.ch02_producer.figures.connection_runs:five_in_flight"), language
    ).svg()


def one_in_flight(language: str) -> str:
    """The same, one at once."""
    return requests_in_flight(
        recorded_run("chapters.ch02_producer.figures.connection_runs:one_in_flight_request"), language
    ).svg()


def connection_states(_language: str) -> str:
    """The state machine of a connection."""
    return draw_states(VALID_PREVIOUS_STATES).svg()
