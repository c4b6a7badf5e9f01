"""Programs that run inside a world: producers of transactions, consume-transform-produce, and readers of the end.

Not in Kafka. ``make chaos`` runs them, too, there also with librdkafka's producer.
"""

from __future__ import annotations

import contextlib
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from kafka_lite.testing.history.transactions import Outcome
from kafka_lite.testing.simulation.programs import BACKOFF_S, CONSUMER_DEFAULTS, PRODUCER_DEFAULTS, poll_or_back_off

if TYPE_CHECKING:
    from kafka_lite.producer import KafkaProducer
    from kafka_lite.testing.history.history import History, Sent
    from kafka_lite.testing.history.transactions import Initialization, Transaction

TRANSACTION_TIMEOUT_MS = 8_000
ABORTED_SHARE, FORGOTTEN_SHARE = 0.2, 0.03
"""How many transactions are aborted, and how many are left open for longer than the timeout before their commit."""
OPEN_SHARE = 0.5
"""How many producers die in the middle of their last transaction."""
FIRST_VERSION_SHARE = 0.4
"""How many producers use transactions of the first version (KIP-890); with one id, both kinds take turns."""
FENCED_S = 4.0
"""How long a producer waits on average before it comes back as another one."""
ENDS_BACKOFF_S = 1.0
"""How often the last stable offsets are read at the end."""
MOST_RECORDS = 6
"""Records of a transaction."""


@dataclass(frozen=True)
class TransactionalLoad:
    """The load of a transactional producer: which records it writes, and where to."""

    transactional_id: str
    topic: str
    partitions: int
    transactions_per_s: float


@dataclass(frozen=True)
class Transformation:
    """A consume-transform-produce: each record of the source becomes one of the target."""

    transactional_id: str
    group: str
    source: str
    target: str
    partitions: int


class TransactionalClient(Protocol):
    """A transactional producer of some library."""

    errors: tuple[type[Exception], ...]
    """The exceptions that its calls raise."""

    def initialize(self) -> None:
        """``init_transactions``."""

    def begin(self) -> None:
        """``begin_transaction``."""

    def send(self, record: Sent, on_completion: Callable[[int | None, str], None]) -> None:
        """Send a record; ``on_completion`` gets its offset, or None and an error."""

    def send_offsets(self, offsets: Mapping[tuple[str, int], int], consumer: Any) -> None:
        """``send_offsets_to_transaction``, with the group of a consumer of the same library."""

    def commit(self) -> None:
        """``commit_transaction``; waits for as long as it takes."""

    def abort(self) -> None:
        """``abort_transaction``; waits for as long as it takes."""

    def close(self) -> None:
        """Close it without ending its transaction."""


class OurClient:
    """Our producer."""

    def __init__(self, producer: KafkaProducer) -> None:
        from kafka_lite.common.errors import KafkaError

        self.errors: tuple[type[Exception], ...] = (KafkaError,)
        self._producer = producer

    def initialize(self) -> None:
        """Get a producer id and epoch."""
        _until_it_returns(self._producer.init_transactions)

    def begin(self) -> None:
        """Begin a transaction."""
        self._producer.begin_transaction()

    def send(self, record: Sent, on_completion: Callable[[int | None, str], None]) -> None:
        """Send a record."""
        from kafka_lite.producer import ProducerRecord

        def completed(metadata: Any, error: Exception | None) -> None:
            on_completion(None if error is not None else metadata.offset, repr(error))

        key = None if record.key is None else record.key.encode()
        self._producer.send(
            ProducerRecord(record.topic, record.value.encode(), key, partition=record.partition), completed
        )

    def send_offsets(self, offsets: Mapping[tuple[str, int], int], consumer: Any) -> None:
        """Make the offsets part of the transaction."""
        from kafka_lite.common.topic_partition import TopicPartition
        from kafka_lite.consumer import OffsetAndMetadata

        positions = {TopicPartition(*partition): OffsetAndMetadata(offset) for partition, offset in offsets.items()}
        self._producer.send_offsets_to_transaction(positions, consumer.group_metadata())

    def commit(self) -> None:
        """Commit."""
        _until_it_returns(self._producer.commit_transaction)

    def abort(self) -> None:
        """Abort."""
        _until_it_returns(self._producer.abort_transaction)

    def close(self) -> None:
        """Close without waiting."""
        self._producer.close(0)


