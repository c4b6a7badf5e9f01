"""``make compiled``: the package once more in ``build/compiled``, with its hot modules compiled by mypyc.

Which modules those are is said in pyproject.toml; the source is the very same. Needs a C compiler and Python's headers.
``make broker`` uses it if it is there and of today's source; so does anything else with ``PYTHONPATH=build/compiled``.
`make bench` measures it beside the plain one.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
from pathlib import Path

from kafka_lite.common.app_info_parser import commit_of
from scripts.build_wheels import PROJECT, build_wheel, missing_for_compiling, uv

TARGET = PROJECT / "build" / "compiled"
WHEEL = PROJECT / "build" / "compiled-wheel"
DIGEST = "source.sha256"
COMMIT = "commit"
USE = "`make broker` uses them"


def main(arguments: list[str] | None = None) -> int:
    """Build it, unless it is there and from today's source; returns the exit code."""
    parser = argparse.ArgumentParser(prog="make compiled", description="Compile the hot modules into build/compiled.")
    parser.add_argument("--path", action="store_true", help="build nothing: print the path of what is up to date")
    if parser.parse_args(arguments).path:
        print(TARGET if is_current() else "")
        return 0
    if is_current():
        print(f"{TARGET} is up to date; {USE}")
        return 0
    missing = missing_for_compiling()
    if missing:
        print(f"`make compiled` cannot compile, for {missing}; everything works without it, too")
        return 1
    compile_modules()
    compiled = sorted(path.relative_to(TARGET) for path in TARGET.rglob("kafka_lite/**/*.so"))
    print(f"{len(compiled)} compiled modules in {TARGET}; {USE}")
    return 0


def compile_modules() -> None:
    """Build the wheel, and unpack it into ``build/compiled``."""
    digest, commit = source_digest(), commit_of(PROJECT)
    for stale in (TARGET, WHEEL):
        shutil.rmtree(stale, ignore_errors=True)
    wheel = build_wheel(WHEEL, compiled=True)
    uv("pip", "install", "--quiet", "--no-deps", "--target", str(TARGET), str(wheel))
    (WHEEL / COMMIT).write_text(commit)
    (TARGET / DIGEST).write_text(digest)


def compiled_wheel() -> Path:
    """The wheel that ``build/compiled`` was unpacked from; built first unless it is of today's source and commit."""
    commit = WHEEL / COMMIT
    if not (is_current() and commit.exists() and commit.read_text() == commit_of(PROJECT)):
        compile_modules()
    (wheel,) = WHEEL.glob("*.whl")
    return wheel


def source_digest() -> str:
    """What the compiled package depends on, as one number: the source, and the kind of Python."""
    digest = hashlib.sha256(str(sys.implementation.cache_tag).encode())
    data = (*(PROJECT / "config").iterdir(), *(PROJECT / "chapters").glob("*.toml"))
    packaged = (*(PROJECT / "kafka_lite").rglob("*.py"), *data)
    for file in (PROJECT / "pyproject.toml", *sorted(packaged)):
        digest.update(str(file.relative_to(PROJECT)).encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def is_current() -> bool:
    """Whether what is in ``build/compiled`` was made of the source as it is now."""
    kept = TARGET / DIGEST
    return kept.exists() and kept.read_text() == source_digest()


if __name__ == "__main__":
    raise SystemExit(main())
