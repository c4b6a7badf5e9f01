"""Real Kafka beside ours: Maven brings the jars, javac compiles a small program, java runs it.

    @pytest.mark.jvm
    def test_something() -> None:
        jars = classpath("org.apache.kafka:kafka-clients:3.9.1")
        classes = compile_java(SOURCE, jars)
        done = run_java("Main", "argument", classpath=[classes, *jars], stdin="lines\\n")
        assert done.stdout == ...

Resolved class paths and compiled classes are kept in the user's cache directory, so that only the first run needs the
network. Without Java or Maven the caller is skipped, or fails where KAFKA_LITE_REQUIRE_JVM=1 says that it must not be.
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
from typing import NoReturn

import platformdirs
import pytest

REQUIRE = "KAFKA_LITE_REQUIRE_JVM"
MAVEN_TIMEOUT_S = 600

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>kafka-lite</groupId><artifactId>jars</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
{dependencies}  </dependencies>
</project>
"""
DEPENDENCY = "    <dependency><groupId>{0}</groupId><artifactId>{1}</artifactId><version>{2}</version></dependency>\n"


def require_jvm() -> None:
    """Skip the test that calls this where there is no Java development kit or no Maven."""
    missing = [program for program in ("java", "javac", "mvn") if shutil.which(program) is None]
    if missing:
        _unavailable(f"{', '.join(missing)} not found")


def classpath(*coordinates: str) -> list[Path]:
    """The jars of some artifacts, ``group:artifact:version`` each, with all that they depend on."""
    require_jvm()
    directory = _cache("classpaths", *coordinates)
    kept = directory / "classpath.txt"
    if not kept.exists() or not all(jar.exists() for jar in _jars(kept)):
        _resolve(coordinates, directory, kept)
    return _jars(kept)


def compile_java(source: str | Path, classpath: Sequence[Path] = ()) -> Path:
    """Compile one source file, given as a path or as its text; returns the directory of the classes."""
    require_jvm()
    text = source.read_text(encoding="utf-8") if isinstance(source, Path) else source
    found = re.search(r"public\s+(?:final\s+)?class\s+(\w+)", text)
    assert found, "the source has no public class"
    directory = _cache("classes", text, *map(str, classpath))
    if not (directory / f"{found[1]}.class").exists():
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch, f"{found[1]}.java")
            file.write_text(text, encoding="utf-8")
            command = [
                "javac",
                "-nowarn",
                "-encoding",
                "UTF-8",
                "-d",
                str(directory),
                "-cp",
                _join(classpath),
                str(file),
            ]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
    return directory


def java_command(main: str, *arguments: str, classpath: Sequence[Path], options: Sequence[str] = ()) -> list[str]:
    """The command line that runs a class: for ``subprocess.Popen`` where ``run_java`` is not enough."""
    require_jvm()
    small = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    return ["java", *small, *options, "-cp", _join(classpath), main, *arguments]


def run_java(
    main: str,
    *arguments: str,
    classpath: Sequence[Path],
    stdin: str = "",
    options: Sequence[str] = (),
    timeout_s: float = 120,
) -> subprocess.CompletedProcess[str]:
    """Run a class to its end; returns what it printed. A non-zero exit code fails the test, with its stderr."""
    command = java_command(main, *arguments, classpath=classpath, options=options)
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=timeout_s, check=False)
    assert done.returncode == 0, f"{main} ended with {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done


def _unavailable(reason: str) -> NoReturn:
    if os.environ.get(REQUIRE) == "1":
        pytest.fail(f"{reason}, and {REQUIRE}=1")
    pytest.skip(reason)


def _cache(kind: str, *key: str) -> Path:
    digest = hashlib.sha256("\n".join(key).encode()).hexdigest()[:16]
    directory = Path(platformdirs.user_cache_dir("kafka-lite", appauthor=False)) / "jvm" / kind / digest
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def _resolve(coordinates: Sequence[str], directory: Path, kept: Path) -> None:
    """Let Maven download the jars into its own repository and write down where they lie."""
    pom = directory / "pom.xml"
    pom.write_text(POM.format(dependencies="".join(DEPENDENCY.format(*each.split(":")) for each in coordinates)))
    fresh = directory / f"classpath.{os.getpid()}"
    goal = ["dependency:build-classpath", f"-Dmdep.outputFile={fresh}"]
    command = ["mvn", "-q", "-B", "-f", str(pom), *goal]
    done = subprocess.run(command, capture_output=True, text=True, timeout=MAVEN_TIMEOUT_S, check=False)
    if done.returncode != 0 or not fresh.exists():
        _unavailable(f"Maven did not resolve {', '.join(coordinates)}: {(done.stdout + done.stderr)[-500:]}")
    fresh.rename(kept)


def _jars(kept: Path) -> list[Path]:
    return [Path(jar) for jar in kept.read_text().strip().split(os.pathsep)]


def _join(classpath: Sequence[Path]) -> str:
    return os.pathsep.join(map(str, classpath))