def _until_it_returns(call: Callable[[], None]) -> None:
    """Repeat a transactional call that has timed out. Raises its other errors."""
    from kafka_lite.common.errors import ApiError, Errors

    while True:
        try:
            call()
            return
        except ApiError as error:
            if error.error is not Errors.REQUEST_TIMED_OUT:
                raise


class TransactionalSession:
    """One producer after the other with the same transactional id: each takes the place of one that has failed."""

    def __init__(
        self, name: str, transactional_id: str, history: History, new_client: Callable[[str], TransactionalClient]
    ) -> None:
        self._name = name
        self._transactional_id = transactional_id
        self._history = history
        self._new_client = new_client
        self._client: TransactionalClient | None = None
        self._initialization: Initialization | None = None
        self._producers = self._transactions = 0

    def transact(self, write: Callable[[Transaction], None], wanted: Outcome, wait_s: float = 0.0) -> Outcome:
        """Write a transaction, wait, and commit or abort it. Returns what is known of it at the end.

        ``write`` calls ``send`` and ``send_offsets``.
        """
        client, initialization = self._ready()
        transaction = self._history.begin_transaction(initialization, f"{initialization.producer}-{self._transactions}")
        self._transactions += 1
        try:
            client.begin()
            write(transaction)
            time.sleep(wait_s)
            outcome = self._end(client, transaction, wanted)
        except client.errors:
            outcome = self._abort(client)
        self._history.end_transaction(transaction, outcome)
        if outcome is Outcome.UNKNOWN:
            self.close()
            time.sleep(random.expovariate(1 / FENCED_S))
        return outcome

    def begin(self, write: Callable[[Transaction], None]) -> None:
        """Write a transaction and leave it open."""
        client, initialization = self._ready()
        with contextlib.suppress(*client.errors):
            client.begin()
            write(self._named(initialization))

    def _named(self, initialization: Initialization) -> Transaction:
        name = f"{initialization.producer}-{self._transactions}"
        self._transactions += 1
        return self._history.begin_transaction(initialization, name)

    def send(self, transaction: Transaction, topic: str, partition: int, value: str, key: str | None = None) -> None:
        """Send a record of the transaction."""
        assert self._client is not None
        history = self._history
        sent = history.send_in(transaction, topic, partition, value, key)

        def on_completion(offset: int | None, error: str) -> None:
            if offset is None:
                history.fail(sent, error)
            else:
                history.acknowledge(sent, offset)

        self._client.send(sent, on_completion)

    def send_offsets(self, offsets: Mapping[tuple[str, int], int], consumer: Any) -> None:
        """Make a consumer's offsets part of the transaction."""
        assert self._client is not None
        self._client.send_offsets(offsets, consumer)

    def close(self) -> None:
        """Close the producer. The next transaction gets another one."""
        if self._client is not None:
            self._client.close()
        self._client = self._initialization = None

    def _end(self, client: TransactionalClient, transaction: Transaction, wanted: Outcome) -> Outcome:
        if wanted is Outcome.COMMITTED:
            self._history.begin_to_commit(transaction)
            client.commit()
        else:
            client.abort()
        return wanted

    def _abort(self, client: TransactionalClient) -> Outcome:
        """Abort after an error. Nothing is known of the transaction if that is not possible."""
        try:
            client.abort()
        except client.errors:
            return Outcome.UNKNOWN
        return Outcome.ABORTED

    def _ready(self) -> tuple[TransactionalClient, Initialization]:
        """The producer, initialized; a new one if there is none."""
        while self._client is None or self._initialization is None:
            producer = f"{self._name}.{self._producers}"
            self._producers += 1
            client = self._new_client(producer)
            initialization = self._history.begin_initialization(self._transactional_id, producer)
            try:
                client.initialize()
            except client.errors:
                client.close()
                time.sleep(BACKOFF_S)
                continue
            self._history.end_initialization(initialization)
            self._client, self._initialization = client, initialization
        return self._client, self._initialization


