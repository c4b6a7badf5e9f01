"""Clients of Python beside one another, at one broker: parts of the report whose columns are clients, not brokers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from bench.brokers import Broker, Candidate
from bench.measure import MESSAGES, TIMEOUT_S, Goal, Sample
from bench.python_client import AIOKAFKA, KAFKA_LITE
from kafka_learn.site.bench_results import COMPILED
from scripts.compile_hot_modules import PROJECT, TARGET, is_current

CLIENT_CPU = "client CPU, µs each"
PEAK = "peak memory, MB"
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


class ContestWorkload(Protocol):
    """Something that every client does."""

    @property
    def name(self) -> str:
        """What it does, as the report says it."""

    @property
    def goals(self) -> Mapping[str, Goal]:
        """What the first client's figures are to reach beside the reference's."""

    def run(self, broker: Broker, client: str) -> Sample:
        """Let one client do it once. Raises RuntimeError when it fails."""


@dataclass(frozen=True)
class Contest:
    """A part of the report whose columns are clients; the first of them is judged."""

    name: str
    candidate: Candidate
    """The broker that all of them talk to."""
    clients: Sequence[str]
    workloads: Sequence[ContestWorkload]
    rounds: int
    reference: ClassVar[str] = AIOKAFKA


def own_clients() -> list[str]:
    """Ours: compiled, if `make compiled` has been run, and plain."""
    return [COMPILED, KAFKA_LITE] if is_current() else [KAFKA_LITE]


def run_client(module: str, client: str, arguments: Sequence[str]) -> dict[str, Any]:
    """Run one client in a process of its own; what it told at its end. Raises RuntimeError when it fails."""
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
    """Where the client's process finds the package: the compiled one lies elsewhere."""
    paths = [TARGET, PROJECT] if client == COMPILED else [PROJECT]
    # Without the safe path, Python would find the package of the working directory first.
    return os.environ | {"PYTHONSAFEPATH": "1", "PYTHONPATH": os.pathsep.join(map(str, paths))}


def figures(said: Mapping[str, Any], messages: int) -> Sample:
    """What a client has told, for each message."""
    return {
        MESSAGES: messages / said["s"],
        CLIENT_CPU: said["cpu_s"] / messages * 1e6,
        PEAK: said["peak_bytes"] / 1e6,
    }
