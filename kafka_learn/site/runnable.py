"""Runs the blocks of a page that are marked as runnable, and compares their output with the page.

::

    ```console run                    commands after "$ ", each followed by its expected output
    ```console run=eventually         the same, repeated until the output matches
    ```console run=background         commands that keep running; their output is waited for
    ```console run=stop               running commands to be stopped, as by Ctrl-C
    ```python run                     a program; a following ```text output block is its expected output
    ```properties title="F" run       a file that the reader writes, and ```text, too

In the expected output, ``…`` matches anything within a line, and a line of just ``…`` matches any lines. The site
shows the same blocks without the marks (kafka_learn/site/directives.py).
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

READY_TIMEOUT_S = 30.0
COMMAND_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 20.0
ENDED_BY_CTRL_C = 128 + signal.SIGINT
_BLOCK = re.compile(
    r"^```(console|python|text|properties) "
    r"((?:title=\"[\w.-]+\" )?(?:run=eventually|run=background|run=stop|run|output))\n(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


class MismatchError(AssertionError):
    """A block failed, or its output differs from the page."""


@dataclass(frozen=True)
class Step:
    """One command or program: its line in the page, how to run it, its expected output."""

    line: int
    kind: str
    """``console``, ``eventually``, ``background``, ``stop``, ``python`` or ``file``."""
    code: str
    """The command or the program; the name of a file."""
    expected: str
    """The output of a command; the content of a file."""


def steps(text: str) -> list[Step]:
    """The runnable steps of a page, in order. Raises ValueError for an ``output`` block without a program before it."""
    found: list[Step] = []
    for match in _BLOCK.finditer(text):
        line = text[: match.start()].count("\n") + 1
        language, mark, body = match.groups()
        if mark == "output":
            if not found or found[-1].kind != "python" or found[-1].expected:
                raise ValueError(f"line {line}: an output block must follow a python block")
            found[-1] = Step(found[-1].line, "python", found[-1].code, body)
        elif mark.startswith("title="):
            found.append(Step(line, "file", mark.split('"')[1], body))
        elif language == "python":
            found.append(Step(line, "python", body, ""))
        else:
            found += _commands(line, "console" if mark == "run" else mark.removeprefix("run="), body)
    return found


def _commands(line: int, kind: str, body: str) -> list[Step]:
    """Split a console block at its prompts."""
    found: list[Step] = []
    for number, row in enumerate(body.splitlines(), line + 1):
        if row.startswith("$ "):
            found.append(Step(number, kind, row.removeprefix("$ "), ""))
        elif found:
            last = found.pop()
            found.append(Step(last.line, kind, last.code, last.expected + row + "\n"))
    return found


def matches(expected: str, printed: str) -> bool:
    """Whether printed text matches the page's expected output."""
    pattern = ""
    for row in expected.strip("\n").splitlines():
        if row.strip() == "…":
            pattern += r"(?:.*\n)*"
        else:
            pattern += r".*".join(re.escape(piece.rstrip()) for piece in row.split("…")) + r"[ \t]*\n"
    return re.fullmatch(pattern or r"\s*", printed.strip("\n") + "\n" if pattern else printed) is not None


class Session:
    """Runs steps one after the other in ``folder``; background commands end with the session.

    ``replace`` maps words of the page to others, such as a port to a free one, in commands and expected output.
    ``patient_s`` turns a time limit in seconds of a quiet machine into one for this machine at present.
    """

    def __init__(
        self,
        folder: Path,
        replace: dict[str, str],
        environment: dict[str, str],
        patient_s: Callable[[float], float] = float,
    ) -> None:
        self._folder = folder
        self._patient_s = patient_s
        self._replace = replace
        self._environment = {**os.environ, **environment}
        self._background: dict[str, _Background] = {}

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        codes = [process.stop() for process in reversed(self._background.values())]
        if kind is None and any(codes):
            raise MismatchError(f"background commands ended with exit codes {codes}, not 0")

    def run(self, step: Step) -> None:
        """Run one step. Raises MismatchError if it fails or prints something else."""
        code, expected = self._here(step.code), self._here(step.expected)
        if step.kind == "background":
            self._background[code] = _Background(code, self._folder, self._environment, self._patient_s)
            self._background[code].wait_for(expected, step)
        elif step.kind == "stop":
            self._stop(code, step)
        elif step.kind == "file":
            (self._folder / code).write_text(expected, encoding="utf-8")
        elif step.kind == "eventually":
            self._repeat(code, expected, step)
        else:
            self._run_once(code, expected, step)

    def _stop(self, code: str, step: Step) -> None:
        if code not in self._background:
            raise MismatchError(f"line {step.line}: {code}\nis not running")
        exit_code = self._background.pop(code).stop()
        if exit_code:
            raise MismatchError(f"line {step.line}: {code}\nended with exit code {exit_code}, not 0")

    def _repeat(self, code: str, expected: str, step: Step) -> None:
        deadline = time.monotonic() + self._patient_s(READY_TIMEOUT_S)
        while True:
            try:
                self._run_once(code, expected, step)
            except MismatchError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)
            else:
                return

    def _run_once(self, code: str, expected: str, step: Step) -> None:
        command = [sys.executable, "-c", code] if step.kind == "python" else ["bash", "-o", "pipefail", "-c", code]
        result = subprocess.run(
            command,
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=self._patient_s(COMMAND_TIMEOUT_S),
            check=False,
        )
        if result.returncode != 0:
            raise MismatchError(f"line {step.line}: exit code {result.returncode}\n{code}\n{result.stdout}")
        if expected.strip() and not matches(expected, result.stdout):
            raise MismatchError(f"line {step.line}: {code}\nshould print\n{expected}\nand printed\n{result.stdout}")

    def _here(self, text: str) -> str:
        for word, other in self._replace.items():
            text = text.replace(word, other)
        return text


class _Background:
    """A command that keeps running, and its output so far."""

    def __init__(
        self, code: str, folder: Path, environment: dict[str, str], patient_s: Callable[[float], float]
    ) -> None:
        self._patient_s = patient_s
        self._process = subprocess.Popen(
            shlex.split(code),
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._printed = ""
        self._reader = threading.Thread(target=self._read, name="page-background-reader", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._printed += line

    def wait_for(self, expected: str, step: Step) -> None:
        """Wait until every expected line has been printed."""
        deadline = time.monotonic() + self._patient_s(READY_TIMEOUT_S)
        wanted = [row for row in expected.splitlines() if row.strip()]
        while not all(any(matches(row, line) for line in self._printed.splitlines()) for row in wanted):
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise MismatchError(f"line {step.line}: waited for\n{expected}\nand saw\n{self._printed}")
            time.sleep(0.05)

    def stop(self) -> int:
        """Stop it as Ctrl-C does. Returns 0 if that ended it, else its exit code; kills it if it does not stop."""
        self._process.send_signal(signal.SIGINT)
        try:
            code = self._process.wait(self._patient_s(STOP_TIMEOUT_S))
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._reader.join(self._patient_s(STOP_TIMEOUT_S))
        if self._process.stdout is not None:
            self._process.stdout.close()
        return 0 if code == ENDED_BY_CTRL_C else code
