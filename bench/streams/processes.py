"""The measured systems, each in a process, and the environment of those that are installed for the bench alone."""

from __future__ import annotations

import contextlib
import hashlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from bench.brokers import KAFKA_VERSIONS, cpu_s_of, resident_peak_mb_of
from bench.contest import environment_of
from bench.measure import TIMEOUT_S
from kafka_lite.testing import maven
from scripts.compile_hot_modules import PROJECT
from scripts.wheel import uv

HERE = Path(__file__).parent
KAFKA_STREAMS = f"Kafka Streams {KAFKA_VERSIONS[0]}"
QUIX, FAUST = "quix-streams", "faust-streaming"
JARS = (f"org.apache.kafka:kafka-streams:{KAFKA_VERSIONS[0]}", "org.slf4j:slf4j-nop:1.7.36")
HEAP = "1g"


def command(system: str) -> list[str]:
    """The command without the application's arguments. Raises JvmUnavailableError, CalledProcessError."""
    if system == KAFKA_STREAMS:
        jars = maven.classpath(*JARS)
        classes = maven.compile_java(HERE / "StreamsApps.java", jars)
        return ["java", f"-Xmx{HEAP}", "-XX:+UseG1GC", "-cp", maven.join([classes, *jars]), "StreamsApps"]
    if system in (QUIX, FAUST):
        return [str(installed()), str(HERE / ("quix_app.py" if system == QUIX else "faust_app.py"))]
    return [sys.executable, "-m", "bench.streams.ours"]


def installed() -> Path:
    """The Python of an environment with quix-streams and faust-streaming. Raises CalledProcessError.

    It is apart from the project's own, whose packages need not suit theirs.
    """
    requirements = HERE / "requirements.txt"
    digest = hashlib.sha256(requirements.read_bytes() + sys.version.encode()).hexdigest()[:12]
    environment = PROJECT / "build" / "bench-streams" / digest
    python = environment / "bin" / "python"
    if not (environment / "complete").exists():
        uv("venv", "--quiet", "--clear", "--python", sys.executable, str(environment))
        uv("pip", "install", "--quiet", "--python", str(python), "--requirement", str(requirements))
        (environment / "complete").touch()
    return python


class StreamsProcess:
    """An application that runs; a context manager that ends it."""

    def __init__(self, system: str, kind: str, arguments: Sequence[str]) -> None:
        """``arguments`` are those of ``ours`` after the kind, without the state directory. It waits for ``start``."""
        self.system = system
        self._folder = tempfile.TemporaryDirectory(prefix="kafka-lite-bench-", ignore_cleanup_errors=True)
        self._log = Path(self._folder.name, "output.log")
        bootstrap, application, *others = arguments
        state = str(Path(self._folder.name, "state"))
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*command(system), kind, bootstrap, application, state, *others],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=self._folder.name,
                env=environment_of(system),
                text=True,
            )
        self._wait_for("ready")

    def start(self) -> None:
        """Let it start."""
        assert self._process.stdin is not None
        print(file=self._process.stdin, flush=True)

    def wait_until_running(self) -> None:
        """Wait until it says that it has restored its stores. Raises RuntimeError."""
        self._wait_for("running")

    def _wait_for(self, word: str) -> None:
        output: IO[str] | None = self._process.stdout
        assert output is not None
        if not any(line.strip() == word for line in output):
            self.ensure_alive(0)
            raise RuntimeError(f"{self.system} does not say {word}")

    def ensure_alive(self, began: float) -> None:
        """Raises RuntimeError if it has ended, or has run too long since ``began``."""
        if self._process.poll() is not None:
            said = self._log.read_text(encoding="utf-8", errors="replace").strip()
            raise RuntimeError(f"{self.system} ended: {said.rpartition(chr(10))[2]}")
        if began and time.monotonic() - began > TIMEOUT_S * 2:
            raise RuntimeError(f"{self.system} is not done after {TIMEOUT_S * 2:.0f} s")

    def cpu_s(self) -> float:
        """Its processor time so far, in seconds, of all threads."""
        return cpu_s_of(self._process.pid)

    def peak_mb(self) -> float:
        """Its peak memory so far."""
        return resident_peak_mb_of(self._process.pid)

    def __enter__(self) -> StreamsProcess:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.kill()  # its output has been read: nobody needs its last commit
        self._process.wait()
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.stdout.close()
        self._folder.cleanup()
