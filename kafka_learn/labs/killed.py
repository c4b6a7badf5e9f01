"""Runs a learner's function in a child process that is killed before one of its steps on disk.

CPython reports each such step to audit hooks: a rename, a removal, a file that is opened for writing. So the judge can
stop an answer between any two of them, however it is written. A file that is being opened has a second moment: when it
exists and nothing is written yet.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn

STEP = "kafka_learn.step"
"""The audit event by which a test's own stand-ins report a step: ``sys.audit(STEP, "what happens")``."""

WORDS = {
    "os.rename": "the rename of",
    "os.remove": "the removal of",
    "os.rmdir": "the removal of",
    "os.mkdir": "the creation of",
    "os.link": "the link to",
    "os.symlink": "the link to",
    "os.truncate": "the truncation of",
    "open": "the writing of",
    STEP: "",
}
LIMIT_S = 20
_DONE, _FAILED, _KILLED = 0, 3, 9


@dataclass(frozen=True)
class Outcome:
    """How a child ended: ``step`` names the step before or in which it was killed, ``error`` what it raised."""

    step: str = ""
    error: str = ""


def killed_at_every_step(function: Callable[[], object]) -> Iterator[Outcome]:
    """Run the function in one child after the other, each killed a step later; ends with the one that is not killed.

    The caller looks at the disk, and restores it, between two of them.
    """
    number = 1
    while True:
        outcome = in_child(function, number)
        yield outcome
        if not outcome.step:
            return
        if outcome.step.startswith(WORDS["open"]):
            yield in_child(function, number, half_way=True)
        number += 1


def in_child(function: Callable[[], object], kill_at: int = 0, *, half_way: bool = False) -> Outcome:
    """Run the function in a child, which is killed before its step ``kill_at``, counted from 1; 0 is never.

    ``half_way``: not before a file is opened for writing, but when it is open and empty.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _run(function, writing, kill_at, half_way)
    os.close(writing)
    with os.fdopen(reading, "rb") as words:
        text = words.read().decode("utf-8", errors="replace")
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return (
        Outcome(step=text) if code == _KILLED else Outcome(error="" if code == _DONE else text or f"exit code {code}")
    )


def _run(function: Callable[[], object], words: int, kill_at: int, half_way: bool) -> NoReturn:
    """The child: never returns, and runs no handlers of its parent."""
    sys.addaudithook(_Killer(words, kill_at, half_way).see)
    signal.signal(signal.SIGALRM, _too_slow)
    signal.setitimer(signal.ITIMER_REAL, LIMIT_S)
    try:
        function()
    except BaseException as error:  # noqa: BLE001 - the parent shows it
        os.write(words, f"{type(error).__name__}: {error}".encode())
        os._exit(_FAILED)
    os._exit(_DONE)


def _too_slow(_signal: int, frame: FrameType | None) -> None:
    where = "" if frame is None else f", in line {frame.f_lineno} of {frame.f_code.co_qualname}"
    raise TimeoutError(f"still running after {LIMIT_S} s{where}: does that loop make progress?")


class _Killer:
    """An audit hook that counts steps on disk and ends the process at one of them."""

    def __init__(self, words: int, kill_at: int, half_way: bool) -> None:
        self._words = words
        self._left = kill_at
        self._half_way = half_way
        self._is_dying = False

    def see(self, event: str, arguments: tuple[object, ...]) -> None:
        """Count an event that changes something on disk."""
        if self._is_dying or event not in WORDS or (event == "open" and not _writes(arguments)):
            return
        self._left -= 1
        if self._left == 0:
            self._die(event, arguments)

    def _die(self, event: str, arguments: tuple[object, ...]) -> None:
        self._is_dying = True
        path = arguments[0]
        name = path if event == STEP else Path(os.fsdecode(path)).name if isinstance(path, str | bytes) else path
        step = f"{WORDS[event]} {name}".strip()
        if self._half_way and event == "open" and isinstance(path, str | bytes):
            os.close(os.open(path, int(str(arguments[2])) | os.O_CREAT))
            step = f"the first byte of {name}, which is open"
        os.write(self._words, step.encode())
        os._exit(_KILLED)


def _writes(arguments: tuple[object, ...]) -> bool:
    flags = arguments[2]
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR)) and isinstance(arguments[0], str | bytes)
