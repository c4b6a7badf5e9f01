"""``make compiled``: builds a copy of the package in ``build/compiled`` with its hot modules compiled by mypyc.

The modules are listed in pyproject.toml; the source is the same. Needs a C compiler and Python's headers.
``make broker`` uses it if it is up to date with the source; so does anything else with ``PYTHONPATH=build/compiled``.
`make bench` compares it with the plain package.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
from pathlib import Path

from kafka_lite.common.process.app_info_parser import commit_of
from scripts.wheel import PROJECT, build_wheel, missing_for_compiling, uv

TARGET = PROJECT / "build" / "compiled"
WHEEL = PROJECT / "build" / "compiled-wheel"
DIGEST = "source.sha256"
COMMIT = "commit"
USE = "`make broker` uses them"


def main(arguments: list[str] | None = None) -> int:
    """Build the compiled package unless it is up to date; returns the exit code."""
    parser = argparse.ArgumentParser(prog="make compiled", description="Compile the hot modules into build/compiled.")
    parser.add_argument(
        "--path", action="store_true", help="build nothing; print the path if the modules are up to date"
    )
    if parser.parse_args(arguments).path:
        print(TARGET if is_current() else "")
        return 0
    if is_current():
        print(f"{TARGET} is up to date; {USE}")
        return 0
    missing = missing_for_compiling()
    if missing:
        print(f"`make compiled` cannot compile, because {missing}; everything also works without it")
        return 1
    compile_modules()
    compiled = sorted(path.relative_to(TARGET) for path in TARGET.rglob("kafka_lite/**/*.so"))
    print(f"{len(compiled)} compiled modules in {TARGET}; {USE}")
    return 0


def compile_modules() -> None:
    """Build the wheel and unpack it into ``build/compiled``."""
    digest, commit = source_digest(), commit_of(PROJECT)
    for stale in (TARGET, WHEEL):
        shutil.rmtree(stale, ignore_errors=True)
    wheel = build_wheel(WHEEL, compiled=True)
    uv("pip", "install", "--quiet", "--no-deps", "--target", str(TARGET), str(wheel))
    (WHEEL / COMMIT).write_text(commit)
    (TARGET / DIGEST).write_text(digest)


def compiled_wheel() -> Path:
    """The wheel that ``build/compiled`` was unpacked from; rebuilt if it is not of the current source and commit."""
    commit = WHEEL / COMMIT
    if not (is_current() and commit.exists() and commit.read_text() == commit_of(PROJECT)):
        compile_modules()
    (wheel,) = WHEEL.glob("*.whl")
    return wheel


def source_digest() -> str:
    """A digest of everything that the compiled package depends on: the source and the Python implementation."""
    digest = hashlib.sha256(str(sys.implementation.cache_tag).encode())
    data = (*(PROJECT / "config").iterdir(), *(PROJECT / "chapters").glob("*.toml"))
    packages = ("kafka_lite", "pyspark_kafka_lite")
    packaged = (*(file for package in packages for file in (PROJECT / package).rglob("*.py")), *data)
    for file in (PROJECT / "pyproject.toml", *sorted(packaged)):
        digest.update(str(file.relative_to(PROJECT)).encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def is_current() -> bool:
    """Whether ``build/compiled`` was built from the current source."""
    kept = TARGET / DIGEST
    return kept.exists() and kept.read_text() == source_digest()


if __name__ == "__main__":
    raise SystemExit(main())
