"""Programs that run inside a world: a broker, producers and consumers. ``operator_programs`` has the operator's.

Not in Kafka. A world loads this module once per process, so its imports are the process's own copies.
"""

from __future__ import annotations

import contextlib
import random
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafka_lite.testing.history.history import History, Sent

BROKER_DEFAULTS = {
    "broker.id": "0",
    "zookeeper.connect": "embedded",
    "offsets.topic.num.partitions": "2",
    "offsets.topic.replication.factor": "1",
    "group.initial.rebalance.delay.ms": "0",
    "num.io.threads": "2",
    "num.network.threads": "1",
    "log.index.size.max.bytes": "65536",
    "log.cleaner.dedupe.buffer.size": "2097152",
}
"""Differences from a broker's defaults: small pools, so that a run has no more threads than it needs."""


def broker(properties: Mapping[str, str]) -> None:
    """Run a broker until SIGTERM, as ``kafka-lite server-start`` does. Raises what ``KafkaServer.startup`` raises."""
    from kafka_lite.server.kafka_config import KafkaConfig
    from kafka_lite.server.kafka_server import KafkaServer

    is_over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: is_over.set())
    server = KafkaServer(KafkaConfig(BROKER_DEFAULTS | dict(properties)))
    servers.append(server)
    server.startup()
    is_over.wait()
    server.shutdown()


def zookeeper(folder: str, host: str, port: int) -> None:
    """Run a ZooKeeper until SIGTERM. Raises what ``EmbeddedZooKeeper.start`` raises."""
    from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper

    is_over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: is_over.set())
    server = EmbeddedZooKeeper(folder, host, port, tick_time_ms=500)
    servers.append(server)
    server.start()
    is_over.wait()
    server.shutdown()


servers: list[Any] = []
"""The KafkaServer or EmbeddedZooKeeper of this process. The operator looks at it, for invariants."""


DAMAGED_BACKOFF_S = 2.0
"""How long a consumer waits after a damaged record."""
BACKOFF_S = 0.2
"""How long a program waits after a call that failed."""
PRODUCER_DEFAULTS: dict[str, object] = {
    "linger.ms": 5,
    "retry.backoff.ms": 50,
    "reconnect.backoff.ms": 50,
    "reconnect.backoff.max.ms": 500,
    "request.timeout.ms": 5_000,
    "delivery.timeout.ms": 600_000,
}


@dataclass(frozen=True)
class Load:
    """The load of a producer: which records it sends, and where to."""

    topic: str
    partitions: int = 1
    records_per_s: float = 20.0
    keys: int = 0
    """How many different keys; 0: none."""
    by_key: bool = False
    """Whether its key decides where a record goes, instead of one partition after the other."""


def producer(
    bootstrap: str,
    name: str,
    load: Load,
    history: History,
    configs: Mapping[str, object],
    timestamp: Callable[[], int | None] = lambda: None,
) -> None:
    """Send records with our producer until the history is over, at the load's pace.

    ``timestamp`` gives the next record's time in ms; by default it is the current one.
    """
    from kafka_lite.producer import KafkaProducer, ProducerRecord

    with KafkaProducer({"bootstrap.servers": bootstrap, "client.id": name, **PRODUCER_DEFAULTS, **configs}) as sender:

        def send(sent: Sent, key: bytes | None) -> None:
            def on_completion(metadata: Any, error: Exception | None) -> None:
                if error is None:
                    history.acknowledge(sent, metadata.offset)
                else:
                    history.fail(sent, repr(error))

            record = ProducerRecord(sent.topic, sent.value.encode(), key, sent.partition, timestamp())
            sender.send(record, on_completion)

        send_at_pace(name, load, history, send)
        sender.flush()


def kafka_python_producer(bootstrap: str, name: str, load: Load, history: History, configs: Mapping[str, Any]) -> None:
    """Send records with kafka-python's producer until the history is over, at the load's pace."""
    from kafka import KafkaProducer

    sender = KafkaProducer(bootstrap_servers=bootstrap, client_id=name, **configs)

    def send(sent: Sent, key: bytes | None) -> None:
        future = sender.send(sent.topic, sent.value.encode(), key, partition=sent.partition)
        future.add_callback(lambda metadata: history.acknowledge(sent, metadata.offset))
        future.add_errback(lambda error: history.fail(sent, repr(error)))

    send_at_pace(name, load, history, send)
    sender.flush()
    sender.close()


def send_at_pace(name: str, load: Load, history: History, send: Callable[[Sent, bytes | None], None]) -> None:
    """Give records to ``send``, round robin over the load's partitions unless keys decide."""
    number = 0
    while not history.is_sending_over:
        key = f"key-{random.randrange(load.keys)}" if load.keys else None
        raw_key = None if key is None else key.encode()
        partition = _partition_for(raw_key, number, load)
        sent = history.send(name, load.topic, partition, f"{name}-{number}", key)
        send(sent, raw_key)
        number += 1
        time.sleep(random.expovariate(load.records_per_s))


def _partition_for(key: bytes | None, number: int, load: Load) -> int:
    if not load.by_key or key is None:
        return number % load.partitions
    from kafka_lite.producer.partitioner import partition_for_key

    return partition_for_key(key, load.partitions)


CONSUMER_DEFAULTS: dict[str, object] = {
    "auto.offset.reset": "earliest",
    "enable.auto.commit": False,
    "retry.backoff.ms": 50,
    "reconnect.backoff.ms": 50,
    "reconnect.backoff.max.ms": 500,
    "session.timeout.ms": 10_000,
    "heartbeat.interval.ms": 1_000,
    "max.poll.interval.ms": 60_000,
    "request.timeout.ms": 12_000,
    "fetch.max.wait.ms": 500,
}


