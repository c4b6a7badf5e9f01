"""Drawings of timing wheels and of a purgatory, made from the objects themselves.

A wheel moves on, so it is drawn from a ``WheelState``, which is read off a ``TimingWheel`` at one moment: several of
them in a row show how a task comes from a coarse wheel into a fine one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_learn.drawing.graphviz_drawing import BLUE, GREEN, ORANGE, PLAIN, Drawing, cell, new_graph, table
from kafka_lite.common.purgatory.delayed_operation import DelayedOperation, DelayedOperationPurgatory
from kafka_lite.common.purgatory.timer import SystemTimer, TimerTask
from kafka_lite.common.purgatory.timing_wheel import TimerTaskList, TimingWheel
from kafka_lite.common.time import MockTime

# -- what is drawn ---------------------------------------------------------------------------------------------------


class NamedTask(TimerTask):
    """A task with a name; it notes in ``ran`` when it runs."""

    def __init__(self, name: str, delay_ms: float, ran: list[str] | None = None) -> None:
        super().__init__(delay_ms)
        self.name = name
        self._ran = ran if ran is not None else []

    def run(self) -> None:
        """Note it."""
        self._ran.append(self.name)

    def __repr__(self) -> str:
        return self.name


class NamedOperation(DelayedOperation):
    """An operation with a name that waits until somebody says ``operation.ready = True``."""

    def __init__(self, name: str, delay_ms: float = 60_000) -> None:
        super().__init__(delay_ms)
        self.name = name
        self.ready = False
        self.history: list[str] = []
        """The events so far: ``tried``, ``completed``, ``expired``."""

    def try_complete(self) -> bool:
        """Complete if it is ready."""
        self.history.append("tried")
        return self.ready and self.force_complete()

    def on_complete(self) -> None:
        """Note it."""
        self.history.append("completed")

    def on_expiration(self) -> None:
        """Note it."""
        self.history.append("expired")

    def __repr__(self) -> str:
        return self.name


# -- wheels ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BucketState:
    """A bucket: its place in the ring, the first and last millisecond of its tick, and when its tasks are due."""

    slot: int
    first_ms: int
    last_ms: int
    due_ms: tuple[int, ...]


@dataclass(frozen=True)
class WheelState:
    """All levels of a wheel at one moment, the finest first; of each the buckets from that of the current tick on."""

    time_ms: int
    levels: tuple[tuple[BucketState, ...], ...]
    armed_ms: tuple[int, ...] = ()
    """When the buckets in the timer's queue expire."""
    ran: tuple[str, ...] = ()


def wheel_state(wheel: TimingWheel, armed: Collection[TimerTaskList] = (), ran: Sequence[str] = ()) -> WheelState:
    """The state of a wheel and of those above it."""
    levels, level = [], wheel._overflow_wheel
    levels.append(_buckets(wheel))
    while level is not None:
        levels.append(_buckets(level))
        level = level._overflow_wheel
    return WheelState(
        wheel.current_time_ms, tuple(levels), tuple(sorted(bucket.expiration_ms for bucket in armed)), tuple(ran)
    )


def _buckets(wheel: TimingWheel) -> tuple[BucketState, ...]:
    first_tick = wheel.current_time_ms // wheel.tick_ms
    buckets = []
    for tick in range(first_tick, first_tick + wheel._wheel_size):
        slot, first_ms = tick % wheel._wheel_size, tick * wheel.tick_ms
        due_ms = tuple(entry.expiration_ms for entry in wheel._buckets[slot]._entries)
        buckets.append(BucketState(slot, first_ms, first_ms + wheel.tick_ms - 1, due_ms))
    return tuple(buckets)


class SteppedTimer:
    """The broker's ``SystemTimer`` over a clock that jumps from one expiring bucket to the next.

    Wheels of four buckets are small enough to be drawn.
    """

    def __init__(self, start_ms: int = 0, wheel_size: int = 4) -> None:
        self.time = MockTime()
        self.time.sleep(start_ms)
        self.timer = SystemTimer(1, wheel_size, self.time)
        self.ran: list[str] = []

    def add(self, due_ms: int) -> NamedTask:
        """Add a task that is due at ``due_ms``, which is its name as well."""
        task = NamedTask(str(due_ms), due_ms - self.time.hi_res_ms(), self.ran)
        self.timer.add(task)
        return task

    def state(self) -> WheelState:
        """The wheel as it is now."""
        return wheel_state(self.timer._wheel, [bucket for _, _, bucket in self.timer._armed], self.ran)

    def step(self) -> bool:
        """Let the clock jump to the next bucket that expires, and the timer do its work; false when there is none."""
        if not self.timer._armed:
            return False
        self.time.sleep(self.timer._armed[0][0] - self.time.hi_res_ms())
        self.timer.advance_clock(0)
        return True

    def steps(self) -> Iterator[WheelState]:
        """The state now and after each step, until nothing is left to wait for."""
        yield self.state()
        while self.step():
            yield self.state()


def draw_wheels(*states: WheelState, follow: int | None = None) -> Drawing:
    """One table for each state. Grey is the bucket of the current tick, green has tasks, orange the one to follow."""
    graph = new_graph()
    for number, state in enumerate(states):
        graph.node(f"state{number}", table(_rows(state, follow)))
        if number:
            graph.edge(f"state{number - 1}", f"state{number}", style="invis")
    graph.attr(ranksep="0.15")
    return Drawing(graph, "; ".join(_in_words(state) for state in states))


