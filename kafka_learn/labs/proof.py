"""The outcome of a check, as the grader's own process computes it.

The code under test runs in the process of its tests, which could be made to say anything. So that process only reports
what happens, step by step, through a pipe, each line signed with a key that it gets before it loads that code, and the
grader's process keeps the first outcome of each test. ``Listener`` is its side::

    grader   ── key ──▶   child: reads the key, seals what decides a test, loads the code, runs the tests
             ◀─ lines ─   a test that runs, its outcome; "refused" if a part of the seal was replaced

A line that is not signed, a test that reports twice, tests that are missing and a broken seal end in a failure that
says so. It is proof against tricks, not against code that reads the memory of its process: that takes a sandbox.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hmac
import json
import os
import secrets
import select
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

KEY, REPORT = "key", "report"
_KEY_BYTES: Final = 32
_POLL_S: Final = 0.2
SEALED: Final = (
    *("kafka_learn.labs.pytest_plugin", "kafka_learn.labs.proof", "kafka_learn.labs.locks", "kafka_learn.labs.raising"),
    *(
        "_pytest.runner",
        "_pytest.python",
        "_pytest.reports",
        "_pytest.outcomes",
        "_pytest.raises",
        "pytest",
        "builtins",
    ),
    *("pluggy._hooks", "pluggy._callers", "pluggy._manager", "pluggy._result"),
)
"""The modules that decide whether a test has passed."""
_PACKAGES: Final = ("_pytest.", "kafka_learn.labs.")
_OFTEN_REPLACED: Final = {"open", "print", "input", "__import__", "breakpoint"}
HOOKS: Final = (
    *("pytest_runtest_protocol", "pytest_runtest_call", "pytest_runtest_makereport"),
    *("pytest_pyfunc_call", "pytest_fixture_setup"),
)
"""The hooks that decide whether a test has passed: only pytest and this package may have some."""


def _signature(key: bytes, previous: bytes, text: bytes) -> bytes:
    return hmac.digest(key, previous + text, "sha256")


# ── the grader's side ─────────────────────────────────────────────────────────────────────────────────────────────────


class Listener:
    """Collects what a check reports; ``rows`` has one for each test, ``refusal`` the reason not to believe them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows: dict[str, dict[str, Any]] = {}
        self.refusal = ""
        self._key = secrets.token_bytes(_KEY_BYTES)
        self._last = b""
        self._rest = b""
        self._stopped = threading.Event()

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Within the block a check may run. Afterwards, ``rows`` and ``refusal`` are complete."""
        for name in (KEY, REPORT):
            os.mkfifo(self.folder / name, 0o600)
        offer = os.open(self.folder / KEY, os.O_RDWR)  # does not wait for the reader
        report = os.open(self.folder / REPORT, os.O_RDONLY | os.O_NONBLOCK)
        os.write(offer, self._key)
        listening = threading.Thread(target=self._listen, args=(report,), daemon=True)
        listening.start()
        try:
            yield
        finally:
            self._stopped.set()
            listening.join()
            os.close(offer)
            os.close(report)

    def _listen(self, report: int) -> None:
        while not self._stopped.is_set():
            select.select([report], [], [], _POLL_S)
            if not self._read(report):
                self._stopped.wait(0.005)  # not opened yet, or at its end
        while self._read(report):
            pass

    def _read(self, report: int) -> bool:
        """Take what is there; false if there is nothing."""
        try:
            read = os.read(report, 1 << 16)
        except BlockingIOError:
            return False
        *lines, self._rest = (self._rest + read).split(b"\n")
        for line in lines:
            if not self.refusal:
                self.refusal = self._take(line)
        return bool(read)

    def _take(self, line: bytes) -> str:
        """Take a line; returns why it is refused."""
        signature, _, text = line.partition(b" ")
        expected = _signature(self._key, self._last, text)
        if not hmac.compare_digest(signature, expected.hex().encode()):
            return "a line of the report was not written by the grader: an outcome cannot be written by hand"
        self._last = expected
        message = json.loads(text)
        if "refused" in message:
            return str(message["refused"])
        name, row = message["test"], message["row"]
        before = self.rows.get(name)
        if before is not None and not (before["running"] or before["skipped"]):
            return f"the test {name} has reported twice: its first outcome counts"
        self.rows[name] = row
        return ""


def missing_tests(tests: Path, reported: Collection[str]) -> list[str]:
    """The test functions in a lab's files of which no outcome was reported."""
    names = {name.rpartition("::")[2].partition("[")[0] for name in reported}
    return [name for file in sorted(tests.glob("test_*.py")) for name in _test_functions(file) if name not in names]


def _test_functions(file: Path) -> list[str]:
    nodes = ast.parse(file.read_text(encoding="utf-8")).body
    return [node.name for node in nodes if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]


# ── the side of the process in which the tests run ────────────────────────────────────────────────────────────────────


