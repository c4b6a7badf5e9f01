"""At most once, at least once, exactly once: four loops, each of them right for some programs. Book 4.4.4.

``Crash``, raised in the middle of the work, stands for a process that dies. Its consumer ends without a commit and
without LeaveGroup; its connections break.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kafka_learn.recording.run_brokers import Crash, in_thread
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.producer import KafkaProducer, ProducerRecord
from kafka_lite.testing.cluster import Cluster

Process = Callable[[ConsumerRecord], None]
"""The user's work on one record; what it does cannot be undone."""
Loop = Callable[[KafkaConsumer, Process, int], None]
RECORDS = 6
RECORDS_PER_POLL = 3
POLL_MS = 20_000
SESSION_MS = 10_000
AFTER_THE_SESSION_S = 11
ISOLATION_LEVELS = ("read_committed", "read_uncommitted")


def at_most_once(consumer: KafkaConsumer, process: Process, polls: int) -> None:
    """Commit first, then work: what was committed and not worked on is lost."""
    for _ in range(polls):
        records = consumer.poll(POLL_MS)
        consumer.commit_sync()
        for record in records:
            process(record)


def at_least_once(consumer: KafkaConsumer, process: Process, polls: int) -> None:
    """Work first, then commit: what was worked on and not committed is repeated."""
    for _ in range(polls):
        records = consumer.poll(POLL_MS)
        for record in records:
            process(record)
        consumer.commit_sync()


class Store:
    """A database that keeps the results, and beside them how far they reach: both or neither."""

    def __init__(self) -> None:
        self.database = sqlite3.connect(":memory:", check_same_thread=False)
        with self.database:
            self.database.execute("create table results (value text)")
            self.database.execute("create table positions (partition text primary key, position integer)")

    def position(self, partition: TopicPartition) -> int:
        """The offset to continue at."""
        row = self.database.execute("select position from positions where partition = ?", [str(partition)]).fetchone()
        return row[0] if row is not None else 0

    @property
    def results(self) -> list[str]:
        """All that was ever stored."""
        return [value for (value,) in self.database.execute("select value from results order by rowid")]

    def add(self, record: ConsumerRecord) -> None:
        """Part of a transaction: the result of one record, and the position after it."""
        position = (str(record.topic_partition), record.offset + 1)
        self.database.execute("insert into results values (?)", [record.value.decode()])
        self.database.execute("insert or replace into positions values (?, ?)", position)


def exactly_once(
    consumer: KafkaConsumer, partition: TopicPartition, store: Store, process: Process, polls: int
) -> None:
    """Work and position in one transaction: a crash undoes both, and the next consumer starts where the store says."""
    consumer.assign([partition])
    consumer.seek(partition, store.position(partition))
    for _ in range(polls):
        records = consumer.poll(POLL_MS)
        with store.database:  # committed at the end of the block, rolled back by whatever is raised in it
            for record in records:
                process(record)
                store.add(record)


def exactly_once_in_kafka(
    consumer: KafkaConsumer, producer: KafkaProducer, output: str, process: Process, polls: int
) -> None:
    """Results and offsets in one transaction of Kafka: a crash aborts both, and the next consumer works again."""
    producer.init_transactions()  # aborts what a producer with the same id has left open
    for _ in range(polls):
        records = consumer.poll(POLL_MS)
        producer.begin_transaction()
        for record in records:
            process(record)
            producer.send(ProducerRecord(output, record.value))
        positions = {each: OffsetAndMetadata(consumer.position(each)) for each in consumer.assignment}
        producer.send_offsets_to_transaction(positions, consumer.group_metadata())
        producer.commit_transaction()


def in_kafka(cluster: Cluster, output: str) -> Loop:
    """The loop above with a producer of its own, which dies with its consumer."""

    def in_kafka(consumer: KafkaConsumer, process: Process, polls: int) -> None:
        producer = KafkaProducer({"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": output})

        def work(record: ConsumerRecord) -> None:
            producer.flush()  # the work takes long: the results before it arrive meanwhile
            process(record)

        try:
            exactly_once_in_kafka(consumer, producer, output, work, polls)
            producer.close()
        finally:
            producer.close(0)

    return in_kafka


def results(cluster: Cluster, output: str, isolation_level: str) -> list[str]:
    """The values that a reader of the output gets."""
    configs = {"bootstrap.servers": cluster.bootstrap_servers, "auto.offset.reset": "earliest"}
    partition, found = TopicPartition(output, 0), list[str]()
    with KafkaConsumer({**configs, "isolation.level": isolation_level}) as reader:
        reader.assign([partition])
        end = reader.end_offsets([partition])[partition]
        while reader.position(partition) < end:
            found += [record.value.decode() for record in reader.poll(500)]
    return found


# ── the scene ───────────────────────────────────────────────────────────────────────────────────────────────────────


def fill(cluster: Cluster, topic: str) -> None:
    """Six records, called 1 to 6 as in the book: so record 4 is the one at offset 3."""
    cluster.create_topic(topic)
    cluster.produce(topic, *(str(number) for number in range(1, RECORDS + 1)))


@contextmanager
def mortal_consumer(cluster: Cluster, name: str, **configs: object) -> Iterator[KafkaConsumer]:
    """A consumer that gets three records per poll. A ``Crash`` in the block ends it as kill -9 would.

    ``configs`` are keys with underscores in the place of dots.
    """
    settings: dict[str, object] = {
        "bootstrap.servers": cluster.bootstrap_servers, "client.id": name, "group.id": "readers",
        "auto.offset.reset": "earliest", "enable.auto.commit": False, "max.poll.records": RECORDS_PER_POLL,
        "session.timeout.ms": SESSION_MS, "retry.backoff.ms": 10, "internal.leave.group.on.close": False,
    }  # fmt: skip
    consumer = KafkaConsumer(settings | {key.replace("_", "."): value for key, value in configs.items()})
    try:
        yield consumer
    except Crash:
        pass
    finally:
        consumer.close(0)


def dying_after(process: Process, value: str) -> Process:
    """The work of a process that dies after this record; "" lets it live."""

    def work(record: ConsumerRecord) -> None:
        process(record)
        if record.value.decode() == value:
            raise Crash

    return work


def play(
    cluster: Cluster, loop: Loop, dies_after: str, on_work: Callable[[str, str], None] | None = None
) -> list[list[str]]:
    """Consumer 1 reads until it dies, consumer 2 reads on; returns which records each of them worked on.

    Each has a thread of its own, of its name. ``on_work(consumer, record)`` is told of every work when it is done.
    """
    topic = loop.__name__.replace("_", "-")
    fill(cluster, topic)
    worked: dict[str, list[str]] = {"consumer 1": [], "consumer 2": []}

    def read(name: str, polls: int, end: str) -> None:
        def work(record: ConsumerRecord) -> None:
            value = record.value.decode()
            worked[name].append(value)
            if on_work is not None:
                on_work(name, value)

        with mortal_consumer(cluster, name.replace(" ", "-"), group_id=topic) as consumer:
            consumer.subscribe([topic])
            loop(consumer, dying_after(work, end), polls)

    in_thread("consumer 1", lambda: read("consumer 1", 2, dies_after))
    cluster.time.advance(seconds=AFTER_THE_SESSION_S)  # the coordinator does not hear from it any more
    in_thread("consumer 2", lambda: read("consumer 2", 1, ""))
    return list(worked.values())
