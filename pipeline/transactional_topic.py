"""A topic that has the records of every batch exactly once, for readers of committed records.

Kafka 0.10.2: none; Kafka 0.11: clients/.../producer/KafkaProducer.java (sendOffsetsToTransaction) · book 10.3

Spark runs a batch again if it was killed before it entered the batch in the checkpoint's ``commits``. Here the records
of a batch and the number of the next one are one transaction:

    begin   records of batch 7   the group's offset := 8   commit
              └── aborted if this process dies ──┘          └── batch 7 is there, and a second run of it sees 8

The number is a committed offset of a group that nobody is a member of. A producer with the same transactional id, which
is that of the query, aborts what its killed predecessor has left open, and fences a predecessor that is still alive.

A transaction belongs to one producer, so all records of a batch pass through the driver: results, not raw data. If the
offset has expired (``offsets.retention.minutes`` after the last batch), the batch in doubt is sent again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from pipeline.sinks import ParquetTable, Records

_TIMEOUT_S = 60.0
_QUEUE_PAUSE_S = 0.05
_CLIENT = {"log_level": 2}  # errors are raised; the client's threads would print them into the live view, too
_CONFIG = {**_CLIENT, "partitioner": "murmur2_random", "compression.type": "lz4", "linger.ms": 5}


class Record(NamedTuple):
    """One record to send."""

    key: bytes | str | None
    value: bytes | str | None
    timestamp_ms: int
    headers: Sequence[tuple[str, bytes]]


class TransactionalTopic:
    """Publishes batches of one query, each in one transaction. ``transactional_id`` must be that query's alone."""

    def __init__(self, bootstrap_servers: str, topic: str, transactional_id: Callable[[], str]) -> None:
        self._servers = bootstrap_servers
        self._topic = topic
        self._transactional_id = transactional_id
        self._producer: Producer | None = None
        self._group: Any = None
        self._next_batch = 0

    def write_batch(self, records: DataFrame, batch_id: int) -> None:
        """Publish rows with the columns ``key``, ``value``, ``headers`` and ``timestamp``; for ``foreachBatch``."""
        columns = records.select("key", "value", F.unix_millis("timestamp").alias("timestamp_ms"), "headers")
        self.publish(_records_of(columns), batch_id)

    def publish(self, records: Iterable[Record], batch_id: int) -> None:
        """Send a batch and commit it, unless the topic has it. A batch without records has no transaction.

        Raises ``KafkaException``; then the transaction is aborted, and nothing of the batch is visible.
        """
        producer = self._producer or self._begin()
        if batch_id < self._next_batch:
            return
        first = next(iterator := iter(records), None)
        if first is None:
            return
        try:
            producer.begin_transaction()
            self._send(producer, first)
            for record in iterator:
                self._send(producer, record)
            position = TopicPartition(self._topic, 0, batch_id + 1)
            producer.send_offsets_to_transaction([position], self._group, _TIMEOUT_S)
            producer.commit_transaction(_TIMEOUT_S)
        except BaseException:
            self._give_up(producer)
            raise
        self._next_batch = batch_id + 1

    def _begin(self) -> Producer:
        """Abort what a killed predecessor has left, and read which batches it has committed."""
        transactional_id = self._transactional_id()
        settings = {"bootstrap.servers": self._servers, "transactional.id": transactional_id}
        producer = Producer({**_CONFIG, **settings})
        producer.init_transactions(_TIMEOUT_S)
        consumer = Consumer({**_CLIENT, "bootstrap.servers": self._servers, "group.id": transactional_id})
        try:
            (position,) = consumer.committed([TopicPartition(self._topic, 0)], _TIMEOUT_S)
            self._group = consumer.consumer_group_metadata()
        finally:
            consumer.close()
        if position.error is not None:
            raise KafkaException(position.error)
        self._next_batch = max(position.offset, 0)  # below 0: none was committed
        self._producer = producer
        return producer

    def _send(self, producer: Producer, record: Record) -> None:
        while True:
            try:
                producer.produce(
                    self._topic, record.value, record.key, timestamp=record.timestamp_ms, headers=[*record.headers]
                )
                producer.poll(0)
                return
            except BufferError:
                producer.poll(_QUEUE_PAUSE_S)

    def _give_up(self, producer: Producer) -> None:
        """Abort the transaction if the broker lets us. The next attempt has a new producer, which would do it, too."""
        self._producer = None
        with suppress(KafkaException):
            producer.abort_transaction(_TIMEOUT_S)


class TransactionallyPublishedTable:
    """A table whose batches are also written to a topic, exactly once, from the committed files."""

    def __init__(self, table: ParquetTable, topic: TransactionalTopic, to_records: Records) -> None:
        self.table = table
        self._topic = topic
        self._to_records = to_records

    def write_batch(self, rows: DataFrame, batch_id: int) -> None:
        """Write the batch to the table, then to the topic; for ``foreachBatch``. Both have it once."""
        self.table.write_batch(rows, batch_id)
        folder = self.table.batch_folder(batch_id)
        if folder.exists():
            self._topic.write_batch(self._to_records(rows.sparkSession.read.parquet(str(folder))), batch_id)


def id_of_query(job: str, checkpoint: Path) -> Callable[[], str]:
    """The transactional id of the query with that checkpoint, once Spark has written its ``metadata``."""

    def read() -> str:
        query_id = json.loads((checkpoint / "metadata").read_text(encoding="utf-8"))["id"]
        return f"pipeline-{job}-{query_id}"

    return read


def _records_of(rows: DataFrame) -> Iterator[Record]:
    for row in rows.toLocalIterator():
        headers = [(each["key"], bytes(each["value"])) for each in row["headers"] or ()]
        yield Record(_bytes(row["key"]), _bytes(row["value"]), row["timestamp_ms"], headers)


def _bytes(value: bytearray | str | None) -> bytes | str | None:
    return bytes(value) if isinstance(value, bytearray) else value
