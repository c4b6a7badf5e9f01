"""A comparison of Python producers at one broker: ours (plain and compiled), kafka-python's and aiokafka's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from bench.brokers import Broker, Candidate
from bench.contest import CODECS, Contest, figures, own_clients, run_client
from bench.measure import MESSAGES, Goal, Sample, expect_end, payload_of, ratio_at_least, topic
from bench.python_clients.producer_client import WARM_UP
from bench.python_clients.python_client import AIOKAFKA, KAFKA_PYTHON


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
        """Run one client. Raises RuntimeError if it fails or not all messages have arrived."""
        with topic(broker) as name:
            arguments = [broker.bootstrap_servers, name, self.codec, payload_of(self.size).decode(), str(self.messages)]
            said = run_client("bench.python_clients.producer_client", client, arguments)
            expect_end(broker, name, WARM_UP + self.messages)
        return figures(said, self.messages)


def producer_contests(candidates: Sequence[Candidate], scale: float, rounds: int) -> list[Contest]:
    """One contest per broker."""
    clients = [*own_clients(), AIOKAFKA, KAFKA_PYTHON]
    workloads = [
        ProducerWorkload(size, codec, int((300_000 if size == 100 else 60_000) * scale))
        for size in (100, 1000)
        for codec in CODECS
    ]
    return [
        Contest(f"Producers of Python, to {candidate.name}", candidate, clients, workloads, rounds)
        for candidate in candidates
    ]
