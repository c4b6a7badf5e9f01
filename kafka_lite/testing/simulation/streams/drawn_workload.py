"""The simulator's workload of a Streams application whose topology is drawn from the seed.

Not in Kafka.
"""

from __future__ import annotations

from typing import Final

from kafka_lite.testing.history.checker import Violation
from kafka_lite.testing.simulation.machine import Process
from kafka_lite.testing.simulation.programs import Load
from kafka_lite.testing.simulation.streams.application_workload import ApplicationWorkload
from kafka_lite.testing.simulation.streams.drawing import Drawing
from kafka_lite.testing.simulation.streams.expectation import Expectation, judge, topics
from kafka_lite.testing.simulation.streams.programs import COUNTS, TEXT
from kafka_lite.testing.simulation.streams.seen import Seen
from kafka_lite.testing.simulation.transactional_workload import ENDED_S, TRANSACTIONAL_PROGRAMS

DRAWN_PROGRAMS: Final = "kafka_lite.testing.simulation.streams.drawn_programs:"

CAUGHT_UP_S: Final = 400.0
"""How long the application has to process what is left: a record that is joined with many others makes many."""


class DrawnStreamsWorkload(ApplicationWorkload):
    """A producer of records out of order, instances of the application, and a reader of its topics."""

    def start_application(self, drawing: Drawing, load: Load, instances: int) -> None:
        """Create the topics, and start everybody."""
        self.world.note(f"application: {drawing}")
        self._drawing, self._application_topics = drawing, dict.fromkeys(topics(drawing), load.partitions)
        self._seen, self._last_seen = Seen(), Seen()
        self._expectation = Expectation(drawing, load.partitions)
        self._known_before: tuple[int, ...] = ()
        self._is_done = False
        self.create_topic(TEXT, load.partitions)
        self._create_output_topic(COUNTS, load.partitions)
        self.history.idempotent.add("producer")
        self._start_client("drawn_producer", "producer", load, self.history, drawing, module=DRAWN_PROGRAMS)
        self.run_instances(instances)
        self.catch_up_s = CAUGHT_UP_S
        reader = self._start_client(
            "watching_reader", "reader", self._application_topics, self._seen, self.history, module=DRAWN_PROGRAMS
        )
        self._consumers.add(reader)

    def _start_instance(self, name: str, state_dir: str) -> Process:
        args = state_dir, self._replicas, self._drawing, self.history
        return self._start_client("drawn_instance", name, *args, module=DRAWN_PROGRAMS)

    # ── the end ───────────────────────────────────────────────────────────────────────────────────────────────────

    def finish(self) -> list[Violation]:
        """Let the application process what is left, and judge its topics, too."""
        found = super().finish()
        counts = ", ".join(f"{self._last_seen.count(topic)} in {topic}" for topic in self._application_topics)
        self.world.note(f"records: {counts}")
        return [*found, *judge(self._drawing, self.topics[TEXT], self._last_seen)]

    def _has_caught_up(self) -> bool:
        if (known := self._known()) != self._known_before:
            self._expectation.feed(self._seen)
            is_read = self._seen.count(TEXT) >= len(self.history.acknowledged)
            self._known_before, self._is_done = known, is_read and self._expectation.is_complete(self._seen)
        return self._is_done

    def _known(self) -> tuple[int, ...]:
        """Changes when there is more to judge."""
        return len(self.history.acknowledged), *map(self._seen.count, self._application_topics)

    def _read_more(self) -> None:
        ending = self._start(
            "await_ends", self._application_topics, self.history, ENDED_S, module=TRANSACTIONAL_PROGRAMS
        )
        self._await_success(ending)
        reading = self._start("last_reader", self._application_topics, self._last_seen, module=DRAWN_PROGRAMS)
        self._await_success(reading)
