"""The history of a run: the calls of the clients and the responses, as evidence for a checker.

Not in Kafka. Plain data without clocks or threads of its own: the simulator writes one, and so does ``make chaos``,
whose clients are real processes. Values are unique: a value says which record is meant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from kafka_lite.testing.history.transactions import Initialization, Outcome, Transaction

UNKNOWN_OFFSET: Final = -1
"""The offset of a record that the broker had stored before, and whose first acknowledgement was lost."""


class Place(NamedTuple):
    """Where a record is."""

    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition} at {self.offset}"


class Sent(NamedTuple):
    """A record that was handed to a producer, and its outcome."""

    producer: str
    topic: str
    partition: int
    value: str
    key: str | None = None


class Stored(NamedTuple):
    """A record in the log."""

    place: Place
    value: str | None
    key: str | None = None


class Polled(NamedTuple):
    """A record that a consumer got; ``assignment`` counts what the consumer was assigned before."""

    consumer: str
    assignment: int
    place: Place
    value: str | None
    moment: int = 0
    """The place of the read in the history's order; 0 if unknown."""


class Assignment(NamedTuple):
    """A partition assigned to a member of a group."""

    group: str
    generation: int
    member: str
    topic: str
    partition: int
    moment: int = 0
    """The place in the history's order; 0 if unknown."""


class Release(NamedTuple):
    """A partition that a member has given up, or knows that it has lost."""

    group: str
    member: str
    topic: str
    partition: int
    moment: int


class StoredGeneration(NamedTuple):
    """A coordinator's record about a group in ``__consumer_offsets``: a generation, or the removal of the group."""

    group: str
    generation: int | None
    """None for the tombstone of a removed group."""
    members: tuple[str, ...] = ()


@dataclass
class Commit:
    """An offset that a group committed, or tried to; ``began`` and ``ended`` are places in the history's order."""

    group: str
    topic: str
    partition: int
    offset: int
    began: int
    ended: int | None = None
    """None if no response said that it succeeded: it failed, or the member was killed before."""
    generation: int = -1
    """The generation of the member that commits; -1 if unknown, or if members of the group have epochs of their own."""
    member: str = ""
    """The member that commits, for the rule about former owners; empty if unknown."""


class CommittedRead(NamedTuple):
    """An offset that the broker returned as committed."""

    group: str
    topic: str
    partition: int
    offset: int | None
    began: int
    ended: int


