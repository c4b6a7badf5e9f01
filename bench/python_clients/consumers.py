"""A comparison of Python consumers: ours (plain and compiled), kafka-python's, aiokafka's and confluent-kafka's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from bench.brokers import Broker, Candidate
from bench.contest import CODECS, Contest, figures, own_clients, run_client
from bench.filled_log import FilledLog
from bench.measure import MESSAGES, Goal, Sample, ratio_at_least
from bench.python_clients.consumer_client import Digest
from bench.python_clients.python_client import AIOKAFKA, CONFLUENT, KAFKA_PYTHON


@dataclass(frozen=True)
class ConsumerWorkload:
    """Read one partition from beginning to end, repeatedly for at least ``seconds``."""

    log: FilledLog
    seconds: float
    goals: ClassVar[Mapping[str, Goal]] = {MESSAGES: ratio_at_least(1.0)}

    @property
    def name(self) -> str:
        return str(self.log)

    def run(self, broker: Broker, client: str) -> Sample:
        """Run one client. Raises RuntimeError if it fails or its digest is wrong."""
        arguments = [broker.bootstrap_servers, self.log.topic(broker), str(self.log.messages), str(self.seconds)]
        said = run_client("bench.python_clients.consumer_client", client, arguments)
        if said["digest"] != self.digest:
            raise RuntimeError(f"{client} has not read what is in the log")
        return figures(said, said["messages"])

    @cached_property
    def digest(self) -> str:
        """The digest of what was written."""
        digest, contents = Digest(), self.log.contents
        for number in range(self.log.batches):
            first = number * len(contents)
            digest.update((first + index, *content) for index, content in enumerate(contents))
        return digest.hexdigest()


def consumer_contests(candidates: Sequence[Candidate], scale: float, rounds: int) -> list[Contest]:
    """One contest per broker."""
    clients = [*own_clients(), AIOKAFKA, KAFKA_PYTHON, CONFLUENT]

    def log(size: int, codec: str, *, uneven: bool = False) -> FilledLog:
        return FilledLog(size, codec, int((200_000 if size == 100 else 50_000) * scale), uneven=uneven)

    return [
        Contest(
            f"Consumers of Python, from {candidate.name}",
            candidate,
            clients,
            [
                ConsumerWorkload(each, scale)
                for size in (100, 1000)
                for each in (*(log(size, codec) for codec in CODECS), log(size, "none", uneven=True))
            ],
            rounds,
        )
        for candidate in candidates
    ]
