"""What the simulator does with Streams: an application that counts exactly once, and whose counts show if it does.

Not in Kafka. Each change of a count is a record. So the committed counts of a key are 1, 2, 3, …, one for each of its
records, if and only if nothing was lost or counted twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from kafka_lite.testing.history.checker import Violation
from kafka_lite.testing.simulation.programs import Load
from kafka_lite.testing.simulation.streams.programs import APPLICATION_ID, COUNTS, TEXT, Counts
from kafka_lite.testing.simulation.workload import Workload

STREAMS_PROGRAMS: Final = "kafka_lite.testing.simulation.streams.programs:"
COUNTED_S: Final = 120.0
"""How long the application has to count what is left: it may have to wait for a transaction of a killed instance, and
then for a session."""
RULE: Final = "not counted exactly once"


class StreamsWorkload(Workload):
    """Producers of keys, instances of the application, and a reader of its counts."""

    guarantee = "exactly_once"
    """``processing.guarantee`` of the application."""

    def start_application(self, partitions: int, keys: int, instances: int, records_per_s: float) -> None:
        """Create the topics, and start everybody."""
        self._counts = Counts()
        self.catch_up_s = COUNTED_S
        self.create_topic(TEXT, partitions)
        # Not by create_topic(): then the history would read this topic, too.
        self._operate("create_topic", COUNTS, partitions, self._replicas, {})
        self.produce("producer", Load(TEXT, partitions, records_per_s, keys))
        for number in range(instances):
            self.run_instance(f"instance-{number}")
        reader = self._start_client("reader", "reader", partitions, self._counts, self.history, module=STREAMS_PROGRAMS)
        self._consumers.add(reader)

    def run_instance(self, name: str) -> None:
        """Start an instance. One that takes another's place has its state directory."""
        state_dir = str(self._machine.folder / name.rstrip("+"))
        instance = self._start_client(
            "instance", name, state_dir, self._replicas, self.guarantee, self.history, module=STREAMS_PROGRAMS
        )
        self._reads_to_the_end(instance, lambda: self.run_instance(f"{name}+"))

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
