"""Records what running code does, without changing its source.

Inside the ``with`` block, the methods named by the watches are wrapped on their classes; afterwards they are
restored::

    from kafka_learn.recording.recorder import Recording
    from kafka_learn.recording.watches import watch, watch_files
    from kafka_lite.log.log import Log
    from kafka_lite.log.log_segment import LogSegment

    with Recording(watch(Log.append_as_leader, LogSegment.append), watch_files()) as recording:
        ...  # anything that appends, in any thread
    recording.run.save(Path("append.jsonl"))
    sequence_diagram(recording.run)

Objects created inside the block are always recorded. An object created earlier may have stored an unwrapped method
(a callback, a table of handlers). So start the broker inside, with ``paused``, and record what matters with
``running``::

    with Recording(*BROKER, paused=True) as recording:
        ...  # start a broker, create a topic: nothing is recorded
        with recording.running():
            ...  # the scene
"""

from __future__ import annotations

import functools
import importlib
import inspect
import itertools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import PurePath
from types import FrameType, FunctionType, ModuleType, TracebackType
from typing import Any, Self

from kafka_learn.project import PROJECT_ROOT
from kafka_learn.recording.recorded_run import Detail, Event, Kind, RecordedRun, matches
from kafka_lite.common.kafka_thread import KafkaThread

_POLL_S = 0.002
DEFAULT_TIMEOUT_MS = 60_000
OWN_ARGUMENTS = ("self", "cls")
_SOURCE = f"{PROJECT_ROOT / 'kafka_lite'}{os.sep}"


class RecordingError(Exception):
    """Something cannot be watched, or a watch failed. The recorded code was not affected."""


