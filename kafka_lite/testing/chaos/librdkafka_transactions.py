"""librdkafka's transactional producer, alone and with its consumer, as programs of client processes.

Not in Kafka.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from kafka_lite.testing.history.history import UNKNOWN_OFFSET, History, Sent
from kafka_lite.testing.history.transactions import Outcome, Transaction
from kafka_lite.testing.simulation.transactional_programs import (
    ABORTED_SHARE,
    TRANSACTION_TIMEOUT_MS,
    TransactionalClient,
    TransactionalLoad,
    TransactionalSession,
    Transformation,
    write_transactions,
)

CALL_S: Final = 30.0
"""How long one transactional call blocks before it is repeated."""
MOST_POLLED: Final = 20
"""Records that are transformed in one transaction."""
CONNECTIONS: Final = {"socket.timeout.ms": 6_000, "reconnect.backoff.ms": 50, "reconnect.backoff.max.ms": 500}


class LibrdkafkaClient:
    """librdkafka's producer."""

    def __init__(self, producer: Producer) -> None:
        self.errors: tuple[type[Exception], ...] = (KafkaException,)
        self._producer = producer

    def initialize(self) -> None:
        """Get a producer id and epoch."""
        _until_it_returns(self._producer.init_transactions)

    def begin(self) -> None:
        """Begin a transaction."""
        self._producer.begin_transaction()

    def send(self, record: Sent, on_completion: Callable[[int | None, str], None]) -> None:
        """Send a record."""

        def on_delivery(error: Any, message: Any) -> None:
            if error is not None:
                on_completion(None, str(error))
                return
            offset = message.offset()
            on_completion(UNKNOWN_OFFSET if offset is None or offset < 0 else offset, "")

        self._producer.produce(
            record.topic, record.value.encode(), record.key, partition=record.partition, on_delivery=on_delivery
        )
        self._producer.poll(0)

    def send_offsets(self, offsets: Mapping[tuple[str, int], int], consumer: Any) -> None:
        """Make the offsets part of the transaction."""
        positions = [TopicPartition(topic, number, offset) for (topic, number), offset in offsets.items()]
        group = consumer.consumer_group_metadata()
        _until_it_returns(lambda timeout_s: self._producer.send_offsets_to_transaction(positions, group, timeout_s))

    def commit(self) -> None:
        """Commit."""
        _until_it_returns(self._producer.commit_transaction)

    def abort(self) -> None:
        """Abort."""
        _until_it_returns(self._producer.abort_transaction)

    def close(self) -> None:
        """Drop what was not sent."""
        self._producer.purge()


def _until_it_returns(call: Callable[[float], Any]) -> None:
    """Repeat a transactional call while its error is retriable. Raises its other errors.

    librdkafka calls ``_CONFLICT`` retriable: another call has not returned. Here it has, by an exception. If a producer
    is fenced during a commit, confluent-kafka raises in the error callback, and librdkafka takes the commit for one
    that has timed out and will be called again. An abort conflicts with it forever.
    """
    while True:
        try:
            call(CALL_S)
            return
        except KafkaException as exception:
            error = exception.args[0]
            if not error.retriable() or error.code() == KafkaError._CONFLICT:
                raise


def _session(
    bootstrap: str, name: str, transactional_id: str, history: History, configs: Mapping[str, Any]
) -> TransactionalSession:
    def new_client(producer: str) -> TransactionalClient:
        return LibrdkafkaClient(Producer({
            "bootstrap.servers": bootstrap, "client.id": producer, "transactional.id": transactional_id,
            "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS, "linger.ms": 5, "request.timeout.ms": 5_000,
            "retry.backoff.ms": 50, "log_level": 3, **CONNECTIONS, **configs,
        }))  # fmt: skip

    return TransactionalSession(name, transactional_id, history, new_client)


def librdkafka_writer(
    bootstrap: str, name: str, load: TransactionalLoad, history: History, configs: Mapping[str, Any]
) -> None:
    """Write transactions with librdkafka's producer until nothing more is to be sent."""
    write_transactions(_session(bootstrap, name, load.transactional_id, history, configs), load, history)


def librdkafka_transformer(
    bootstrap: str, name: str, transformation: Transformation, history: History, configs: Mapping[str, Any]
) -> None:
    """Make a record of the target from each of the source, exactly once, until the history is over.

    ``configs`` are those of the consumer and of the producer.
    """
    assignments = 0

    def on_assign(_consumer: Any, _partitions: Any) -> None:
        nonlocal assignments
        assignments += 1

    def new_reader() -> Consumer:
        reader = Consumer({
            "bootstrap.servers": bootstrap, "client.id": name, "group.id": transformation.group,
            "enable.auto.commit": False, "auto.offset.reset": "earliest", "isolation.level": "read_committed",
            "session.timeout.ms": 10_000, "heartbeat.interval.ms": 1_000, "log_level": 3, **CONNECTIONS, **configs,
        })  # fmt: skip
        reader.subscribe([transformation.source], on_assign=on_assign)
        return reader

    session = _session(bootstrap, name, transformation.transactional_id, history, configs)
    reader = new_reader()
    while not history.is_over:
        messages = _polled(reader)
        for message in messages:
            place = message.topic(), message.partition(), message.offset()
            history.poll(name, assignments, *place, message.value().decode())
        if not messages:
            continue
        outcome = _transform(session, transformation, messages, reader)
        if outcome is Outcome.COMMITTED:
            continue
        assignments += 1
        reader.close()  # the next member begins at the committed offsets
        reader = new_reader()
    session.close()
    reader.close()


def _polled(reader: Consumer) -> list[Any]:
    """Records of one assignment: polled one at a time, since a rebalance begins within a poll."""
    messages: list[Any] = []
    while len(messages) < MOST_POLLED:
        message: Any = reader.poll(0 if messages else 0.5)
        if message is None:
            break
        if message.error() is None:
            messages.append(message)
    return messages


def _transform(
    session: TransactionalSession, transformation: Transformation, messages: list[Any], reader: Consumer
) -> Outcome:
    offsets = {(message.topic(), message.partition()): message.offset() + 1 for message in messages}

    def write(transaction: Transaction) -> None:
        for number, message in enumerate(messages):
            partition, value = random.randrange(transformation.partitions), f"{transaction.name}-{number}"
            session.send(transaction, transformation.target, partition, value, message.value().decode())
        session.send_offsets(offsets, reader)

    wanted = Outcome.ABORTED if random.random() < ABORTED_SHARE else Outcome.COMMITTED
    return session.transact(write, wanted)