def poll_or_back_off(reader: Any) -> list[Any]:
    """The next records of a consumer of ours; none, after a pause, if the poll fails."""
    from kafka_lite.common.errors import KafkaError

    try:
        return list(reader.poll(500))
    except KafkaError:
        time.sleep(BACKOFF_S)
        return []


def consumer(
    bootstrap: str, name: str, group: str, topic: str, history: History, configs: Mapping[str, object]
) -> None:
    """Read a topic as a member of a group with our consumer, and commit what was read, until the history is over.

    A consumer that meets a damaged record raises the same error until it seeks past it. So it is closed, and another
    one tries again.
    """
    assignments = 0
    while not history.is_over:
        assignments = _read(bootstrap, name, group, topic, history, configs, assignments)


def _read(
    bootstrap: str, name: str, group: str, topic: str, history: History, configs: Mapping[str, object], assignments: int
) -> int:
    """Read until the history is over or a record is damaged. ``assignments``: how many there were; returns the same."""
    from kafka_lite.common.errors import KafkaError
    from kafka_lite.consumer import KafkaConsumer
    from kafka_lite.record.record import CorruptRecordError

    reader = KafkaConsumer({
        "bootstrap.servers": bootstrap, "client.id": name, "group.id": group, **CONSUMER_DEFAULTS, **configs,
    })  # fmt: skip
    listener = _assignments_listener(reader, group, history, assignments)
    reader.subscribe([topic], listener)
    while not history.is_over:
        try:
            records = list(reader.poll(500))
        except CorruptRecordError:
            time.sleep(DAMAGED_BACKOFF_S)
            break
        except KafkaError:
            time.sleep(BACKOFF_S)
            continue
        for record in records:
            place = record.topic, record.partition, record.offset
            history.poll(name, listener.assignments, *place, text_of(record.value))
        if records:
            _commit(reader, group, history, records)
    reader.close()
    return int(listener.assignments)


def _assignments_listener(reader: Any, group: str, history: History, assignments: int) -> Any:
    """Tells the history what is assigned to the reader, and where it starts; counts on from ``assignments``."""
    from kafka_lite.common.errors import KafkaError
    from kafka_lite.consumer import ConsumerRebalanceListener

    class Listener(ConsumerRebalanceListener):
        """Counts assignments."""

        def __init__(self) -> None:
            self.assignments = assignments

        def on_partitions_assigned(self, partitions: Any) -> None:
            self.assignments += 1
            coordinator = reader._parts.coordinator  # the only way to the generation
            assert coordinator is not None
            generation = coordinator.generation
            history.assign(group, generation.generation_id, generation.member_id, partitions)
            began = history.now()
            try:
                committed = reader.committed(partitions)
            except KafkaError:
                return
            for at, offset in committed.items():
                history.read_committed(group, at.topic, at.partition, offset and offset.offset, began)

    return Listener()


def _commit(reader: Any, group: str, history: History, records: Sequence[Any]) -> None:
    """Commit the positions after these records, and tell the history whether that succeeded."""
    from kafka_lite.common.errors import KafkaError
    from kafka_lite.consumer import OffsetAndMetadata

    offsets = {record.topic_partition: record.offset + 1 for record in records}
    coordinator = reader._parts.coordinator
    generation = coordinator.generation.generation_id if coordinator is not None else -1
    commits = history.begin_commit(
        group, {(at.topic, at.partition): offset for at, offset in offsets.items()}, generation
    )
    with contextlib.suppress(KafkaError):
        reader.commit_sync({partition: OffsetAndMetadata(offset) for partition, offset in offsets.items()})
        history.end_commit(commits)


def kafka_python_consumer(
    bootstrap: str, name: str, group: str, topic: str, history: History, configs: Mapping[str, Any]
) -> None:
    """Read a topic as a member of a group with kafka-python's consumer, and commit, until the history is over."""
    from kafka import ConsumerRebalanceListener, KafkaConsumer
    from kafka.errors import KafkaError

    from kafka_lite.testing.kafka_python_joins import await_pending_joins

    class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
        """Counts assignments."""

        assignments = 0

        def on_partitions_revoked(self, revoked: Any) -> None:
            del revoked

        def on_partitions_assigned(self, assigned: Any) -> None:
            self.assignments += 1
            generation = reader._coordinator.generation_if_stable()
            if generation is not None:
                history.assign(group, generation.generation_id, generation.member_id, assigned)

    listener = Listener()
    reader = KafkaConsumer(
        bootstrap_servers=bootstrap, client_id=name, group_id=group, auto_offset_reset="earliest",
        enable_auto_commit=False, **configs,
    )  # fmt: skip
    await_pending_joins(reader)
    reader.subscribe([topic], listener=listener)
    while not history.is_over:
        offsets: dict[tuple[str, int], int] = {}
        try:
            polled = reader.poll(timeout_ms=500)
        except KafkaError:
            time.sleep(BACKOFF_S)
            continue
        for at, records in polled.items():
            for record in records:
                place = at.topic, at.partition, record.offset
                history.poll(name, listener.assignments, *place, text_of(record.value))
                offsets[at.topic, at.partition] = record.offset + 1
        if not offsets:
            continue
        commits = history.begin_commit(group, offsets)
        with contextlib.suppress(KafkaError):
            reader.commit()
            history.end_commit(commits)
    reader.close(autocommit=False)


def text_of(data: bytes | None) -> str | None:
    """The text of a key or value."""
    return None if data is None else data.decode()