class Call:
    """One call of a watched function, as one watch sees it."""

    __slots__ = ("_args", "_kwargs", "_names", "_place", "error", "number", "recording", "result", "scratch", "watch")

    def __init__(
        self, recording: Recording, watch: Watch, names: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.recording = recording
        self.watch = watch
        self._names = names
        self._args = args
        self._kwargs = kwargs
        self._place: Place | None = None
        self.number = 0
        self.result: Any = None
        self.error: BaseException | None = None
        self.scratch: Any = None
        """State that the watch's ``before`` saves for its ``after``."""

    @property
    def subject(self) -> Any:
        """The object on which the method is called (the first argument)."""
        return self._args[0] if self._args else None

    @property
    def is_method(self) -> bool:
        """Whether it is called on an object, not on a class or as a plain function."""
        return bool(self._names) and self._names[0] == OWN_ARGUMENTS[0]

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments by parameter name, including ``self``."""
        return dict(zip(self._names, self._args, strict=False)) | self._kwargs

    def argument(self, name: str) -> Any:
        """One argument; None if it was not passed."""
        return self.arguments.get(name)

    @property
    def actor(self) -> str:
        """The lane of the innermost recorded call of this thread, else the lane of the thread itself."""
        return actor_of(threading.current_thread())

    def emit(
        self, kind: Kind, who: str, what: str, detail: Detail | None = None, *, number: int = 0, where: str = ""
    ) -> None:
        """Record an event of the calling thread, now or in the place held for it."""
        self.recording.emit(kind, who, what, detail, number=number, where=where, place=self._place)
        self._place = None

    def hold_place(self) -> None:
        """Reserve a place in the order for the next event of this call.

        For an event whose effects are visible before its details are known: bytes may be received before this thread
        can record how many it sent.
        """
        self._place = self.recording.hold_place()


class Place:
    """A place in the order of events; empty until its event is set."""

    __slots__ = ("event", "time_ns")

    def __init__(self, time_ns: int) -> None:
        self.time_ns = time_ns
        self.event: Event | None = None


Hook = Callable[[Call], None]


@dataclass(frozen=True)
class Watch:
    """Hooks to run before and after each call of ``owner.name``.

    With ``before``, ``after`` sees the calls that ``before`` saw. Without it, ``after`` sees every call that ends
    while the recording is running, including calls that began earlier.
    """

    owner: type | ModuleType
    name: str
    before: Hook | None = None
    after: Hook | None = None

    @classmethod
    def of(cls, function: Callable[..., Any], before: Hook | None = None, after: Hook | None = None) -> Watch:
        """A watch for a method, given as ``Class.method``, or for a module's function. Raises RecordingError."""
        function = inspect.unwrap(getattr(function, "__func__", function))
        module, path = importlib.import_module(function.__module__), function.__qualname__.split(".")
        if "<locals>" in path:
            raise RecordingError(f"{function.__qualname__} is created at each call: watch its caller")
        owner: Any = functools.reduce(getattr, path[:-1], module)
        return cls(owner, path[-1], before, after)


class Recording:
    """A running or finished recording; see the module's docstring."""

    def __init__(
        self,
        *watches: Watch | Iterable[Watch],
        title: str = "",
        paused: bool = False,
        clock_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._watches = [one for given in watches for one in ([given] if isinstance(given, Watch) else given)]
        self._title = title
        self._clock_ns = clock_ns
        self._active = not paused
        self._installed: list[tuple[type | ModuleType, str, Any]] = []
        self._places: list[Place] = []
        self._actors: dict[str, str] = {}
        self._numbers = itertools.count(1)
        self._local = threading.local()
        self._problems: list[str] = []

    # ── start and stop
    # ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

    def __enter__(self) -> Self:
        try:
            for (owner, name), watches in self._by_target().items():
                self._install(owner, name, watches)
        except BaseException:
            self._uninstall()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._active = False
        self._uninstall()
        if self._problems and error is None:
            raise RecordingError("; ".join(dict.fromkeys(self._problems)))

    def pause(self) -> None:
        """Record nothing until ``resume``. The ends of calls that have begun are still recorded."""
        self._active = False

    def resume(self) -> None:
        """Continue recording."""
        self._active = True

    @contextmanager
    def running(self) -> Iterator[None]:
        """Record inside this block only."""
        self.resume()
        try:
            yield
        finally:
            self.pause()

    def wait_for(self, name: str, count: int = 1, timeout_ms: float = DEFAULT_TIMEOUT_MS) -> None:
        """Wait until ``count`` events match ``name`` (see ``matches``) and all calls have ended. Raises TimeoutError.

        For work of other threads that continues after the recording thread has its result.
        """
        deadline = time.monotonic() + timeout_ms / 1000
        while not self._has_happened(name, count):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{name} did not happen {count} times within {timeout_ms:g} ms")
            time.sleep(_POLL_S)

    def _has_happened(self, name: str, count: int) -> bool:
        events = self._events
        begun = sum(event.kind is Kind.CALL for event in events)
        ended = sum(event.kind is Kind.RETURN for event in events)
        return begun == ended and sum(matches(event, name) for event in events) >= count

    # ── events ────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def run(self) -> RecordedRun:
        """Everything recorded so far; time begins with the first event."""
        events = self._events
        start_ns = events[0].time_ns if events else 0
        shifted = tuple(replace(event, time_ns=event.time_ns - start_ns) for event in events)
        return RecordedRun(shifted, self._title, actors=dict(self._actors))

    @property
    def _events(self) -> list[Event]:
        return [place.event for place in tuple(self._places) if place.event is not None]

    def note(self, text: str, **detail: Any) -> None:
        """Record a remark of the calling thread."""
        if self._active:
            self.emit(Kind.NOTE, actor_of(threading.current_thread()), text, detail)

    def emit(
        self,
        kind: Kind,
        who: str,
        what: str,
        detail: Detail | None = None,
        *,
        number: int = 0,
        where: str = "",
        place: Place | None = None,
    ) -> None:
        """Record an event of the calling thread within its current call; in its ``place`` if one was held."""
        thread = threading.current_thread()
        if thread.name not in self._actors:
            self._actors[thread.name] = actor_of(thread)
        parent = self._stack[-1] if self._stack else 0
        place = place or self.hold_place()
        source = running_line() if kind is not Kind.RETURN else ""
        place.event = Event(place.time_ns, thread.name, kind, who, what, number, parent, where, detail or {}, source)

    def hold_place(self) -> Place:
        """The next place in the order of events.

        ``list.append`` is atomic, so the order is causal if a cause gets its place before it takes effect.
        """
        place = Place(self._clock_ns())
        self._places.append(place)
        return place

    def new_number(self) -> int:
        """A new number for a call or an item."""
        return next(self._numbers)

    def begin_call(self, number: int) -> None:
        """Note that the calling thread has entered this call."""
        self._stack.append(number)

    def end_call(self) -> None:
        """Note that the calling thread has left its innermost call."""
        self._stack.pop()

    @property
    def _stack(self) -> list[int]:
        stack: list[int] | None = getattr(self._local, "stack", None)
        if stack is None:
            stack = self._local.stack = []
        return stack

    # ── wrapping
    # ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _by_target(self) -> dict[tuple[type | ModuleType, str], list[Watch]]:
        targets: dict[tuple[type | ModuleType, str], list[Watch]] = {}
        for one in self._watches:
            targets.setdefault((one.owner, one.name), []).append(one)
        return targets

    def _install(self, owner: type | ModuleType, name: str, watches: list[Watch]) -> None:
        """Replace a method by its wrapper; a function is replaced in every module that has imported it."""
        original = getattr(owner, name)
        if isinstance(owner, type):
            places: list[type | ModuleType] = [owner]
            kept = vars(owner).get(name, original)
        else:
            modules = dict.fromkeys([*_loaded_modules(), owner])
            places = [module for module in modules if vars(module).get(name) is original]
            kept = original
        function = kept.__func__ if isinstance(kept, staticmethod | classmethod) else kept
        wrapper: Any = self._wrapper(function, watches)
        if isinstance(kept, staticmethod | classmethod):
            wrapper = type(kept)(wrapper)
        for place in places:
            before = vars(place).get(name, _ABSENT)
            try:
                setattr(place, name, wrapper)
            except TypeError as error:
                raise RecordingError(f"{place.__name__}.{name} is compiled and cannot be watched") from error
            self._installed.append((place, name, before))

    def _uninstall(self) -> None:
        while self._installed:
            place, name, before = self._installed.pop()
            if before is _ABSENT:
                delattr(place, name)
            else:
                setattr(place, name, before)

    def _wrapper(self, function: Callable[..., Any], watches: list[Watch]) -> Callable[..., Any]:
        names = _parameter_names(function)
        any_sees_ends = any(watch.before is None for watch in watches)

        @functools.wraps(function)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            begun = self._active
            if not begun and not any_sees_ends:
                return function(*args, **kwargs)
            calls = [Call(self, watch, names, args, kwargs) for watch in watches]
            if begun:
                for call in calls:
                    self._run_hook(call.watch.before, call)
            result, failure = None, None
            try:
                result = function(*args, **kwargs)
            except BaseException as error:
                failure = error
                raise
            finally:
                for call in reversed(calls):
                    if begun or (self._active and call.watch.before is None):
                        call.result, call.error = result, failure
                        self._run_hook(call.watch.after, call)
            return result

        return recorded

    def _run_hook(self, hook: Hook | None, call: Call) -> None:
        """A failing watch must not disturb the recorded code. Its error is raised at the end."""
        if hook is None:
            return
        try:
            hook(call)
        except Exception as error:  # noqa: BLE001  (raised when the recording ends)
            self._problems.append(f"a watch failed: {error!r}")


_ABSENT = object()
_packages_to_walk: set[str] = {"kafka_lite", "kafka_learn"}


def walk_package(name: str) -> None:
    """Look for watched functions in this top-level package, too, although its modules are not in ``sys.modules``.

    For a simulated process, whose copies of modules are only found from their packages.
    """
    _packages_to_walk.add(name)


def _loaded_modules() -> Iterator[ModuleType]:
    """The modules that may have imported a watched function."""
    loaded: list[object] = list(sys.modules.values())  # anything may stand there, None too
    yield from (module for module in loaded if isinstance(module, ModuleType))
    for package in sorted(_packages_to_walk):
        yield from _submodules(importlib.import_module(package))


def _submodules(package: ModuleType) -> Iterator[ModuleType]:
    for value in list(vars(package).values()):
        if isinstance(value, ModuleType) and value.__name__.rpartition(".")[0] == package.__name__:
            yield value
            yield from _submodules(value)


def _parameter_names(function: Callable[..., Any]) -> tuple[str, ...]:
    if isinstance(function, FunctionType):
        return function.__code__.co_varnames[: function.__code__.co_argcount]
    try:
        return tuple(inspect.signature(function).parameters)
    except ValueError:  # C functions without a signature
        return ()


def running_line() -> str:
    """The innermost line of kafka_lite that the calling thread executes, ``path:line``; empty if there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not frame.f_code.co_filename.startswith(_SOURCE):
        frame = frame.f_back
    if frame is None:
        return ""
    path = PurePath(frame.f_code.co_filename).relative_to(PROJECT_ROOT).as_posix()
    return f"{path}:{frame.f_lineno}"


def actor_of(thread: threading.Thread) -> str:
    """The lane of a thread: for a broker's thread its class or its runnable's class, else the thread's name."""
    kind = type(thread.runnable) if isinstance(thread, KafkaThread) else type(thread)
    if kind.__module__ == "threading":
        return "main" if thread is threading.main_thread() else thread.name
    return kind.__name__
