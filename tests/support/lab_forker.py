"""Checks of labs in forks of one process that has imported what they share: once, and not a second for each check.

    python -m tests.support.lab_forker MODULE…    # the modules that any lab replaces

Reads one line of JSON for each check: the arguments of ``kafka_learn.labs.overlay``, a file for the output, the time
limit in seconds. A fork does what ``python -m kafka_learn.labs.overlay`` does; the answer is its exit code. A fork also
notes what it has imported, for the next ones: this process imports that too, except for the modules that labs replace
and all that import one of these. So a fork can neither find the shipped code nor what another check has left.
"""

from __future__ import annotations

import ast
import atexit
import contextlib
import gc
import importlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

from kafka_learn.labs import overlay
from kafka_learn.project import PROJECT_ROOT
from tests.support.patience import Patience

OWN = ("kafka_lite", "kafka_learn", "pipeline")
"""The packages whose modules may import a replaced one."""
THREADS = Path("/proc/self/task")
_POLL_S = 0.005


def main() -> None:
    """Answer requests until there are no more; in a fork, run its check."""
    shared = SharedImports(set(sys.argv[1:]))
    for line in sys.stdin:
        request = json.loads(line)
        learned = Path(f"{request['output']}.imports")
        child = os.fork()
        if child == 0:
            become_check(request, learned)
            return overlay.main()
        code = wait_and_end(child, request["limit_s"])
        if learned.exists():
            shared.add(learned.read_text(encoding="utf-8").split("\n"))
        print(json.dumps(code), flush=True)
    return None


def become_check(request: dict[str, Any], learned: Path) -> None:
    """Give this fork the process group, files and arguments of a new process; at its end it notes its imports."""
    os.setsid()
    output = os.open(request["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for opened, standard in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(opened, standard)
        os.close(opened) if standard != 1 else None
    sys.argv = [overlay.__name__, *request["arguments"]]
    atexit.register(lambda: learned.write_text("\n".join(sys.modules), encoding="utf-8"))


def wait_and_end(child: int, limit_s: float) -> int | None:
    """The fork's exit code, negative for a signal; None at the time limit. Kills whatever it has left running."""
    patience = Patience(limit_s)
    ended = status = 0
    while not ended and not patience.is_over():
        time.sleep(_POLL_S)
        ended, status = os.waitpid(child, os.WNOHANG)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if ended:
        return os.waitstatus_to_exitcode(status)
    os.waitpid(child, 0)
    return None


class SharedImports(MetaPathFinder):
    """The modules that this process imports for its forks."""

    def __init__(self, replaced: set[str]) -> None:
        self._replaced = replaced
        self._needs: dict[str, set[str]] = {}
        self._seen = {"__main__"}

    def add(self, names: Iterable[str]) -> None:
        """Import the new ones of these that need no replaced module. Raises RuntimeError if one needs it even so."""
        new = [name for name in names if name not in self._seen]
        self._seen.update(new)
        self._needs |= {name: imports_of(path) | packages(name) for name in new if (path := own_source(name))}
        unsafe = self._dependents()
        sys.meta_path.insert(0, self)
        for name in new:
            if name not in unsafe:
                with contextlib.suppress(ImportError):  # of a lab's tests, or made by another module
                    importlib.import_module(name)
        sys.meta_path.remove(self)
        if THREADS.exists() and (threads := len(list(THREADS.iterdir()))) > 1:
            raise RuntimeError(f"{threads} threads run after these imports: a fork would have one of them only")
        gc.freeze()  # forks share these objects' pages longer

    def find_spec(self, name: str, _path: object, _target: object = None) -> None:
        """Called for each import of ``add``: the proof that none of them needs a replaced module."""
        if name in self._replaced:
            raise RuntimeError(f"{name} would be imported before it can be replaced")

    def _dependents(self) -> set[str]:
        """The replaced modules, and those that import one of them, themselves or through others."""
        found = set(self._replaced)
        while more := {name for name, needs in self._needs.items() if name not in found and needs & found}:
            found |= more
        return found


def own_source(name: str) -> Path | None:
    """The file of a module of this project; None for another's."""
    if name.partition(".")[0] not in OWN:
        return None
    path = PROJECT_ROOT.joinpath(*name.split("."))
    return next(filter(Path.is_file, (path.with_suffix(".py"), path / "__init__.py")), None)


def imports_of(path: Path) -> set[str]:
    """What a file imports when it is imported itself: modules, names that may be modules, and the packages of both."""
    names: set[str] = set()
    for node in imports_in(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names.union(*map(packages, names))


def packages(name: str) -> set[str]:
    """The packages that are imported before a module."""
    return {name[:end] for end, letter in enumerate(name) if letter == "."}


def imports_in(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The import statements that are executed with this one: none in functions, none for types only."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            continue
        elif isinstance(child, ast.stmt | ast.excepthandler) and not isinstance(
            child, ast.FunctionDef | ast.AsyncFunctionDef
        ):
            yield from imports_in(child)


if __name__ == "__main__":
    main()
