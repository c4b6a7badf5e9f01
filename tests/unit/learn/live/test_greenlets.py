"""Greenlets over a switcher do what the package ``greenlet`` does. Here the switcher's stacks are threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import greenlet as package
import pytest

from kafka_learn.live.greenlets import provider
from tests.support.patience import patient_s


class ThreadSwitcher:
    """A stack is a thread; the others wait."""

    def __init__(self) -> None:
        self._resumed: dict[int, threading.Semaphore] = {}

    def begin(self, me: int, body: Callable[[], None]) -> None:
        threading.Thread(target=body, daemon=True).start()
        self._wait(me)

    def swap(self, me: int, target: int) -> None:
        self.leave(target)
        self._wait(me)

    def leave(self, target: int) -> None:
        self._of(target).release()

    def _wait(self, me: int) -> None:
        assert self._of(me).acquire(timeout=patient_s(20)), "never resumed"

    def _of(self, number: int) -> threading.Semaphore:
        return self._resumed.setdefault(number, threading.Semaphore(0))


Kind = Any
Log = list[object]


def ping_pong(greenlet: Kind, getcurrent: Callable[[], Any], log: Log) -> None:
    main = getcurrent()

    def run(*args: object) -> str:
        log.append(("begins with", args))
        log.append(("main says", main.switch("one", "two")))
        log.append(("main says", main.switch()))
        return "the end"

    other = greenlet(run)
    log.append(bool(other))
    log.append(("other says", other.switch(1, 2)))
    log.append(bool(other))
    log.append(("other says", other.switch("three")))
    log.append(("other says", other.switch()))
    log.append((bool(other), other.dead))
    log.append(("a dead one is its parent", other.switch("myself")))


def errors_reach_the_parent(greenlet: Kind, getcurrent: Callable[[], Any], log: Log) -> None:
    def inner() -> None:
        raise KeyError("inner")

    def outer() -> None:
        try:
            greenlet(inner).switch()
        except KeyError as error:
            log.append(repr(error))
        raise ValueError("outer")

    try:
        greenlet(outer).switch()
    except ValueError as error:
        log.append(repr(error))
    log.append(bool(getcurrent()))


def a_chain_of_parents(greenlet: Kind, getcurrent: Callable[[], Any], log: Log) -> None:
    main = getcurrent()
    first = greenlet(lambda: log.append("first") or main.switch("from first") or "first ends", parent=main)
    second = greenlet(lambda: first.switch(), parent=first)
    log.append(second.switch())
    log.append(first.switch(None))
    log.append((first.dead, second.dead))
    log.append(second.switch("second had been waiting for first"))
    log.append(second.dead)


def a_scheduler(greenlet: Kind, getcurrent: Callable[[], Any], log: Log) -> None:
    """As the simulator uses them: a hub, and tasks that switch to it when they block."""
    hub = getcurrent()

    def task(name: str, turns: int) -> None:
        for turn in range(turns):
            log.append((name, turn, getcurrent() is tasks[name]))
            hub.switch()

    tasks = {name: greenlet(lambda name=name, turns=turns: task(name, turns), parent=hub) for name, turns in TASKS}
    while alive := [name for name in tasks if not tasks[name].dead]:
        for name in alive:
            tasks[name].switch()


def the_frame_in_which_one_waits(greenlet: Kind, getcurrent: Callable[[], Any], log: Log) -> None:
    main = getcurrent()

    def waits() -> None:
        main.switch()

    def run() -> None:
        log.append(other.gr_frame is None)
        waits()

    other = greenlet(run)
    log.append(other.gr_frame is None)
    other.switch()
    names = []
    frame = other.gr_frame
    while frame is not None:
        if frame.f_code.co_filename == __file__:
            names.append(frame.f_code.co_name)
        frame = frame.f_back
    log.append(names[:2])
    other.switch()
    log.append(other.gr_frame is None)


TASKS = [("a", 3), ("b", 1), ("c", 2)]
PLAYS = [ping_pong, errors_reach_the_parent, a_chain_of_parents, a_scheduler, the_frame_in_which_one_waits]


@pytest.mark.parametrize("play", PLAYS)
def test_they_do_what_greenlets_of_the_package_do(play: Callable[[Kind, Callable[[], Any], Log], None]) -> None:
    kind = provider(ThreadSwitcher())
    ours: Log = []
    theirs: Log = []
    play(package.greenlet, package.getcurrent, theirs)
    play(kind, lambda: kind.current, ours)
    assert ours == theirs
    assert len(ours) >= 3


def test_a_switch_to_itself_returns_its_value() -> None:
    kind = provider(ThreadSwitcher())
    assert kind.current.switch("mine") == "mine"


def test_two_providers_have_nothing_in_common() -> None:
    first, second = provider(ThreadSwitcher()), provider(ThreadSwitcher())
    assert first.current is not second.current
    assert first(lambda: "one").switch() == "one"
    assert second(lambda: "two").switch() == "two"
