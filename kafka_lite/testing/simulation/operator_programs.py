"""Programs of the operator: what is done to topics, and what the brokers have at the end, as evidence for the history.

Not in Kafka. Like ``programs``, a world loads this module once per process.
"""

from __future__ import annotations

import functools
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_lite.clients.bootstrap_servers import parse_bootstrap_servers
from kafka_lite.testing.simulation.programs import BACKOFF_S, text_of

if TYPE_CHECKING:
    from kafka_lite.testing.cluster_client import ClusterClient, StoredRecord
    from kafka_lite.testing.history.history import History

DAMAGED = "(a damaged batch)"
"""Stands for the batch of a replica whose checksum is wrong."""


def create_topic(bootstrap: str, topic: str, partitions: int, replicas: int, configs: Mapping[str, str]) -> None:
    """Create a topic; retries until the controller has created it."""
    until_it_works(
        bootstrap,
        lambda client: client.create_topic(topic, partitions, dict(configs), replicas),
        "TOPIC_ALREADY_EXISTS",
    )


def create_placed_topic(bootstrap: str, topic: str, replicas: Sequence[Sequence[int]]) -> None:
    """Create a topic; partition p has its replicas on the brokers ``replicas[p]``, of which the first one leads.

    Retries until the controller has created it.
    """
    until_it_works(bootstrap, lambda client: client.create_placed_topic(topic, replicas), "TOPIC_ALREADY_EXISTS")


def alter_topic(bootstrap: str, topic: str, alterations: Sequence[Mapping[str, str]]) -> None:
    """Give a topic one configuration after the other; tries again at once, so that the first one meets its creation."""
    for configs in alterations:
        until_it_works(bootstrap, functools.partial(_alter, topic=topic, configs=configs), backoff_s=0.005)


def _alter(client: ClusterClient, topic: str, configs: Mapping[str, str]) -> None:
    client.alter_topic(topic, configs)


def set_topic_config(bootstrap: str, topic: str, name: str, value: str) -> None:
    """Give a topic one setting, and leave its others; retries until the controller has it."""
    until_it_works(bootstrap, lambda client: client.set_topic_config(topic, name, value))


def create_partitions(bootstrap: str, topic: str, count: int) -> None:
    """Give a topic more partitions; retries until the controller has created them."""
    until_it_works(bootstrap, lambda client: client.create_partitions(topic, count), "INVALID_PARTITIONS")


def add_replicas(bootstrap: str, topic: str, count: int) -> None:
    """Let each partition of a topic have ``count`` replicas, and keep those it has, as ``reassign-partitions`` can.

    Retries until the controller has begun. Brokers have the numbers of their places in ``bootstrap``.
    """
    brokers = range(len(bootstrap.split(",")))

    def add(client: ClusterClient) -> None:
        for partition, replicas in client.replicas(topic).items():
            others = (broker for broker in brokers if broker not in replicas)
            client.reassign(topic, partition, [*replicas, *others][:count])

    until_it_works(bootstrap, add)


def delete_topic(bootstrap: str, topic: str) -> None:
    """Delete a topic; retries until the controller has deleted it."""
    until_it_works(bootstrap, lambda client: client.delete_topic(topic), "UNKNOWN_TOPIC_OR_PARTITION")


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
        until_it_works(bootstrap, functools.partial(read, topic=topic))


def read_everything(bootstrap: str, topics: Mapping[str, int], history: History) -> None:
    """Tell the history what is in the log, every record of every partition."""

    def read(client: ClusterClient, topic: str, partition: int) -> None:
        for record in client.records(topic, partition):
            found[topic, partition, record.offset] = text_of(record.value), text_of(record.key)

    found: dict[tuple[str, int, int], tuple[str | None, str | None]] = {}
    for topic, partitions in topics.items():
        for partition in range(partitions):
            until_it_works(bootstrap, functools.partial(read, topic=topic, partition=partition))
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

    until_it_works(bootstrap, count)
    for partition in partitions:
        until_it_works(bootstrap, functools.partial(read, partition=partition))
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
                    found |= {(topic, partition, record.offset): text_of(record.value) for record in batch.records()}
    history.store_replica(broker, found)


def until_it_works(
    bootstrap: str, work: Callable[[ClusterClient], object], enough: str = "", backoff_s: float = BACKOFF_S
) -> None:
    """Try one broker after the other until one can do it. The error ``enough`` means that it is done already."""
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
