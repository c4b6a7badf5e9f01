"""The simulator's workload of transactions: producers (one a zombie), a consume-transform-produce loop, readers.

Not in Kafka.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kafka_lite.testing.history.greatest_offsets import GreatestOffsets
from kafka_lite.testing.history.transactions import Outcome
from kafka_lite.testing.simulation.transactional_programs import TransactionalLoad, Transformation
from kafka_lite.testing.simulation.workload import Workload

TRANSACTIONAL_PROGRAMS: Final = "kafka_lite.testing.simulation.transactional_programs:"
SOURCE: Final = "transfers"
TARGET: Final = "statements"
READ_COMMITTED: Final = {"isolation.level": "read_committed"}
ENDED_S: Final = 120.0
"""How long open transactions have to end: they time out sooner, even if the coordinator moves meanwhile."""


def transaction_properties(brokers: int) -> dict[str, str]:
    """The broker properties of a workload with transactions."""
    replicas = min(brokers, 3)
    return {
        "transaction.state.log.num.partitions": str(replicas),
        "transaction.state.log.replication.factor": str(replicas),
        "transaction.state.log.min.isr": str((replicas + 1) // 2),
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
    }


class TransactionalWorkload(Workload):
    """Two topics: the records of the first are written in transactions; from each, one of the second is made."""

    _known_before: tuple[int, ...] = ()
    _is_done = False
    """Whether the groups had caught up by then."""

    def start_drawn_clients(self) -> None:
        """Start the producers, transformers and readers that the seed draws."""
        random, history = self.random, self.history
        partitions = random.randint(1, 3)
        for topic in (SOURCE, TARGET):
            self.create_topic(topic, partitions)
            history.transactional.add(topic)
        rate = 10 ** random.uniform(-0.5, 0.5)
        for number in range(random.randint(1, 2)):
            self.write_transactions(f"writer-{number}", TransactionalLoad(f"id-{number}", SOURCE, partitions, rate))
        if random.random() < 0.5:
            self.write_transactions("zombie", TransactionalLoad("id-0", SOURCE, partitions, rate))
        for number in range(random.randint(0, 2)):
            transformation = Transformation(f"transformer-id-{number}", "transformers", SOURCE, TARGET, partitions)
            self.transform(f"transformer-{number}", transformation)
        self.consume("source-reader", "source-readers", SOURCE, **READ_COMMITTED)
        self.consume("target-reader", "target-readers", TARGET, **READ_COMMITTED)

    def write_transactions(self, name: str, load: TransactionalLoad) -> None:
        """Start a producer that commits and aborts transactions until nothing more is to be sent."""
        writer = self._start_client("writer", name, load, self.history, {}, module=TRANSACTIONAL_PROGRAMS)
        self._successors[writer] = lambda: self.write_transactions(f"{name}+", load)

    def transform(self, name: str, transformation: Transformation) -> None:
        """Start a consume-transform-produce."""
        self.history.transformed[transformation.target] = transformation.source
        transformer = self._start_client(
            "transformer", name, transformation, self.history, {}, module=TRANSACTIONAL_PROGRAMS
        )
        self._reads_to_the_end(transformer, lambda: self.transform(f"{name}+", transformation))

    # ── the end ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _to_be_read(self) -> Mapping[tuple[str, int], int]:
        committed = self._committed_values()
        places = [place for record, place in self.history.acknowledged if record.value in committed]
        return GreatestOffsets(places, lambda place: place).now()

    def _committed_values(self) -> set[str]:
        return {
            value
            for transaction in self.history.transactions
            if transaction.outcome is Outcome.COMMITTED
            for value in transaction.values
        }

    def _has_caught_up(self) -> bool:
        if (known := self._known()) != self._known_before:
            self._known_before, self._is_done = known, not self._behind() and not self._untransformed()
        return self._is_done

    def _known(self) -> tuple[int, ...]:
        """Changes when the history has new evidence of whether the groups have caught up."""
        history = self.history
        committed = sum(transaction.outcome is Outcome.COMMITTED for transaction in history.transactions)
        return len(history.polled), len(history.acknowledged), len(history.sent), committed

    def _untransformed(self) -> bool:
        """Whether a committed record has not yet gone into the target and from there to a consumer."""
        history = self.history
        polled = {polled.value for polled in history.polled}
        made = {record.key for record in history.sent if record.value in polled}
        committed = self._committed_values()
        return any(
            record.value in committed and record.value not in made
            for source in history.transformed.values()
            for record in history.sent
            if record.topic == source
        )

    def _read_more(self) -> None:
        self._read("await_ends", ENDED_S)
        self._read("read_visible")

    def _read(self, program: str, *args: object) -> None:
        reading = self._start(program, dict(self.topics), self.history, *args, module=TRANSACTIONAL_PROGRAMS)
        self._await_success(reading)
