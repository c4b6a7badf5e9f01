"""Comparisons of Python clients at one broker: sections of the report whose columns are clients, not brokers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

from bench.brokers import Broker, Candidate
from bench.measure import MESSAGES, TIMEOUT_S, Goal, Sample
from bench.python_clients.python_client import AIOKAFKA, KAFKA_LITE
from kafka_learn.site.bench_results import COMPILED
from scripts.compile_hot_modules import PROJECT, TARGET, is_current

CLIENT_CPU = "client CPU, µs each"
PEAK = "peak memory, MB"
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


class ContestWorkload(Protocol):
    """A workload that every client runs."""

    @property
    def name(self) -> str:
        """The workload's name in the report."""

    @property
    def goals(self) -> Mapping[str, Goal]:
        """The goals of the first client's figures, relative to the reference."""

    def run(self, broker: Broker, client: str) -> Sample:
        """Run the workload once with one client. Raises RuntimeError if it fails."""


@dataclass(frozen=True)
class Contest:
    """A section of the report whose columns are clients; goals apply to the first."""

    name: str
    candidate: Candidate
    """The broker that all clients use."""
    clients: Sequence[str]
    workloads: Sequence[ContestWorkload]
    rounds: int
    reference: str = AIOKAFKA
    running: Callable[[], AbstractContextManager[object]] = nullcontext
    """Entered for the duration of the contest; ends what its workloads have started."""


def own_clients() -> list[str]:
    """Our own clients: compiled, if `make compiled` has been run, and plain."""
    return [COMPILED, KAFKA_LITE] if is_current() else [KAFKA_LITE]


def run_client(module: str, client: str, arguments: Sequence[str]) -> dict[str, Any]:
    """Run one client in its own process; returns the JSON object that it printed. Raises RuntimeError if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", module, KAFKA_LITE if client == COMPILED else client, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
        cwd=PROJECT,
        env=environment_of(client),
    )
    if done.returncode:
        raise RuntimeError(f"{client} failed: {done.stderr.strip().rpartition(chr(10))[2]}")
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return said


def environment_of(client: str) -> dict[str, str]:
    """The environment of the client's process, whose paths select the plain or the compiled package."""
    paths = [TARGET, PROJECT] if client == COMPILED else [PROJECT]
    # Without the safe path, Python would find the working directory's package first.
    return os.environ | {"PYTHONSAFEPATH": "1", "PYTHONPATH": os.pathsep.join(map(str, paths))}


def figures(said: Mapping[str, Any], messages: int) -> Sample:
    """The client's figures per message."""
    return {
        MESSAGES: messages / said["s"],
        CLIENT_CPU: said["cpu_s"] / messages * 1e6,
        PEAK: said["peak_bytes"] / 1e6,
    }
