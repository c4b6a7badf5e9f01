"""The processes of this machine: their parents, their command lines, and whether they have really ended.

The first thread of a process may end before the others, as a JVM's does, and any does that is killed. ``/proc`` then
calls the process a zombie without a command line, while its other threads still run and hold its children, files and
ports.

Kafka 0.10.2: bin/kafka-server-stop.sh · book 1.4.1
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

_PROC = Path("/proc")
_HAS_PROC = (_PROC / "self" / "stat").exists()
_STATE, _PARENT, _STARTED = 0, 1, 19
"""Places in ``/proc/PID/stat`` after the name."""
_ENDED = ("Z", "X")


class Process(NamedTuple):
    """A process; its start tells it from a later one with the same id."""

    pid: int
    started: str


def processes() -> list[tuple[Process, int]]:
    """Every process, and the id of its parent. Zombies count."""
    if _HAS_PROC:
        stats = {int(path.parent.name): _stat(path) for path in _PROC.glob("[0-9]*/stat")}
        return [(Process(pid, stat[_STARTED]), int(stat[_PARENT])) for pid, stat in stats.items() if stat]
    with subprocess.Popen(["ps", "-A", "-o", "pid=,ppid=,lstart="], stdout=subprocess.PIPE, text=True) as ps:
        rows = [line.split(maxsplit=2) for line in ps.communicate()[0].splitlines()]
    return [(Process(int(pid), started), int(parent)) for pid, parent, started in rows if int(pid) != ps.pid]


def runs(pid: int) -> bool:
    """Whether any thread of the process still runs."""
    if _HAS_PROC:
        stats = [_stat(path) for path in _PROC.glob(f"{pid}/task/*/stat")]
        return any(stat[_STATE] not in _ENDED for stat in stats if stat)
    state = _ps("state=", pid)
    return bool(state) and not state.startswith(_ENDED)


def command_line(pid: int) -> str:
    """The command line of a process; empty if it does not run."""
    if _HAS_PROC:
        lines = (_text(path) for path in _PROC.glob(f"{pid}/task/*/cmdline"))
        return next((line.replace("\0", " ").strip() for line in lines if line), "")
    return _ps("command=", pid)


def _stat(path: Path) -> list[str]:
    """The fields after the program's name, which is in brackets and may contain brackets; empty if it is gone."""
    return _text(path).rpartition(")")[2].split()


def _text(path: Path) -> str:
    """Read a file, or return an empty string if it no longer exists."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _ps(column: str, pid: int) -> str:
    command = ["ps", "-ww", "-o", column, "-p", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
