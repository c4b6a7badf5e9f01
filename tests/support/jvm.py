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

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.testing import maven
from tests.support.patience import patient_s

REQUIRE = "KAFKA_LITE_REQUIRE_JVM"


def require_jvm() -> None:
    """Skip the test that calls this where there is no Java development kit or no Maven."""
    try:
        maven.require_programs("java", "javac", "mvn")
    except maven.JvmUnavailableError as reason:
        _unavailable(str(reason))


def classpath(*coordinates: str) -> list[Path]:
    """The jars of some artifacts, ``group:artifact:version`` each, with all that they depend on."""
    require_jvm()
    try:
        return maven.classpath(*coordinates)
    except maven.JvmUnavailableError as reason:
        _unavailable(str(reason))


def compile_java(source: str | Path, classpath: Sequence[Path] = ()) -> Path:
    """Compile one source file, given as a path or as its text; returns the directory of the classes."""
    require_jvm()
    try:
        return maven.compile_java(source, classpath)
    except KafkaError as error:
        pytest.fail(str(error))


def java_command(main: str, *arguments: str, classpath: Sequence[Path], options: Sequence[str] = ()) -> list[str]:
    """The command line that runs a class: for ``subprocess.Popen`` where ``run_java`` is not enough."""
    require_jvm()
    small = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    return ["java", *small, *options, "-cp", maven.join(classpath), main, *arguments]


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
    done = subprocess.run(
        command, input=stdin, capture_output=True, text=True, timeout=patient_s(timeout_s), check=False
    )
    assert done.returncode == 0, f"{main} ended with {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done


def _unavailable(reason: str) -> NoReturn:
    if os.environ.get(REQUIRE) == "1":
        pytest.fail(f"{reason}, and {REQUIRE}=1")
    pytest.skip(reason)
