"""A process for code that nobody trusts: without network, with limits, and with nothing to read that it must not read.

On Linux, ``unshare`` gives it namespaces of its own (network, mounts, processes, users) and ``inside`` prepares them::

    grader ── unshare ──▶ inside: loopback up, all file systems read-only but the scratch folder, covers over what is
                                  hidden, limits, no capabilities
                             └── exec ──▶ the check

When the check ends, or its time is up, the namespace of processes ends with all that still run in it. Where namespaces
cannot be had (macOS, most containers), only the limits and the audit hooks of ``overlay`` are left, and the report says
so: there, run ``labs grade`` in a container without network.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kafka_learn.labs.grader import Runner, environment, run_bounded
from kafka_learn.project import PROJECT_ROOT
from kafka_learn.source import module_path

ISOLATED = "own namespaces: no network, everything read-only but a scratch folder, shipped code and git hidden"
LIMITS_ONLY = "limits only: this machine grants no namespaces (unshare), so use a container without network"
NAMESPACES = (
    *("unshare", "--user", "--map-root-user", "--net", "--mount", "--pid", "--fork"),
    *("--kill-child", "--mount-proc"),
)
PROBE_LIMIT_S = 10.0
KEPT = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "JAVA_HOME", "PYTHONUNBUFFERED", "PYTEST_DISABLE_PLUGIN_AUTOLOAD")
"""The environment variables that a check needs. Others may be secrets of the user who grades."""


@dataclass(frozen=True)
class Limits:
    """The most that each process of a check may use: bytes of memory, seconds of CPU time, bytes in a file."""

    memory: int = 2 << 30
    cpu_s: int = 120
    file_size: int = 1 << 30


@cache
def has_namespaces() -> bool:
    """Whether this machine lets a process make namespaces of its own."""
    if shutil.which(NAMESPACES[0]) is None:
        return False
    try:
        return subprocess.run([*NAMESPACES, "true"], capture_output=True, timeout=PROBE_LIMIT_S).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def isolation() -> str:
    """In words, for the report."""
    return ISOLATED if has_namespaces() else LIMITS_ONLY


def sandboxed(limits: Limits, hidden: Iterable[Path] = ()) -> Runner:
    """A runner for ``grader.check``. The code can read nothing of ``hidden``, and write in the check's folder only."""
    covered = [str(path) for path in hidden if path.exists()]

    def run(command: list[str], limit_s: float) -> tuple[int | None, str]:
        scratch = Path(command[command.index("--lab-channel") + 1])
        return run_bounded(command_in(command, scratch, limits, covered), limit_s)

    return run


def command_in(command: Sequence[str], scratch: Path, limits: Limits, hidden: Sequence[str] = ()) -> list[str]:
    """The command line that prepares the sandbox and becomes ``command``."""
    prepared = {
        "scratch": str(scratch),
        "hidden": list(hidden),
        "memory": limits.memory,
        "cpu_s": limits.cpu_s,
        "file_size": limits.file_size,
        "namespaces": has_namespaces(),
        "environment": kept_environment(scratch),
    }
    namespaces = NAMESPACES if has_namespaces() else ()
    return [*namespaces, sys.executable, "-m", "kafka_learn.labs.grading.inside", json.dumps(prepared), *command]


def kept_environment(scratch: Path) -> dict[str, str]:
    """The environment of the check: its home and its temporary files are in the scratch folder."""
    kept = {name: value for name, value in environment().items() if name in KEPT}
    cache_home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    own = {name: str(scratch) for name in ("HOME", "TMPDIR", "XDG_STATE_HOME")}
    return kept | own | {"XDG_CACHE_HOME": cache_home, "KAFKA_LITE_LABS_WORK": str(scratch)}


def shipped_files(modules: Iterable[str]) -> list[Path]:
    """The files in which an answer to these modules stands: the shipped ones, and their bytecode."""
    found = []
    for path in map(module_path, modules):
        found += [path, *(path.parent / "__pycache__").glob(f"{path.stem}.*.pyc")]
    return found


def private_places() -> list[Path]:
    """Git's copies of the shipped code and the state of the user who grades, which no check has to read."""
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state") / "kafka-lite"
    return [PROJECT_ROOT / ".git", *_common_git_folder(), PROJECT_ROOT / "labs-work", state]


def _common_git_folder() -> list[Path]:
    """That of the main clone, if this one is a worktree of it."""
    asked = subprocess.run(
        ["git", "rev-parse", "--path-format=absolute", "--git-common-dir"],
        cwd=PROJECT_ROOT,
        capture_output=True,
        text=True,
    )
    return [Path(asked.stdout.strip())] if asked.returncode == 0 else []
