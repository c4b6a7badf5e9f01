"""The simulator's workload of Streams: an application that counts exactly once, and whose counts prove it.

Not in Kafka. Each change of a count is a record. So the committed counts of a key are 1, 2, 3, …, one for each of its
records, if and only if nothing was lost or counted twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from kafka_lite.testing.history.checker import Violation
from kafka_lite.testing.simulation.machine import Process
from kafka_lite.testing.simulation.programs import Load
from kafka_lite.testing.simulation.streams.application_workload import ApplicationWorkload
from kafka_lite.testing.simulation.streams.programs import APPLICATION_ID, COUNTS, TEXT, Counts

STREAMS_PROGRAMS: Final = "kafka_lite.testing.simulation.streams.programs:"
RULE: Final = "not counted exactly once"


class StreamsWorkload(ApplicationWorkload):
    """Producers of keys, instances of the application, and a reader of its counts."""

    guarantee = "exactly_once"
    """``processing.guarantee`` of the application."""

    def start_application(self, partitions: int, keys: int, instances: int, records_per_s: float) -> None:
        """Create the topics, and start everybody."""
        self._counts = Counts()
        self.create_topic(TEXT, partitions)
        self._create_output_topic(COUNTS, partitions)
        self.produce("producer", Load(TEXT, partitions, records_per_s, keys))
        self.run_instances(instances)
        reader = self._start_client("reader", "reader", partitions, self._counts, self.history, module=STREAMS_PROGRAMS)
        self._consumers.add(reader)

    def _start_instance(self, name: str, state_dir: str) -> Process:
        args = state_dir, self._replicas, self.guarantee, self.history
        return self._start_client("instance", name, *args, module=STREAMS_PROGRAMS)

    # ── the end ───────────────────────────────────────────────────────────────────────────────────────────────────

    def finish(self) -> list[Violation]:
        """Let the application count what is left, and judge its counts, too."""
        return [*super().finish(), *self._wrong_counts()]

    def _has_caught_up(self) -> bool:
        return self._counts.total >= len(self.history.acknowledged)

    def _wrong_counts(self) -> Iterator[Violation]:
        acknowledged = Counter(record.key for record, _ in self.history.acknowledged)
        stored = Counter(record.key for record in self.history.stored)
        for key, records in stored.items():
            counts = self._counts.by_key[key or ""]
            is_enough = acknowledged[key] <= len(counts) <= records
            if not is_enough or counts != list(range(1, len(counts) + 1)):
                yield Violation(
                    RULE,
                    f"{APPLICATION_ID} has counted {counts} for {key}, of which {acknowledged[key]} records were "
                    f"acknowledged and {records} are stored",
                )