def _our_session(
    bootstrap: str, name: str, transactional_id: str, history: History, configs: Mapping[str, object]
) -> TransactionalSession:
    from kafka_lite.producer import KafkaProducer

    def new_client(producer: str) -> TransactionalClient:
        client = KafkaProducer({
            "bootstrap.servers": bootstrap, "client.id": producer, "transactional.id": transactional_id,
            "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS, **PRODUCER_DEFAULTS, **configs,
        })  # fmt: skip
        if random.Random(f"{producer} {time.monotonic_ns()}").random() < FIRST_VERSION_SHARE:
            use_first_version(client)
        return OurClient(client)

    return TransactionalSession(name, transactional_id, history, new_client)


def use_first_version(producer: KafkaProducer) -> None:
    """Let a producer that has not begun send the requests of librdkafka, whatever the cluster has finalized."""
    assert producer._transactions is not None
    producer._transactions._transaction_version = lambda: 1  # it has no key for that, as Java's has none


def writer(bootstrap: str, name: str, load: TransactionalLoad, history: History, configs: Mapping[str, object]) -> None:
    """Write transactions with our producer until nothing more is to be sent."""
    write_transactions(_our_session(bootstrap, name, load.transactional_id, history, configs), load, history)


def write_transactions(session: TransactionalSession, load: TransactionalLoad, history: History) -> None:
    """Commit most transactions, abort some, and leave a few open for too long."""

    def write(transaction: Transaction) -> None:
        for number in range(random.randint(1, MOST_RECORDS)):
            session.send(transaction, load.topic, random.randrange(load.partitions), f"{transaction.name}-{number}")
            time.sleep(random.expovariate(10 * load.transactions_per_s))

    while not history.is_sending_over:
        drawn = random.random()
        wanted = Outcome.ABORTED if drawn < ABORTED_SHARE else Outcome.COMMITTED
        too_long_s = TRANSACTION_TIMEOUT_MS / 1000 * random.uniform(0.5, 2.0)
        session.transact(write, wanted, too_long_s if drawn > 1 - FORGOTTEN_SHARE else 0.0)
        time.sleep(random.expovariate(load.transactions_per_s))
    if random.random() < OPEN_SHARE:
        session.begin(write)
        time.sleep(BACKOFF_S)
        os._exit(0)  # nobody but the coordinator will end this transaction
    session.close()


def transformer(
    bootstrap: str, name: str, transformation: Transformation, history: History, configs: Mapping[str, object]
) -> None:
    """Make a record of the target from each of the source, exactly once, until the history is over.

    ``configs`` are those of the consumer and of the producer.
    """
    from kafka_lite.consumer import ConsumerRebalanceListener, KafkaConsumer

    class Listener(ConsumerRebalanceListener):
        """Counts assignments, and the times that the consumer went back."""

        assignments = 0

        def on_partitions_assigned(self, partitions: Any) -> None:
            del partitions
            self.assignments += 1

    def new_reader() -> KafkaConsumer:
        reader = KafkaConsumer({
            "bootstrap.servers": bootstrap, "client.id": name, "group.id": transformation.group, **CONSUMER_DEFAULTS,
            "isolation.level": "read_committed", **configs,
        })  # fmt: skip
        reader.subscribe([transformation.source], listener)
        return reader

    session = _our_session(bootstrap, name, transformation.transactional_id, history, configs)
    listener = Listener()
    reader = new_reader()
    while not history.is_over:
        records = poll_or_back_off(reader)
        for record in records:
            place = record.topic, record.partition, record.offset
            history.poll(name, listener.assignments, *place, (record.value or b"").decode())
        if not records:
            continue
        outcome = transform(session, transformation, records, reader)
        if outcome is Outcome.ABORTED:
            listener.assignments += 1
            for record in reversed(records):
                reader.seek(record.topic_partition, record.offset)
        elif outcome is Outcome.UNKNOWN:
            # Asking for the committed offsets is not enough: a coordinator that has been replaced without knowing it
            # returns old ones. It cannot let anybody join the group, since it cannot write.
            reader.close()
            reader = new_reader()
    session.close()
    reader.close()


