"""Java programs for tests: Maven downloads the jars, javac compiles small programs.

Resolved class paths and compiled classes are cached in the user's cache directory, so only the first use needs the
network.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import platformdirs

from kafka_lite.common.errors import KafkaError

MAVEN_TIMEOUT_S = 900

_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>kafka-lite</groupId><artifactId>jars</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
{dependencies}  </dependencies>
</project>
"""
_COORDINATES = {3: ("groupId", "artifactId", "version"), 5: ("groupId", "artifactId", "type", "classifier", "version")}
"""The names of the parts of Maven coordinates, by the number of parts."""


class JvmUnavailableError(KafkaError):
    """The JDK or Maven is missing, or Maven could not download the jars; the message says which."""


def require_programs(*programs: str) -> None:
    """Raise JvmUnavailableError if one of the programs is not installed."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        raise JvmUnavailableError(f"{' and '.join(missing)} not found")


def classpath(*coordinates: str) -> list[Path]:
    """Return the jars of these artifacts and their dependencies. Raises JvmUnavailableError.

    An artifact is given as ``group:artifact:version``, or as Maven writes it for a second jar of an artifact:
    ``group:artifact:jar:test:version``.
    """
    require_programs("java", "mvn")
    directory = _cache("classpaths", *coordinates)
    kept = directory / "classpath.txt"
    if not kept.exists() or not all(jar.exists() for jar in _jars(kept)):
        _resolve(coordinates, directory, kept)
    return _jars(kept)


def compile_java(source: str | Path, jars: Sequence[Path] = ()) -> Path:
    """Compile one source file, given as a path or as text; returns the directory of the classes.

    Raises JvmUnavailableError if there is no compiler, KafkaError with the compiler's messages.
    """
    require_programs("java", "javac")
    text = source.read_text(encoding="utf-8") if isinstance(source, Path) else source
    found = re.search(r"public\s+(?:final\s+)?class\s+(\w+)", text)
    if found is None:
        raise KafkaError("the Java source has no public class")
    directory = _cache("classes", text, *map(str, jars))
    if not (directory / f"{found[1]}.class").exists():
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch, f"{found[1]}.java")
            file.write_text(text, encoding="utf-8")
            options = ["-nowarn", "-encoding", "UTF-8", "-d", str(directory), "-cp", join(jars)]
            done = subprocess.run(["javac", *options, str(file)], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise KafkaError(f"{found[1]} does not compile:\n{done.stderr}")
    return directory


def join(jars: Sequence[Path]) -> str:
    """Join jars and directories into a class path for ``java -cp``."""
    return os.pathsep.join(map(str, jars))


def _cache(kind: str, *key: str) -> Path:
    digest = hashlib.sha256("\n".join(key).encode()).hexdigest()[:16]
    directory = Path(platformdirs.user_cache_dir("kafka-lite", appauthor=False)) / "jvm" / kind / digest
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def _resolve(coordinates: Sequence[str], directory: Path, kept: Path) -> None:
    """Make Maven download the jars into its local repository and write their class path to ``kept``."""
    pom = directory / "pom.xml"
    pom.write_text(_POM.format(dependencies="".join(map(_dependency, coordinates))))
    fresh = directory / f"classpath.{os.getpid()}"  # another process may be resolving them too
    goal = ["dependency:build-classpath", f"-Dmdep.outputFile={fresh}"]
    command = ["mvn", "-q", "-B", "-f", str(pom), *goal]
    done = subprocess.run(command, capture_output=True, text=True, timeout=MAVEN_TIMEOUT_S, check=False)
    if done.returncode != 0 or not fresh.exists():
        output = (done.stdout + done.stderr)[-500:]
        raise JvmUnavailableError(f"Maven did not resolve {', '.join(coordinates)}: {output}")
    fresh.rename(kept)


def _dependency(coordinates: str) -> str:
    parts = coordinates.split(":")
    elements = (f"<{name}>{part}</{name}>" for name, part in zip(_COORDINATES[len(parts)], parts, strict=True))
    return f"    <dependency>{''.join(elements)}</dependency>\n"


def _jars(kept: Path) -> list[Path]:
    return [Path(jar) for jar in kept.read_text().strip().split(os.pathsep)]
