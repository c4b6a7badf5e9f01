"""The program of a client process: a producer or a consumer, ours or librdkafka's, that records the responses it gets.

Not in Kafka, whose system tests use VerifiableProducer and VerifiableConsumer for this. The clients here also run in
the simulator. SIGTERM ends a client: a producer waits for its acknowledgements, a consumer leaves its group.
"""

from __future__ import annotations

import contextlib
import json
import random
import signal
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from kafka_lite.testing.chaos.history_files import HistoryWriter
from kafka_lite.testing.history.history import UNKNOWN_OFFSET, History, Sent
from kafka_lite.testing.simulation import programs, transactional_programs
from kafka_lite.testing.simulation.programs import Load
from kafka_lite.testing.simulation.transactional_programs import TransactionalLoad, Transformation

MOST_POLLED: Final = 100
"""Records that a consumer of librdkafka gets before it commits."""


@dataclass(frozen=True)
class ClientSpec:
    """The settings that a client process is started with."""

    name: str
    is_producer: bool
    library: str
    """``ours`` or ``librdkafka``."""
    topic: str
    partitions: int
    bootstrap: str
    history_file: str = ""
    group: str = ""
    records_per_s: float = 20.0
    seed: str = ""
    configs: Mapping[str, Any] = field(default_factory=dict)
    transactional_id: str = ""
    """If given, the client writes in transactions."""
    target: str = ""
    """The topic to which a consumer with a transactional id writes one record for each that it gets."""

    def to_json(self) -> str:
        """The argument of the process."""
        return json.dumps(asdict(self))


def librdkafka_producer(bootstrap: str, name: str, load: Load, history: History, configs: Mapping[str, Any]) -> None:
    """Send records with librdkafka's producer until the history is over, at the load's pace.

    After a fatal error, with another producer, as its documentation asks for. An idempotent one has it when it gets
    back to a leader that was cut off and does not know that it was replaced: to that one, what follows the records that
    its successor has acknowledged is out of order.
    """
    from confluent_kafka import KafkaError, KafkaException, Producer

    def new_producer() -> Any:
        return Producer({
            "bootstrap.servers": bootstrap, "client.id": name, "acks": "all", "linger.ms": 5,
            "request.timeout.ms": 5_000, "socket.timeout.ms": 6_000, "message.timeout.ms": 600_000,
            "retry.backoff.ms": 50, "reconnect.backoff.ms": 50, "reconnect.backoff.max.ms": 500, "log_level": 3,
            **configs,
        })  # fmt: skip

    producer = new_producer()

    def send(sent: Sent, key: bytes | None) -> None:
        def on_delivery(error: Any, message: Any) -> None:
            if error is not None:
                history.fail(sent, str(error))
                return
            offset = message.offset()  # None or negative if the broker had stored the batch before
            history.acknowledge(sent, UNKNOWN_OFFSET if offset is None or offset < 0 else offset)

        nonlocal producer
        while True:
            try:
                producer.produce(
                    sent.topic, sent.value.encode(), key, partition=sent.partition, on_delivery=on_delivery
                )
                break
            except BufferError:
                producer.poll(0.1)
            except KafkaException as error:
                if error.args[0].code() != KafkaError._FATAL:
                    raise
                producer.flush()  # all records that it still holds fail
                producer = new_producer()
        producer.poll(0)

    programs.send_at_pace(name, load, history, send)
    producer.flush()


def librdkafka_consumer(
    bootstrap: str, name: str, group: str, topic: str, history: History, configs: Mapping[str, Any]
) -> None:
    """Read a topic as a member of a group with librdkafka's consumer, and commit, until the history is over."""
    from confluent_kafka import Consumer, KafkaException, TopicPartition

    assignments = 0

    def on_assign(consumer: Any, partitions: Any) -> None:
        nonlocal assignments
        assignments += 1
        began = history.now()
        with contextlib.suppress(KafkaException):
            for at in consumer.committed(partitions, timeout=5):
                if at.error is None:
                    history.read_committed(group, at.topic, at.partition, at.offset if at.offset >= 0 else None, began)

    consumer = Consumer({
        "bootstrap.servers": bootstrap, "client.id": name, "group.id": group, "enable.auto.commit": False,
        "auto.offset.reset": "earliest", "session.timeout.ms": 10_000, "heartbeat.interval.ms": 1_000,
        "socket.timeout.ms": 6_000, "reconnect.backoff.ms": 50, "reconnect.backoff.max.ms": 500, "log_level": 3,
        **configs,
    })  # fmt: skip
    consumer.subscribe([topic], on_assign=on_assign)
    while not history.is_over:
        offsets: dict[tuple[str, int], int] = {}
        for _ in range(MOST_POLLED):  # one at a time: a batch could begin with records of the last assignment
            message: Any = consumer.poll(0 if offsets else 0.5)
            if message is None:
                break
            if message.error() is None:
                number, offset = message.partition(), message.offset()
                history.poll(name, assignments, topic, number, offset, message.value().decode())
                offsets[topic, number] = offset + 1
        if not offsets:
            continue
        commits = history.begin_commit(group, offsets)
        with contextlib.suppress(KafkaException):
            wanted = [TopicPartition(topic, number, offset) for (topic, number), offset in offsets.items()]
            if all(done.error is None for done in consumer.commit(offsets=wanted, asynchronous=False)):
                history.end_commit(commits)
    consumer.close()


def run(spec: ClientSpec) -> None:
    """Run a client until SIGTERM."""
    history = HistoryWriter(Path(spec.history_file))
    random.seed(spec.seed)
    signal.signal(signal.SIGTERM, lambda *_: history.end())
    if spec.transactional_id:
        _run_transactional(spec, history)
        return
    ours = spec.library == "ours"
    if spec.is_producer:
        load = Load(spec.topic, spec.partitions, spec.records_per_s)
        produce = programs.producer if ours else librdkafka_producer
        produce(spec.bootstrap, spec.name, load, history, spec.configs)
    else:
        consume = programs.consumer if ours else librdkafka_consumer
        consume(spec.bootstrap, spec.name, spec.group, spec.topic, history, spec.configs)


def _run_transactional(spec: ClientSpec, history: History) -> None:
    from kafka_lite.testing.chaos.librdkafka_transactions import librdkafka_transformer, librdkafka_writer

    ours = spec.library == "ours"
    if spec.is_producer:
        load = TransactionalLoad(spec.transactional_id, spec.topic, spec.partitions, spec.records_per_s)
        write = transactional_programs.writer if ours else librdkafka_writer
        write(spec.bootstrap, spec.name, load, history, spec.configs)
    else:
        transformation = Transformation(spec.transactional_id, spec.group, spec.topic, spec.target, spec.partitions)
        transform = transactional_programs.transformer if ours else librdkafka_transformer
        transform(spec.bootstrap, spec.name, transformation, history, spec.configs)


if __name__ == "__main__":
    run(ClientSpec(**json.loads(sys.argv[1])))
