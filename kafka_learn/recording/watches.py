"""Watches for any code: calls, queues, states. ``broker_watches`` adds files and the wire.

Each function here returns watches for ``Recording(...)``. Pass only those that the figure needs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from kafka_learn.recording.recorded_run import Detail, Kind
from kafka_learn.recording.recorder import OWN_ARGUMENTS, Call, Watch
from kafka_learn.recording.summaries import class_name, summary

Function = Callable[..., Any]
Pick = str | Callable[[Call], Any]
"""Selects an object of a call: a parameter name, ``"result"``, or a function of the call."""


# ── calls ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def watch(
    *functions: Function,
    show: Iterable[str] | Callable[[Call], Detail] | None = None,
    who: str | Callable[[Call], str] | None = None,
) -> list[Watch]:
    """Watch calls of methods (``Log.append_as_leader``) or of a module's functions, and their ends.

    ``show`` names the parameters to keep (default: all that have a short ``summary``), or is a function that returns
    the detail for a call. ``who`` is the lane, or a function that returns it for a call; the default is the object's
    class.
    """
    shown = show if show is None or callable(show) else tuple(show)
    return [_watch_call(function, shown, who) for function in functions]


def _watch_call(
    function: Function,
    show: tuple[str, ...] | Callable[[Call], Detail] | None,
    who: str | Callable[[Call], str] | None,
) -> Watch:
    name = function.__name__
    owner = function.__qualname__.rpartition(".")[0] or function.__module__.rpartition(".")[2]

    def lane(call: Call) -> str:
        if callable(who):
            return who(call)
        return who or (class_name(call.subject) if call.is_method else owner)

    def before(call: Call) -> None:
        call.number = call.recording.new_number()
        detail = show(call) if callable(show) else _arguments(call, show)
        call.emit(Kind.CALL, lane(call), name, detail, number=call.number)
        call.recording.begin_call(call.number)

    def after(call: Call) -> None:
        if call.number:
            call.recording.end_call()
            call.emit(Kind.RETURN, lane(call), name, _outcome(call), number=call.number)

    return Watch.of(function, before, after)


def _arguments(call: Call, show: tuple[str, ...] | None) -> Detail:
    named = ((name, value) for name, value in call.arguments.items() if name not in OWN_ARGUMENTS)
    summaries = {name: summary(value) for name, value in named if show is None or name in show}
    return {name: value for name, value in summaries.items() if value is not None}


def _outcome(call: Call) -> Detail:
    if call.error is not None:
        return {"error": type(call.error).__name__}
    if call.result is None:
        return {}
    short = summary(call.result)
    return {"result": class_name(call.result) if short is None else short}


# ── queues ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def watch_queue(
    name: str,
    put: Function,
    take: Function,
    *,
    put_item: Pick | None = None,
    take_item: Pick = "result",
    lane: str | None = None,
    key: Callable[[Any], Hashable] = id,
) -> list[Watch]:
    """Watch items that one thread puts and another takes: which threads, when, and how long the items waited.

    ``put_item`` and ``take_item`` return the item: by default the first argument of ``put`` and the result of ``take``
    (None means no item, a list means all its items). The same object, or an equal ``key``, at both ends makes a
    hand-over. The queue is drawn as a lane named ``lane``, by default after the class of ``put``.
    """
    things = Things(key)
    first = list(inspect.signature(put).parameters)[1]
    queue_lane = lane or put.__qualname__.rpartition(".")[0]
    putting = _Passage(Kind.PUT, queue_lane, name, put_item or first, things)
    taking = _Passage(Kind.TAKE, queue_lane, name, take_item, things)
    return [putting.watch(put), taking.watch(take)]


class Things:
    """The numbers of items in transit. It keeps the items, so that their ids are not reused."""

    def __init__(self, key: Callable[[Any], Hashable]) -> None:
        self._key = key
        self._on_their_way: dict[Hashable, tuple[int, Any]] = {}

    def put(self, thing: Any, call: Call) -> int:
        """A new number; 0 if the item is in transit already."""
        key = self._key(thing)
        if key in self._on_their_way:
            return 0
        number = call.recording.new_number()
        self._on_their_way[key] = (number, thing)
        return number

    def take(self, thing: Any) -> int:
        """The item's number; 0 if it was put before the recording began."""
        return self._on_their_way.pop(self._key(thing), (0, None))[0]


class _Passage:
    """One end of a queue."""

    def __init__(self, kind: Kind, lane: str, name: str, pick: Pick, things: Things) -> None:
        self._kind = kind
        self._lane = lane
        self._name = name
        self._pick = pick
        self._things = things

    def watch(self, function: Function) -> Watch:
        """A watch that acts before the call if the item is an argument, after it if it is the result."""
        if self._pick == "result":
            return Watch.of(function, after=self._pass)
        return Watch.of(function, before=self._pass)

    def _pass(self, call: Call) -> None:
        picked = _picked(call, self._pick)
        for thing in picked if isinstance(picked, list) else [picked]:
            if thing is not None:
                self._pass_one(thing, call)

    def _pass_one(self, thing: Any, call: Call) -> None:
        number = self._things.put(thing, call) if self._kind is Kind.PUT else self._things.take(thing)
        if number:
            short = summary(thing)
            call.emit(self._kind, self._lane, self._name, {"thing": short or class_name(thing)}, number=number)


def _picked(call: Call, pick: Pick) -> Any:
    if callable(pick):
        return pick(call)
    return call.result if pick == "result" else call.argument(pick)


# ── states ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def watch_states(owner: type, attribute: str = "state") -> list[Watch]:
    """Watch every change of an attribute of a class's objects."""

    def before(call: Call) -> None:
        if call.argument("name") == attribute:
            call.scratch = getattr(call.subject, attribute, None)
            call.hold_place()  # others may see the new state before this thread continues

    def after(call: Call) -> None:
        if call.argument("name") == attribute and call.error is None:
            _emit_change(call, class_name(call.subject), attribute, call.scratch, getattr(call.subject, attribute))

    return [Watch(owner, "__setattr__", before, after)]


def watch_state_machine(
    change: Function, subject: str, state: Callable[[Any, Any], Any], *, who: str | None = None
) -> list[Watch]:
    """Watch a state machine that keeps the states of many objects and changes them in one method::

        watch_state_machine(ReplicaStateMachine._handle_state_change, "replica", ReplicaStateMachine.state)

    ``state(machine, object)`` is called before and after; ``subject`` is the parameter of ``change`` with the object.
    """

    def before(call: Call) -> None:
        call.scratch = state(call.subject, call.argument(subject))
        call.hold_place()

    def after(call: Call) -> None:
        thing = call.argument(subject)
        _emit_change(call, who or class_name(call.subject), str(thing), call.scratch, state(call.subject, thing))

    return [Watch.of(change, before, after)]


def _emit_change(call: Call, who: str, what: str, before: Any, after: Any) -> None:
    if before != after:
        call.emit(Kind.STATE, who, what, {"before": summary(before), "after": summary(after)})
