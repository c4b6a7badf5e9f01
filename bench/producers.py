"""Producers of Python beside one another: ours, plain and compiled, kafka-python's and aiokafka's, to one broker."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from bench.brokers import COMPILED, Broker, Candidate
from bench.measure import MESSAGES, TIMEOUT_S, Goal, Sample, expect_end, payload_of, ratio_at_least, topic
from bench.producer_client import AIOKAFKA, KAFKA_LITE, KAFKA_PYTHON, WARM_UP
from scripts.compile_hot_modules import PROJECT, TARGET, is_current

CLIENT_CPU = "client CPU, µs each"
PEAK = "peak memory, MB"
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


@dataclass(frozen=True)
class ProducerWorkload:
    """Send ``messages`` of ``size`` bytes to one partition in batches of 16 KB, and wait for all acknowledgements."""

    size: int
    codec: str
    messages: int
    goals: ClassVar[Mapping[str, Goal]] = {MESSAGES: ratio_at_least(1.0)}

    @property
    def name(self) -> str:
        return f"{self.size:,} B, {self.codec}"

    def run(self, broker: Broker, client: str) -> Sample:
        """One client's run, in a process of its own. Raises RuntimeError when it fails, or not all has arrived."""
        with topic(broker) as name:
            arguments = [broker.bootstrap_servers, name, self.codec, payload_of(self.size).decode(), str(self.messages)]
            done = subprocess.run(
                [
                    sys.executable,
                    "-m",
                    "bench.producer_client",
                    KAFKA_LITE if client == COMPILED else client,
                    *arguments,
                ],
                capture_output=True,
                text=True,
                check=False,
                timeout=TIMEOUT_S,
                cwd=PROJECT,
                env=environment_of(client),
            )
            if done.returncode:
                raise RuntimeError(f"{client} failed: {done.stderr.strip().rpartition(chr(10))[2]}")
            expect_end(broker, name, WARM_UP + self.messages)
        said = json.loads(done.stdout.splitlines()[-1])
        return {
            MESSAGES: self.messages / said["s"],
            CLIENT_CPU: said["cpu_s"] / self.messages * 1e6,
            PEAK: said["peak_bytes"] / 1e6,
        }


@dataclass(frozen=True)
class ProducerContest:
    """A part of the report whose columns are clients, and not brokers; the first of them is judged."""

    name: str
    candidate: Candidate
    """The broker that all of them send to."""
    clients: Sequence[str]
    workloads: Sequence[ProducerWorkload]
    rounds: int
    reference: ClassVar[str] = AIOKAFKA


def producer_contests(candidates: Sequence[Candidate], scale: float, rounds: int) -> list[ProducerContest]:
    """One for each of these brokers."""
    own = [COMPILED, KAFKA_LITE] if is_current() else [KAFKA_LITE]
    workloads = [
        ProducerWorkload(size, codec, int((300_000 if size == 100 else 60_000) * scale))
        for size in (100, 1000)
        for codec in CODECS
    ]
    return [
        ProducerContest(
            f"Producers of Python, to {candidate.name}", candidate, [*own, AIOKAFKA, KAFKA_PYTHON], workloads, rounds
        )
        for candidate in candidates
    ]


def environment_of(client: str) -> dict[str, str]:
    """Where the client's process finds the package: the compiled one lies elsewhere."""
    paths = [TARGET, PROJECT] if client == COMPILED else [PROJECT]
    # Without the safe path, Python would find the package of the working directory first.
    return os.environ | {"PYTHONSAFEPATH": "1", "PYTHONPATH": os.pathsep.join(map(str, paths))}
