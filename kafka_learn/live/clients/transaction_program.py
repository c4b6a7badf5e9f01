"""A transactional producer that a reader leads step by step: begin and send, then commit or abort.

Not in Kafka. Its steps come from ``steps``, the queue of its process. One that is killed leaves its transaction open;
the next one has the same transactional id, and the coordinator aborts what the former has begun.
"""

from __future__ import annotations

import queue
from typing import Any, Final, NamedTuple, Protocol

from kafka_learn.live.clients.client_programs import PRODUCER_CONFIGS

TRANSACTIONAL_ID: Final = "reader"
TIMEOUT_MS: Final = 20_000
"""After how long the coordinator aborts a transaction that nobody ends."""
BEGIN, COMMIT, ABORT = "begin", "commit", "abort"
NO_PRODUCER, INITIALIZING, READY, OPEN = "no producer", "initializing", "ready", "open"
COMMITTING, COMMITTED, ABORTING, ABORTED, FAILED = "committing", "committed", "aborting", "aborted", "failed"
"""Where the producer is, by its own account."""
_ENDS: Final = {COMMIT: (COMMITTING, COMMITTED), ABORT: (ABORTING, ABORTED)}


class Step(NamedTuple):
    """Work for the producer; ``begin`` also sends so many records."""

    name: str
    records: int = 0


class Witness(Protocol):
    """Hears what happens to the transaction."""

    def transaction(self, state: str, why: str = "") -> None:
        """The producer has got so far."""
        ...

    def sent_in_transaction(self, value: str, partition: int, offset: int) -> None:
        """A record of the transaction is in the log."""
        ...


steps: queue.Queue[Step] = queue.Queue()
"""Steps for the producer of this process."""


def transactional_producer(bootstrap: str, topic: str, partitions: int, witness: Witness) -> None:
    """Take one step after the other. A step that is not possible now is left out."""
    session = Session(bootstrap, topic, partitions, witness)
    while True:
        session.take(steps.get())


class Session:
    """A producer, and its transaction if one is open. A producer that has failed is replaced at the next beginning."""

    def __init__(self, bootstrap: str, topic: str, partitions: int, witness: Witness) -> None:
        self._bootstrap = bootstrap
        self._topic = topic
        self._partitions = partitions
        self._witness = witness
        self._producer: Any = None
        self._is_open = False
        self._count = 0

    def take(self, step: Step) -> None:
        """Take a step, and tell the witness what has become of it."""
        from kafka_lite.common.errors import KafkaError

        try:
            if step.name == BEGIN:
                self._begin(step.records)
            elif self._is_open:
                self._end(step.name)
        except KafkaError as error:
            self._give_up(error)

    def _begin(self, records: int) -> None:
        if self._producer is None:
            self._witness.transaction(INITIALIZING)
            self._producer = new_producer(self._bootstrap)
            self._producer.init_transactions()
            self._witness.transaction(READY)
        if not self._is_open:
            self._producer.begin_transaction()
            self._is_open = True
        self._witness.transaction(OPEN)
        for _ in range(records):
            self._send()
        self._producer.flush()

    def _send(self) -> None:
        from kafka_lite.producer import ProducerRecord

        self._count += 1
        value = f"transactional-{self._count}"

        def on_completion(metadata: Any, error: Exception | None) -> None:
            if error is None:
                self._witness.sent_in_transaction(value, metadata.partition, metadata.offset)

        record = ProducerRecord(self._topic, value.encode(), partition=self._count % self._partitions)
        self._producer.send(record, on_completion)

    def _end(self, name: str) -> None:
        doing, done = _ENDS[name]
        self._witness.transaction(doing)
        (self._producer.commit_transaction if name == COMMIT else self._producer.abort_transaction)()
        self._is_open = False
        self._witness.transaction(done)

    def _give_up(self, error: Exception) -> None:
        """Close the producer without ending its transaction: the next one, or the coordinator, aborts it."""
        self._witness.transaction(FAILED, repr(error))
        producer, self._producer, self._is_open = self._producer, None, False
        if producer is not None:
            producer.close(0)


def new_producer(bootstrap: str) -> Any:
    """A producer with the reader's transactional id."""
    from kafka_lite.producer import KafkaProducer

    own = {
        "bootstrap.servers": bootstrap, "client.id": "transactional-producer", "transactional.id": TRANSACTIONAL_ID,
        "transaction.timeout.ms": TIMEOUT_MS,
    }  # fmt: skip
    return KafkaProducer({**PRODUCER_CONFIGS, **own})
