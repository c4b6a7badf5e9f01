"""Compiles modules of the package by mypyc: all into one library, from a file of C for each module.

mypyc translates the modules together, in some ten seconds. The C compiler then takes a minute of processor time, so it
runs on all cores, and does again only what has changed. hatch-mypyc, which hatch_build.py used before, has one file of
C for all modules, which took one core two and a half minutes after each change.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path


def build_extension_modules(modules: Sequence[str], root: Path, library: Path, kept: Path) -> list[Path]:
    """Compile these modules below ``root`` into ``library``; returns the files, relative to it.

    C files and objects stay in ``kept`` for the next time. Raises SystemExit if mypy or the compiler refuses something.
    """
    from mypy.version import __version__ as mypy_version
    from mypyc.build import mypycify
    from pybind11.setup_helpers import ParallelCompile
    from setuptools import Distribution

    # Objects are for a Python and for the headers of a mypyc.
    folder = (kept / f"{sys.implementation.cache_tag}-mypy-{mypy_version}").resolve()
    sources = folder / "c"
    sources.mkdir(parents=True, exist_ok=True)
    with contextlib.chdir(root):
        # Not the project's configuration of mypy, which is stricter than what can be compiled.
        arguments = ["--config-file=", "--ignore-missing-imports", *modules]
        extensions = mypycify(arguments, opt_level="3", multi_file=True, target_dir=str(sources))
        command = Distribution({"name": "kafka-lite", "ext_modules": extensions}).get_command_obj("build_ext")
        command.build_lib, command.build_temp = str(library.resolve()), str(folder / "objects")
        command.parallel = os.cpu_count()
        command.ensure_finalized()
        with ParallelCompile(default=0, needs_recompile=Objects(sources).are_outdated):
            command.run()
    return [Path(file).relative_to(library.resolve()) for file in command.get_outputs()]


class Objects:
    """Knows which objects have been compiled from what the C files are now.

    A header holds the structures of all classes: if one of them changes, everything is compiled again.
    """

    def __init__(self, sources: Path) -> None:
        self._sources = sources

    def are_outdated(self, object_file: str, source: str) -> bool:
        """Whether the object has to be compiled, which is noted as done: without it, it is asked again."""
        path, note = Path(object_file), Path(f"{object_file}.sha256")
        digest = hashlib.sha256(self._digest_of_headers + Path(source).read_bytes()).hexdigest()
        if path.exists() and note.exists() and note.read_text() == digest:
            return False
        path.unlink(missing_ok=True)
        note.write_text(digest)
        return True

    @cached_property
    def _digest_of_headers(self) -> bytes:
        return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(self._sources.rglob("*.h")))).digest()
