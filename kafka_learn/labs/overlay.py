"""Runs a program with a learner's files instead of some modules of kafka_lite.

``python -m kafka_learn.labs.overlay [MODULE=FILE]… -m PROGRAM [ARGUMENT]…`` works like ``python -m PROGRAM``, in its
own process, so a wrong solution leaves nothing behind. It imports only the standard library, because the replaced
modules must not be imported yet.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import runpy
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Never


class UncachedLoader(SourceFileLoader):
    """Compiles a file each time: a saved file may have the size of the one before, and both the time of a second."""

    def path_stats(self, path: str) -> Never:
        """Without these, Python neither reads nor writes bytecode. Raises OSError."""
        raise OSError(f"{path} is not cached")


class OverlayFinder(importlib.abc.MetaPathFinder):
    """A module finder that comes first and finds the replaced modules."""

    def __init__(self, files: dict[str, Path]) -> None:
        self._files = files

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a replaced module; None for any other, which is left to the next finder."""
        file = self._files.get(fullname)
        if file is None:
            return None
        return importlib.util.spec_from_file_location(fullname, file, loader=UncachedLoader(fullname, str(file)))


def install(files: dict[str, Path]) -> None:
    """Make imports of these modules load these files. Raises RuntimeError if one is already loaded."""
    loaded = sorted(files.keys() & sys.modules.keys())
    if loaded:
        raise RuntimeError(f"too late to replace {', '.join(loaded)}")
    sys.meta_path.insert(0, OverlayFinder(files))


def command(files: dict[str, Path], program: str, *arguments: str) -> list[str]:
    """The command line that runs ``python -m program arguments`` with the modules replaced."""
    replaced = [f"{module}={file}" for module, file in files.items()]
    return [sys.executable, "-m", "kafka_learn.labs.overlay", *replaced, "-m", program, *arguments]


def main() -> None:
    """Replace the modules named on the command line and run the program that follows."""
    separator = sys.argv.index("-m")
    pairs = [argument.partition("=") for argument in sys.argv[1:separator]]
    install({module: Path(file) for module, _, file in pairs})
    program = sys.argv[separator + 1]
    sys.argv = [program, *sys.argv[separator + 2 :]]
    runpy.run_module(program, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