def _rows(state: WheelState, follow: int | None) -> list[list[str]]:
    queue = f"queue: {', '.join(map(str, state.armed_ms)) or 'empty'}"
    waiting = f"{queue}   ran: {', '.join(state.ran)}" if state.ran else queue
    rows = [[cell(f"time {state.time_ms}", border=0), cell(waiting, columns=len(state.levels[0]), border=0)]]
    for number, level in enumerate(state.levels, 1):
        tick_ms = level[0].last_ms - level[0].first_ms + 1
        name = cell(f"level {number}, tick {tick_ms}", border=0)
        rows.append([name, *(_cell(bucket, place, follow) for place, bucket in enumerate(level))])
    return rows


def _cell(bucket: BucketState, place: int, follow: int | None) -> str:
    span = str(bucket.first_ms) if bucket.first_ms == bucket.last_ms else f"{bucket.first_ms}–{bucket.last_ms}"
    tasks = " ".join(f"●{due}" for due in bucket.due_ms)
    fill = PLAIN if place == 0 else GREEN if bucket.due_ms else ""
    return cell(f"[{span}]\n{tasks or ' '}", fill=ORANGE if follow in bucket.due_ms else fill)


def _in_words(state: WheelState) -> str:
    found = [
        f"{', '.join(map(str, bucket.due_ms))} in [{bucket.first_ms}-{bucket.last_ms}] of level {number}"
        for number, level in enumerate(state.levels, 1)
        for bucket in level
        if bucket.due_ms
    ]
    return f"time {state.time_ms}: {'; '.join(found) or 'nothing waits'}"


# -- a purgatory -----------------------------------------------------------------------------------------------------


def draw_purgatory(purgatory: DelayedOperationPurgatory[Any]) -> Drawing:
    """Keys with their lists on the left, operations in the middle (grey: completed), the timer on the right."""
    graph = new_graph("LR")
    watchers = purgatory._all_watchers()
    operations: dict[DelayedOperation, str] = {}
    for watching in watchers.values():
        for operation in watching._operations:
            operations.setdefault(operation, f"operation{len(operations)}")
    keys = [[cell("watchers", border=0)]]
    keys += [[cell(f"{key}: {len(watching)}", port=f"k{n}")] for n, (key, watching) in enumerate(watchers.items())]
    graph.node("keys", table(keys))
    for operation, node in operations.items():
        done = operation.is_completed
        text = f"{operation}\ncompleted" if done else str(operation)
        graph.node(node, table([[cell(text, fill=PLAIN if done else BLUE)]]))
    for n, watching in enumerate(watchers.values()):
        for operation in watching._operations:
            graph.edge(f"keys:k{n}:e", operations[operation])
    _draw_timer(graph, purgatory, operations)
    return Drawing(graph, _purgatory_in_words(watchers, purgatory.delayed))


def _draw_timer(graph: Any, purgatory: Any, operations: dict[DelayedOperation, str]) -> None:
    waiting = [(operation, node) for operation, node in operations.items() if not operation.is_completed]
    rows = [[cell(f"timer: {purgatory.delayed}", border=0)]]
    for n, (operation, _) in enumerate(waiting):
        entry = operation._entry
        if entry is not None:
            rows.append([cell(f"due {entry.expiration_ms}", fill=GREEN, port=f"t{n}")])
    graph.node("timer", table(rows))
    for n, (operation, node) in enumerate(waiting):
        if operation._entry is not None:
            graph.edge(node, f"timer:t{n}:w", dir="back", style="dashed")


def _purgatory_in_words(watchers: dict[Hashable, Any], delayed: int) -> str:
    lists = [f"{key} watches {', '.join(map(str, watching._operations))}" for key, watching in watchers.items()]
    return "; ".join([*(lists or ["no watchers"]), f"the timer holds {delayed}"])


# -- the figures of the chapter's pages ------------------------------------------------------------------------------


def wheels_figure(language: str) -> str:
    """Three levels at the time 9 with three tasks, as in the docstring of ``TimingWheel``."""
    stepped = SteppedTimer(start_ms=9)
    for due_ms in (10, 14, 41):
        stepped.add(due_ms)
    return draw_wheels(stepped.state()).svg(language)


def way_down_figure(language: str) -> str:
    """The task that is due at 41, until it runs."""
    stepped = SteppedTimer(start_ms=9)
    stepped.add(41)
    return draw_wheels(*stepped.steps(), follow=41).svg(language)


Act = Callable[[DelayedOperationPurgatory[NamedOperation], list[NamedOperation]], object]


def _purgatory_figure(language: str, act: Act) -> str:
    """Three operations that wait for t-0, for both partitions, for t-1; then something happens."""
    purgatory: DelayedOperationPurgatory[NamedOperation] = DelayedOperationPurgatory(
        "demo", reaper_enabled=False, time=MockTime()
    )
    operations = [NamedOperation("fetch A", 500), NamedOperation("fetch B", 300), NamedOperation("fetch C", 800)]
    for operation, keys in zip(operations, (["t-0"], ["t-0", "t-1"], ["t-1"]), strict=True):
        purgatory.try_complete_else_watch(operation, keys)
    act(purgatory, operations)
    return draw_purgatory(purgatory).svg(language)


def purgatory_figure(language: str) -> str:
    """Three operations that wait for two partitions."""
    return _purgatory_figure(language, lambda _purgatory, _operations: None)


def left_behind_figure(language: str) -> str:
    """The same after an event of t-0 has completed the operation that waits for both."""

    def act(purgatory: DelayedOperationPurgatory[NamedOperation], operations: list[NamedOperation]) -> None:
        operations[1].ready = True
        purgatory.check_and_complete("t-0")

    return _purgatory_figure(language, act)