class Reporter:
    """Signs what happens, and first looks whether the seal is whole. Made before the code under test is loaded."""

    def __init__(self, folder: Path, own_files: Iterable[Path] = ()) -> None:
        with (folder / KEY).open("rb", buffering=0) as offered:
            key = offered.read(_KEY_BYTES)
        (folder / KEY).unlink()
        self.seal = Seal(own_files)
        self._send = _signing(key, os.open(folder / REPORT, os.O_WRONLY))

    def report(self, test: str, row: dict[str, Any], functions: Iterable[Any] = ()) -> None:
        """Report the state of a test; ``functions`` are those that have decided it."""
        if broken := self.seal.broken(functions):
            self._send(
                {"refused": f"{broken} was replaced while your code ran: the outcome of a test is not yours to say"}
            )
        else:
            self._send({"test": test, "row": row})


def _signing(key: bytes, pipe: int) -> Callable[[dict[str, Any]], None]:
    """``send(message)``, which holds all it needs: names that are replaced later make no difference."""
    last = b""
    write, sign, dumps, lock = os.write, _signature, json.dumps, threading.Lock()

    def send(message: dict[str, Any]) -> None:
        nonlocal last
        with lock:
            text = dumps(message, ensure_ascii=False).encode()
            last = sign(key, last, text)
            left = last.hex().encode() + b" " + text + b"\n"
            while left:
                left = left[write(pipe, left) :]

    return send


class Seal:
    """The functions that decide whether a test has passed, as they were before the code under test was loaded."""

    def __init__(self, own_files: Iterable[Path] = ()) -> None:
        self._own = {str(file.resolve()) for file in own_files}
        self._modules = [module for name in SEALED if (module := sys.modules.get(name))]
        self._values = [(place, get, *_identity(get())) for place, get in self._places()]
        self._trusted = {function: function.__code__ for function in _functions_of_packages()}

    def broken(self, functions: Iterable[Any] = ()) -> str:
        """The name of the first thing that is no longer what it was; empty if there is none.

        Of ``functions``, the code must be that of the file which they say they are from, and not the learner's.
        """
        for place, get, value, code in self._values:
            if _identity(get()) != (value, code) if code is not None else get() is not value:
                return place
        return next((function.__qualname__ for function in functions if not self._is_as_written(function)), "")

    def _places(self) -> Iterator[tuple[str, Callable[[], Any]]]:
        """Functions and classes of the modules, and what their own classes define: a name, and how to get the value."""
        for module in self._modules:
            for name, value in list(vars(module).items()):
                if callable(value) and name not in _OFTEN_REPLACED:
                    yield f"{module.__name__}.{name}", functools.partial(vars(module).get, name)
                if isinstance(value, type) and value.__module__ == module.__name__ != "builtins":
                    yield from _attributes(module, value)

    def _is_as_written(self, function: Any) -> bool:
        plain = getattr(function, "__func__", function)
        code = getattr(plain, "__code__", None)
        if code is None or plain in self._trusted:
            return code is not None and code is self._trusted[plain]
        file = code.co_filename
        return str(Path(file).resolve()) not in self._own and code in _codes(file)


def functions_of(module: ModuleType) -> list[FunctionType]:
    """The functions that a module's file defines, as they are now: not those that it imports."""
    names = {code.co_name for code in _codes(module.__file__ or "") if "." not in code.co_qualname}
    return [value for name, value in vars(module).items() if name in names and isinstance(value, FunctionType)]


def _attributes(module: ModuleType, of: type) -> Iterator[tuple[str, Callable[[], Any]]]:
    for name, value in list(vars(of).items()):
        if callable(value) or isinstance(value, staticmethod | classmethod | property):
            yield f"{module.__name__}.{of.__name__}.{name}", functools.partial(vars(of).get, name)


def _functions_of_packages() -> Iterator[FunctionType]:
    """The functions and methods of pytest and of this package that are loaded by now."""
    for name, module in list(sys.modules.items()):
        if name.startswith(_PACKAGES):
            for value in list(vars(module).values()):
                inner = vars(value).values() if isinstance(value, type) else [value]
                yield from (each for each in inner if isinstance(each, FunctionType))


def _identity(value: Any) -> tuple[Any, CodeType | None]:
    """The value, and its code, which could be replaced without it."""
    return value, value.__code__ if isinstance(value, FunctionType) else None


@functools.cache
def _codes(file: str) -> frozenset[CodeType]:
    """All code objects of a file, those of nested functions as well."""
    try:
        source = Path(file).read_text(encoding="utf-8")
        waiting = [compile(source, file, "exec", dont_inherit=True)]
    except (OSError, ValueError, SyntaxError):
        return frozenset()
    found = set()
    while waiting:
        code = waiting.pop()
        found.add(code)
        waiting += [each for each in code.co_consts if isinstance(each, CodeType)]
    return frozenset(found)
