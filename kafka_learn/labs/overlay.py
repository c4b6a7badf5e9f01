"""Runs a program with a learner's files instead of some modules of kafka_lite.

``python -m kafka_learn.labs.overlay [MODULE=FILE]… -m PROGRAM [ARGUMENT]…`` works like ``python -m PROGRAM``, in its
own process, so a wrong solution leaves nothing behind. It imports only the standard library, because the replaced
modules must not be imported yet. The program can read neither the shipped files of these modules nor git's copies.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import os
import runpy
import sys
from collections.abc import Iterator, Sequence
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


KEY_FILE = "labs.key"
"""With it the grader signs the points that a learner has earned."""
ROOT = Path(__file__).resolve().parents[2]
STARTS = frozenset({"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"})
"""Audit events of a new process."""


class ShippedCode:
    """An audit hook that refuses to open the shipped files of replaced modules: an answer must be the learner's own."""

    def __init__(self, files: dict[str, Path]) -> None:
        shipped = {name: ROOT.joinpath(*name.split(".")) for name in files}
        # The project's own tests check the shipped files themselves.
        self._modules = {path for name, path in shipped.items() if files[name].resolve() != path.with_suffix(".py")}
        self._names = {path.name for path in self._modules}

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        """Called by Python for each event. Raises PermissionError."""
        if event == "open":
            self._refuse(arguments[0])
        elif event in STARTS and self._modules:
            for words in _words(arguments[:2]):
                if os.path.basename(words) == "git" or words.startswith("git "):
                    raise PermissionError("git has the shipped code: an answer must be your own")
                self._refuse(words)

    def _refuse(self, path: object) -> None:
        if not isinstance(path, str | bytes | os.PathLike):
            return
        text = os.fsdecode(path)
        folder, name = os.path.split(text)
        if name == KEY_FILE:
            raise PermissionError(f"{text} is the grader's key")
        if name.split(".")[0] not in self._names:
            return
        real = Path(os.path.realpath(folder or ".").removesuffix("__pycache__")) / name.split(".")[0]
        if real in self._modules:
            raise PermissionError(f"{text} is the shipped code: an answer must be your own")


def _words(arguments: Sequence[object]) -> Iterator[str]:
    for argument in arguments:
        if isinstance(argument, str | bytes | os.PathLike):
            yield os.fsdecode(argument)
        elif isinstance(argument, list | tuple):
            yield from _words(argument)


def command(files: dict[str, Path], program: str, *arguments: str) -> list[str]:
    """The command line that runs ``python -m program arguments`` with the modules replaced."""
    replaced = [f"{module}={file}" for module, file in files.items()]
    return [sys.executable, "-m", "kafka_learn.labs.overlay", *replaced, "-m", program, *arguments]


def main() -> None:
    """Replace the modules named on the command line and run the program that follows."""
    separator = sys.argv.index("-m")
    pairs = [argument.partition("=") for argument in sys.argv[1:separator]]
    files = {module: Path(file) for module, _, file in pairs}
    install(files)
    sys.addaudithook(ShippedCode(files))
    program = sys.argv[separator + 1]
    sys.argv = [program, *sys.argv[separator + 2 :]]
    runpy.run_module(program, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