@dataclass
class History:
    """Everything that happened, in the order in which it was recorded."""

    sent: list[Sent] = field(default_factory=list)
    acknowledged: list[tuple[Sent, Place]] = field(default_factory=list)
    failed: list[tuple[Sent, str]] = field(default_factory=list)
    """Records whose fate is unknown, with the error."""
    polled: list[Polled] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    releases: list[Release] = field(default_factory=list)
    generations: list[StoredGeneration] = field(default_factory=list)
    """All generations of groups in the log at the end, each group's in the order of its partition."""
    commits: list[Commit] = field(default_factory=list)
    committed_reads: list[CommittedRead] = field(default_factory=list)
    stored: list[Stored] = field(default_factory=list)
    """The log at the end: every record of every partition."""
    replicas: dict[int, dict[Place, str | None]] = field(default_factory=dict)
    """Broker -> what is in its replicas' files at the end."""
    hosts: dict[tuple[str, int], list[int]] = field(default_factory=dict)
    """Partition -> the brokers that have a replica of it at the end. A partition that is not in it: all brokers."""
    idempotent: set[str] = field(default_factory=set)
    """Producers that promise each record once, and in order."""
    compacted: set[str] = field(default_factory=set)
    """Topics of which only the newest record of a key must be there."""
    deleted: set[str] = field(default_factory=set)
    """Topics that were deleted."""
    groups: dict[str, str] = field(default_factory=dict)
    """Consumer -> its group."""
    finished_groups: dict[str, str] = field(default_factory=dict)
    """Group -> the topic that it had time to read to the end: its members together must have seen every record."""
    count_copies: Callable[[str, int, int], int] | None = None
    """How many brokers have a record, for a test that can tell."""
    copies: list[tuple[Place, int]] = field(default_factory=list)
    """How many brokers had a record when it was acknowledged."""
    excused: set[tuple[str, int]] = field(default_factory=set)
    """Partitions that may lose records: the last replica in sync was damaged. What they have must still be right."""
    min_copies: int = 1
    """``min.insync.replicas``."""
    configs: dict[str, dict[str, str]] = field(default_factory=dict)
    """Topic -> its configuration after the last alteration."""
    applied_configs: list[tuple[int, str, dict[str, str]]] = field(default_factory=list)
    """Broker, topic, and the configuration of one of the topic's logs at the end."""
    behind: list[tuple[str, int, int, int]] = field(default_factory=list)
    """Topic, partition, how far its group has read after a long wait, and the last acknowledged offset."""
    initializations: list[Initialization] = field(default_factory=list)
    transactions: list[Transaction] = field(default_factory=list)
    transactional: set[str] = field(default_factory=set)
    """Topics that are written in transactions, and whose consumers are all ``read_committed``."""
    visible: list[Stored] = field(default_factory=list)
    """The records that a ``read_committed`` consumer finds in the transactional topics at the end."""
    transformed: dict[str, str] = field(default_factory=dict)
    """Topic -> the topic from whose records its own are made, exactly once. The key of a record is the value of the
    one that it is made from."""
    hanging: list[tuple[Place, int]] = field(default_factory=list)
    """The last stable offset of a partition at the end, and the greater high watermark."""
    is_sending_over: bool = False
    """Producers stop when this is true."""
    is_over: bool = False
    """Clients stop when this is true."""
    _order: int = 0

    def now(self) -> int:
        """The next place in the history's order."""
        self._order += 1
        return self._order

    def send(self, producer: str, topic: str, partition: int, value: str, key: str | None = None) -> Sent:
        """A record was handed to a producer."""
        record = Sent(producer, topic, partition, value, key)
        self.sent.append(record)
        return record

    def acknowledge(self, record: Sent, offset: int) -> None:
        """The producer was told that the record is stored, at this offset or at ``UNKNOWN_OFFSET``."""
        place = Place(record.topic, record.partition, offset)
        self.acknowledged.append((record, place))
        if self.count_copies is not None:
            self.copies.append((place, self.count_copies(*place)))

    def fail(self, record: Sent, error: str) -> None:
        """It was told that it does not know."""
        self.failed.append((record, error))

    def poll(self, consumer: str, assignment: int, topic: str, partition: int, offset: int, value: str | None) -> None:
        """A consumer got a record."""
        self.polled.append(Polled(consumer, assignment, Place(topic, partition, offset), value, self.now()))

    def assign(self, group: str, generation: int, member: str, partitions: Iterable[tuple[str, int]]) -> None:
        """A member of a group was assigned partitions."""
        moment = self.now()
        self.assignments += [Assignment(group, generation, member, topic, at, moment) for topic, at in partitions]

    def release(self, group: str, member: str, partitions: Iterable[tuple[str, int]]) -> None:
        """A member of a group has given up partitions, or has learnt that it has lost them."""
        moment = self.now()
        self.releases += [Release(group, member, topic, number, moment) for topic, number in partitions]

    def begin_commit(self, group: str, offsets: Mapping[tuple[str, int], int], generation: int = -1) -> list[Commit]:
        """A member of a group is about to commit offsets.

        Recorded before the request is sent: the broker may store the offsets although the member is killed meanwhile.
        """
        began = self.now()
        commits = [
            Commit(group, topic, number, offset, began, generation=generation)
            for (topic, number), offset in offsets.items()
        ]
        self.commits += commits
        return commits

    def end_commit(self, commits: Iterable[Commit]) -> None:
        """The broker said that these commits have succeeded."""
        ended = self.now()
        for commit in commits:
            commit.ended = ended

    def read_committed(self, group: str, topic: str, partition: int, offset: int | None, began: int) -> None:
        """The broker returned a committed offset for a request that was sent at ``began``."""
        self.committed_reads.append(CommittedRead(group, topic, partition, offset, began, self.now()))

    # ── transactions ──────────────────────────────────────────────────────────────────────────────────────────────

    def begin_initialization(self, transactional_id: str, producer: str) -> Initialization:
        """A producer is about to initialize its transactional id."""
        initialization = Initialization(transactional_id, producer, self.now())
        self.initializations.append(initialization)
        self.idempotent.add(producer)
        return initialization

    def end_initialization(self, initialization: Initialization) -> None:
        """``init_transactions`` has returned."""
        initialization.ended = self.now()

    def begin_transaction(self, initialization: Initialization, name: str) -> Transaction:
        """A producer has begun a transaction."""
        transaction = Transaction(name, initialization)
        self.transactions.append(transaction)
        return transaction

    def send_in(self, transaction: Transaction, topic: str, partition: int, value: str, key: str | None = None) -> Sent:
        """A record of a transaction was handed to a producer."""
        transaction.values.append(value)
        return self.send(transaction.initialization.producer, topic, partition, value, key)

    def begin_to_commit(self, transaction: Transaction) -> None:
        """The producer is about to ask for the commit."""
        transaction.commit_began = self.now()

    def end_transaction(self, transaction: Transaction, outcome: Outcome) -> None:
        """The producer was told what has become of the transaction."""
        transaction.outcome = Outcome(outcome.value)  # a simulated process has a copy of the class

    # ── the end ───────────────────────────────────────────────────────────────────────────────────────────────────

    def store(self, topic: str, partition: int, offset: int, value: str | None, key: str | None = None) -> None:
        """A record is in the log at the end."""
        self.stored.append(Stored(Place(topic, partition, offset), value, key))

    def store_generation(self, group: str, generation: int | None, members: Iterable[str] = ()) -> None:
        """A generation of a group is in the log at the end, or, without a generation, the removal of the group."""
        self.generations.append(StoredGeneration(group, generation, tuple(members)))

    def show(self, topic: str, partition: int, offset: int, value: str | None, key: str | None = None) -> None:
        """A ``read_committed`` consumer finds a record at the end."""
        self.visible.append(Stored(Place(topic, partition, offset), value, key))

    def readable(self) -> Iterator[Stored]:
        """The records that consumers find at the end: without those of transactions that are not committed."""
        visible = {record.place for record in self.visible}
        return (
            record for record in self.stored if record.place.topic not in self.transactional or record.place in visible
        )

    def store_replica(self, broker: int, values: Mapping[tuple[str, int, int], str | None]) -> None:
        """Note the contents of a broker's files at the end, by topic, partition and offset."""
        self.replicas[broker] = {Place(*place): value for place, value in values.items()}

    def summary(self) -> str:
        """How much happened, in a line."""
        return (
            f"{len(self.sent)} sent, {len(self.acknowledged)} acknowledged, {len(self.failed)} failed, "
            f"{len(self.polled)} polled, {len(self.commits)} commits, {len(self.stored)} stored"
            + self._of_transactions()
        )

    def _of_transactions(self) -> str:
        counts = Counter(transaction.outcome for transaction in self.transactions)
        if not counts:
            return ""
        outcomes = ", ".join(f"{counts[outcome]} {outcome.value}" for outcome in Outcome)
        return f", {len(self.transactions)} transactions ({outcomes}), {len(self.visible)} visible"