def transform(
    session: TransactionalSession, transformation: Transformation, records: list[Any], reader: Any
) -> Outcome:
    """Make a record from each and commit the reader's offsets, in one transaction; some are aborted."""
    offsets = {(record.topic, record.partition): record.offset + 1 for record in records}

    def write(transaction: Transaction) -> None:
        for number, record in enumerate(records):
            partition, value = random.randrange(transformation.partitions), f"{transaction.name}-{number}"
            session.send(transaction, transformation.target, partition, value, (record.value or b"").decode())
        session.send_offsets(offsets, reader)

    wanted = Outcome.ABORTED if random.random() < ABORTED_SHARE else Outcome.COMMITTED
    return session.transact(write, wanted)


# ── the end ───────────────────────────────────────────────────────────────────────────────────────────────────────


def await_ends(bootstrap: str, topics: Mapping[str, int], history: History, timeout_s: float) -> None:
    """Wait until all transactions have ended. The history knows afterwards which partitions have open ones."""
    deadline = time.monotonic() + timeout_s
    read_last_stable_offsets(bootstrap, topics, history)
    while history.hanging and time.monotonic() < deadline:
        time.sleep(ENDS_BACKOFF_S)
        read_last_stable_offsets(bootstrap, topics, history)


def read_last_stable_offsets(bootstrap: str, topics: Mapping[str, int], history: History) -> None:
    """Tell the history of partitions whose last stable offset is not their end."""
    from kafka_lite.testing.history.history import Place

    stable, ends = (_ends(bootstrap, topics, isolation) for isolation in ("read_committed", "read_uncommitted"))
    history.hanging = [(Place(*at, offset), ends[at]) for at, offset in stable.items() if offset < ends[at]]


def _ends(bootstrap: str, topics: Mapping[str, int], isolation: str) -> dict[tuple[str, int], int]:
    from kafka_lite.common.errors import KafkaError

    with _reader(bootstrap, isolation) as reader:
        while True:
            try:
                return {tuple(at): offset for at, offset in reader.end_offsets(_partitions(topics)).items()}
            except KafkaError:
                time.sleep(BACKOFF_S)


def read_visible(bootstrap: str, topics: Mapping[str, int], history: History) -> None:
    """Tell the history what a ``read_committed`` consumer finds in all partitions."""
    for record in committed_records(bootstrap, topics):
        value, key = (None if data is None else data.decode() for data in (record.value, record.key))
        history.show(record.topic, record.partition, record.offset, value, key)


def committed_records(bootstrap: str, topics: Mapping[str, int]) -> Iterator[Any]:
    """The records that a ``read_committed`` consumer finds in all partitions, up to their current ends."""
    with _reader(bootstrap, "read_committed") as reader:
        partitions = _partitions(topics)
        reader.assign(partitions)
        reader.seek_to_beginning(partitions)
        ends = _ends(bootstrap, topics, "read_committed")
        while any(reader.position(each) < ends[tuple(each)] for each in partitions):
            yield from poll_or_back_off(reader)


def _reader(bootstrap: str, isolation: str) -> Any:
    from kafka_lite.consumer import KafkaConsumer

    return KafkaConsumer({
        "bootstrap.servers": bootstrap, **CONSUMER_DEFAULTS, "isolation.level": isolation,
    })  # fmt: skip


def _partitions(topics: Mapping[str, int]) -> list[Any]:
    from kafka_lite.common.topic_partition import TopicPartition

    return [TopicPartition(topic, number) for topic, count in topics.items() for number in range(count)]
