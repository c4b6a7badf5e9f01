"""Identifies the running kafka_lite: its release, its commit, and whether its hot modules are compiled.

A wheel carries its commit in ``kafka-lite-version.properties``, which hatch_build.py writes. A checkout asks git.

Kafka 0.10.2: clients/.../common/utils/AppInfoParser.java · book 1.4.1
"""

from __future__ import annotations

import functools
import importlib.machinery
import importlib.util
import os
from pathlib import Path

from kafka_lite import __version__
from kafka_lite.common.properties import load_properties

UNKNOWN = "unknown"
VERSION_FILE = "kafka-lite-version.properties"
_PACKAGE = Path(__file__).resolve().parents[2]
_COMPILED_MODULE = "kafka_lite.common.murmur2"
"""mypyc compiles all hot modules listed in pyproject.toml into one library, so checking one of them is enough."""


def get_version() -> str:
    """The release, for example ``0.1.0``."""
    return __version__


@functools.cache
def get_commit_id(package: Path = _PACKAGE) -> str:
    """The commit that ``package`` was built from or is checked out at, such as ``8a613ec``, or ``unknown``."""
    file = package / VERSION_FILE
    if file.is_file():
        return load_properties(file).get("commitId", UNKNOWN)
    return commit_of(package.parent)


def commit_of(checkout: Path) -> str:
    """The commit of a checkout as ``git describe`` names it, with ``-dirty`` if files were changed, or ``unknown``."""
    import subprocess

    if not (checkout / ".git").exists():  # otherwise git would report the commit of a repository above
        return UNKNOWN
    describe = ["git", "-C", str(checkout), "describe", "--always", "--dirty", "--exclude=*"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(describe, env=environment, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return UNKNOWN
    return done.stdout.strip()


def is_compiled() -> bool:
    """Whether this process runs the hot modules compiled by mypyc rather than as plain Python."""
    spec = importlib.util.find_spec(_COMPILED_MODULE)
    return bool(spec and spec.origin and spec.origin.endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES)))


def build_name() -> str:
    """``compiled`` or ``plain``."""
    return "compiled" if is_compiled() else "plain"


def app_info() -> str:
    """Release, commit and build in one line, for example ``0.1.0 (commit 8a613ec, plain)``."""
    commit = get_commit_id()
    return f"{get_version()} ({'' if commit == UNKNOWN else f'commit {commit}, '}{build_name()})"
