"""Programs that run inside a world: a broker, producers and consumers.

Not in Kafka. A world loads this module once per process, so its imports are the process's own copies.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import random
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka_lite.clients.bootstrap_servers import parse_bootstrap_servers

if TYPE_CHECKING:
    from kafka_lite.testing.cluster_client import ClusterClient, StoredRecord
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
DAMAGED = "(a damaged batch)"
"""Stands for the batch of a replica whose checksum is wrong."""
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
            history.poll(name, listener.assignments, *place, _text(record.value))
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
                history.poll(name, listener.assignments, *place, _text(record.value))
                offsets[at.topic, at.partition] = record.offset + 1
        if not offsets:
            continue
        commits = history.begin_commit(group, offsets)
        with contextlib.suppress(KafkaError):
            reader.commit()
            history.end_commit(commits)
    reader.close(autocommit=False)


def create_topic(bootstrap: str, topic: str, partitions: int, replicas: int, configs: Mapping[str, str]) -> None:
    """Create a topic; retries until the controller has created it."""
    _until_it_works(
        bootstrap,
        lambda client: client.create_topic(topic, partitions, dict(configs), replicas),
        "TOPIC_ALREADY_EXISTS",
    )


def alter_topic(bootstrap: str, topic: str, alterations: Sequence[Mapping[str, str]]) -> None:
    """Give a topic one configuration after the other; tries again at once, so that the first one meets its creation."""
    for configs in alterations:
        _until_it_works(bootstrap, functools.partial(_alter, topic=topic, configs=configs), backoff_s=0.005)


def _alter(client: ClusterClient, topic: str, configs: Mapping[str, str]) -> None:
    client.alter_topic(topic, configs)


def create_partitions(bootstrap: str, topic: str, count: int) -> None:
    """Give a topic more partitions; retries until the controller has created them."""
    _until_it_works(bootstrap, lambda client: client.create_partitions(topic, count), "INVALID_PARTITIONS")


def add_replicas(bootstrap: str, topic: str, count: int) -> None:
    """Let each partition of a topic have ``count`` replicas, and keep those it has, as ``reassign-partitions`` can.

    Retries until the controller has begun. Brokers have the numbers of their places in ``bootstrap``.
    """
    brokers = range(len(bootstrap.split(",")))

    def add(client: ClusterClient) -> None:
        for partition, replicas in client.replicas(topic).items():
            others = (broker for broker in brokers if broker not in replicas)
            client.reassign(topic, partition, [*replicas, *others][:count])

    _until_it_works(bootstrap, add)


def delete_topic(bootstrap: str, topic: str) -> None:
    """Delete a topic; retries until the controller has deleted it."""
    _until_it_works(bootstrap, lambda client: client.delete_topic(topic), "UNKNOWN_TOPIC_OR_PARTITION")


def await_replicas(bootstrap: str, topics: Mapping[str, int], replicas: int) -> None:
    """Wait until all brokers agree that each partition has a leader, and all of its replicas in the ISR."""
    for host, port in parse_bootstrap_servers(bootstrap):
        while not _has_all_replicas(host, port, topics, replicas):
            time.sleep(BACKOFF_S)


def _has_all_replicas(host: str, port: int, topics: Mapping[str, int], replicas: int) -> bool:
    from kafka_lite.common.errors import ApiError
    from kafka_lite.testing.cluster_client import ClusterClient

    try:
        with ClusterClient(host, port, "operator") as client:
            found = [client.in_sync_replicas(topic) for topic in topics]
    except (ApiError, OSError):
        return False
    return all(len(in_sync) == replicas for partitions in found for in_sync in partitions.values())


def read_hosts(bootstrap: str, topics: Mapping[str, int], history: History) -> None:
    """Tell the history which brokers have replicas of which partitions."""

    def read(client: ClusterClient, topic: str) -> None:
        history.hosts |= {(topic, number): replicas for number, replicas in client.replicas(topic).items()}

    for topic in topics:
        _until_it_works(bootstrap, functools.partial(read, topic=topic))


def read_everything(bootstrap: str, topics: Mapping[str, int], history: History) -> None:
    """Tell the history what is in the log, every record of every partition."""

    def read(client: ClusterClient, topic: str, partition: int) -> None:
        for record in client.records(topic, partition):
            found[topic, partition, record.offset] = _text(record.value), _text(record.key)

    found: dict[tuple[str, int, int], tuple[str | None, str | None]] = {}
    for topic, partitions in topics.items():
        for partition in range(partitions):
            _until_it_works(bootstrap, functools.partial(read, topic=topic, partition=partition))
    for (topic, partition, offset), (value, key) in found.items():
        history.store(topic, partition, offset, value, key)


def read_generations(bootstrap: str, history: History) -> None:
    """Tell the history what coordinators have stored of groups: every generation, and that a group was removed.

    No record is missing: the cleaner leaves the active segment alone, and ``__consumer_offsets`` never rolls that soon.
    """
    from kafka_lite.common.time import SYSTEM_TIME
    from kafka_lite.common.topic_names import GROUP_METADATA_TOPIC_NAME
    from kafka_lite.coordinator.group.group_metadata_records import read_group_value, read_key
    from kafka_lite.protocol.messages.group_records import GroupMetadataKey

    partitions: dict[int, list[StoredRecord]] = {}

    def count(client: ClusterClient) -> None:
        partitions.update((number, []) for number in range(client.partitions(GROUP_METADATA_TOPIC_NAME)))

    def read(client: ClusterClient, partition: int) -> None:
        partitions[partition] = client.records(GROUP_METADATA_TOPIC_NAME, partition)

    _until_it_works(bootstrap, count)
    for partition in partitions:
        _until_it_works(bootstrap, functools.partial(read, partition=partition))
    for record in itertools.chain(*partitions.values()):
        key = read_key(record.key or b"")
        if not isinstance(key, GroupMetadataKey):
            continue
        if record.value is None:
            history.store_generation(key.group, None)
        else:
            group = read_group_value(key.group, record.value, SYSTEM_TIME)
            history.store_generation(key.group, group.generation_id, group.members)


def read_replica(broker: int, folder: str, topics: Mapping[str, int], history: History) -> None:
    """Tell the history what is in the files of a broker that has stopped."""
    from kafka_lite.record.record import CorruptRecordError
    from kafka_lite.record.records import batches

    found: dict[tuple[str, int, int], str | None] = {}
    for topic, partitions in topics.items():
        for partition in range(partitions):
            for segment in sorted(Path(folder, f"{topic}-{partition}").glob("*.log")):
                for batch in batches(segment.read_bytes()):
                    if batch.is_control:
                        continue
                    try:
                        batch.ensure_valid()
                    except CorruptRecordError:
                        offsets = range(batch.base_offset, batch.next_offset)
                        found |= {(topic, partition, offset): DAMAGED for offset in offsets}
                        continue
                    found |= {(topic, partition, record.offset): _text(record.value) for record in batch.records()}
    history.store_replica(broker, found)


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode()


def _until_it_works(
    bootstrap: str, work: Callable[[ClusterClient], object], enough: str = "", backoff_s: float = BACKOFF_S
) -> None:
    """Try one broker after the other until one can do it; the error ``enough`` means that it is done already."""
    from kafka_lite.common.errors import ApiError
    from kafka_lite.testing.cluster_client import ClusterClient

    for host, port in itertools.cycle(parse_bootstrap_servers(bootstrap)):
        try:
            with ClusterClient(host, port, "operator") as client:
                work(client)
            return
        except ApiError as failure:
            if failure.error.name == enough:
                return
            time.sleep(backoff_s)
        except OSError:
            time.sleep(BACKOFF_S)
