"""Builds a wheel of the current source, plain or compiled, and says what is missing for compiling.

A compiled wheel is for this Python version and platform: the hot modules that pyproject.toml names are extension
modules.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from kafka_lite.common.process.app_info_parser import VERSION_FILE, commit_of

PROJECT = Path(__file__).resolve().parent.parent
INPUTS = (
    "kafka_lite",
    "pyspark_kafka_lite",
    "config",
    "chapters/book.toml",
    "chapters/classes.toml",
    "hatch_build.py",
    "scripts/extension_modules.py",
    "pyproject.toml",
    "README.md",
    "LICENSE",
)
OBJECTS = PROJECT / "build" / "objects"
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.so", VERSION_FILE)


def missing_for_compiling() -> str:
    """A sentence that says what is missing for the compiled wheel; empty if nothing is."""
    if not any(map(shutil.which, ("cc", "gcc", "clang"))):
        return "there is no C compiler, such as Debian's package gcc"
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        return "Python's headers are not installed, such as Debian's package python3-dev"
    return ""


def build_wheel(target: Path, *, compiled: bool = False) -> Path:
    """Build a wheel of the current source into ``target``. Raises CalledProcessError if that fails.

    It is built from a copy, which has nothing but what belongs into it.
    """
    with tempfile.TemporaryDirectory() as scratch:
        source = _copy_of_the_source(Path(scratch))
        environment = os.environ | {"KAFKA_LITE_COMPILED": "1" if compiled else "0", "KAFKA_LITE_OBJECTS": str(OBJECTS)}
        made = Path(scratch, "made")
        uv("build", "--quiet", "--wheel", "--python", sys.executable, "-o", str(made), str(source), env=environment)
        (wheel,) = made.glob("*.whl")
        target.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(wheel, target / wheel.name))


def uv(*arguments: str, env: dict[str, str] | None = None) -> None:
    """Run this environment's uv. Raises CalledProcessError if it fails."""
    subprocess.run([str(Path(sys.executable).with_name("uv")), *arguments], check=True, env=env, cwd=PROJECT)


def _copy_of_the_source(scratch: Path) -> Path:
    copy = scratch / "source"
    copy.mkdir()
    for name in INPUTS:
        source = PROJECT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=_LEFT_OUT)
        else:
            (copy / name).parent.mkdir(exist_ok=True)
            shutil.copy(source, copy / name)
    (copy / "kafka_lite" / VERSION_FILE).write_text(f"commitId={commit_of(PROJECT)}\n", encoding="utf-8")
    return copy
