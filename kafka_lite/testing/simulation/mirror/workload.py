"""The simulator's workload of mirrors: a group of MirrorMakers between two topics.

Not in Kafka.
"""

from __future__ import annotations

from typing import Final

from kafka_lite.testing.history.checker import Violation
from kafka_lite.testing.simulation.mirror.facts import COPIES, ORIGINALS, Facts
from kafka_lite.testing.simulation.mirror.verdict import judge
from kafka_lite.testing.simulation.programs import Load
from kafka_lite.testing.simulation.workload import Workload

MIRROR_PROGRAMS: Final = "kafka_lite.testing.simulation.mirror.programs:"
INTERVALS_MS: Final = (200, 2_000, 10_000)
CAUGHT_UP_S: Final = 180.0
"""How long the mirrors have to copy what is left: several rebalances."""


class MirrorWorkload(Workload):
    """A producer writes ORIGINALS, and mirrors copy it to COPIES, which has another number of partitions."""

    def start_mirrors(self, mirrors: int, load: Load, copies: int) -> None:
        """Create both topics, and start everything. ``copies`` is the number of partitions of COPIES."""
        self.facts = Facts()
        self.catch_up_s = CAUGHT_UP_S
        self._partitions = copies
        self.create_topic(ORIGINALS, load.partitions)
        self._operate("create_topic", COPIES, copies, self._replicas, {})  # the history does not know its records
        self.produce("producer", load)
        for number in range(mirrors):
            self.mirror(f"mirror-{number}", self.random.randint(1, 2), self.random.choice(INTERVALS_MS))
        witness = self._start_client("witness", "witness", copies, self.facts, self.history, module=MIRROR_PROGRAMS)
        self._consumers.add(witness)

    def mirror(self, name: str, streams: int, interval_ms: int) -> None:
        """Start a mirror that commits so often. Another one takes its place if it is killed."""
        mirror = self._start_client("mirror", name, streams, interval_ms, self.history, module=MIRROR_PROGRAMS)
        self._reads_to_the_end(mirror, lambda: self.mirror(f"{name}+", streams, interval_ms))

    def _has_caught_up(self) -> bool:
        """Whether everything has been copied."""
        return all(record.value in self.facts.seen for record, _ in self.history.acknowledged)

    def _read_more(self) -> None:
        reading = self._start("read_copies", self._partitions, self.facts, module=MIRROR_PROGRAMS)
        self._await_success(reading)

    def finish(self) -> list[Violation]:
        """Let everything end, and judge."""
        return [*super().finish(), *judge(self.history, self.facts)]
