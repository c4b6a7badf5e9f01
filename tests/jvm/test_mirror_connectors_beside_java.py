"""MirrorMaker 2 of Kafka 3.9.1 and ours copy the same topics and groups: what they write is the same, byte for byte."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer, OffsetAndMetadata
from kafka_lite.mirror.connectors.mirror_admin import MirrorAdmin
from kafka_lite.producer import KafkaProducer, ProducerRecord
from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.cluster_client import StoredRecord
from kafka_lite.testing.connect.connect_cluster import ConnectCluster
from tests.integration.test_mirror_connectors import a_mirror, publish
from tests.support.eventually import eventually
from tests.support.java_connect import JavaWorker
from tests.support.mirrored_records import SOME_DAY_MS

pytestmark = [pytest.mark.jvm, pytest.mark.soak, pytest.mark.nightly]

FLUSH_MS = 15_000
"""Longer than the copy of all records takes: so both write the syncs that are not due after the last record."""
SYNCS, CHECKPOINTS = "mm2-offset-syncs.west.internal", "west.checkpoints.internal"
ORDERS, PLAIN = 250, 60
GROUPS = range(0, ORDERS + 1, 10)
Put = Callable[[str, dict[str, object]], None]


@dataclass
class Mirror:
    """One language's workers, and the cluster that they write to."""

    target: Cluster
    put: Put


@pytest.fixture(scope="module")
def source() -> Iterator[Cluster]:
    with Cluster({"group.initial.rebalance.delay.ms": 0}) as cluster:
        cluster.create_topic(
            "orders", 1, {"retention.ms": "-1", "segment.bytes": "1000000", "min.insync.replicas": "1"}
        )
        cluster.create_topic("plain", 3)
        publish(cluster, "orders", range(ORDERS))
        publish(cluster, "plain", range(PLAIN))
        _publish_in_a_transaction(cluster)
        for offset in GROUPS:
            _commit(cluster, f"group-{offset}", offset)
        yield cluster


def _publish_in_a_transaction(cluster: Cluster) -> None:
    """Its marker is an offset without a record: the difference between the clusters changes."""
    with KafkaProducer({"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": "t"}) as producer:
        producer.init_transactions()
        for number in (1, 2):
            producer.begin_transaction()
            producer.send(ProducerRecord("plain", b"in transaction %d" % number, b"t", 0, SOME_DAY_MS))
            producer.commit_transaction()


def _commit(cluster: Cluster, group: str, offset: int) -> None:
    with KafkaConsumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": group}) as consumer:
        consumer.commit_sync({TopicPartition("orders", 0): OffsetAndMetadata(offset, f"note {offset}")})


@pytest.fixture(scope="module")
def mirrors(jvm: None, source: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Mirror]]:
    flush = {"offset.flush.interval.ms": str(FLUSH_MS)}
    folder: Path = tmp_path_factory.mktemp("java")
    with Cluster() as ours, Cluster() as javas, ConnectCluster(ours, props=flush) as connect:
        jars = ("org.apache.kafka:connect-mirror:3.9.1",)
        with JavaWorker("3.9.1", javas.bootstrap_servers, folder, jars=jars, props=flush) as java:
            eventually(lambda: java.ask("GET", "/connectors") == (200, []), timeout_s=120)

            def put(name: str, config: dict[str, object]) -> None:
                texts = {
                    key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in config.items()
                }
                status, answer = java.ask("PUT", f"/connectors/{name}/config", texts)
                assert status == 201, answer

            yield {"ours": Mirror(ours, connect.put_connector), "java": Mirror(javas, put)}


def both(mirrors: dict[str, Mirror], what: Callable[[Cluster], Any]) -> Any:
    """The same of both targets."""
    found = {name: what(mirror.target) for name, mirror in mirrors.items()}
    assert found["ours"] == found["java"]
    return found["ours"]


def by_key(target: Cluster, topic: str) -> dict[bytes | None, list[bytes | None]]:
    """The values of each key, in order: Java's order of the keys is that of a hash map."""
    found: dict[bytes | None, list[bytes | None]] = defaultdict(list)
    for record in sorted(target.records(topic), key=lambda each: each.offset):
        found[record.key].append(record.value)
    return dict(found)


def settings(target: Cluster, topic: str) -> dict[str, str | None]:
    """The topic's own ones."""
    described = MirrorAdmin({"bootstrap.servers": target.bootstrap_servers}).topic_configs([topic])
    return {each.name: each.value for each in described[topic] if each.source == 1}


def offsets(target: Cluster, group: str) -> dict[TopicPartition, OffsetAndMetadata]:
    return MirrorAdmin({"bootstrap.servers": target.bootstrap_servers}).group_offsets(group)


def await_both(mirrors: dict[str, Mirror], topic: str, records: int) -> None:
    """Wait until the topic has so many records, in both targets."""
    for mirror in mirrors.values():
        eventually(partial(has, mirror.target, topic, records), timeout_s=120)


def has(target: Cluster, topic: str, records: int) -> bool:
    return topic in target.topics and len(target.records(topic)) >= records


def in_order(target: Cluster, topic: str) -> list[StoredRecord]:
    return sorted(target.records(topic), key=lambda each: (each.partition, each.offset))


def has_offsets(target: Cluster, group: str) -> bool:
    return offsets(target, group) != {}


def test_both_write_the_same(source: Cluster, mirrors: dict[str, Mirror]) -> None:
    for mirror in mirrors.values():
        config = a_mirror(source, mirror.target, "Source", topics="orders,plain")
        mirror.put("copy", config | {"offset-syncs.topic.location": "target", "offset.lag.max": 40, "tasks.max": 2})
    await_both(mirrors, "west.orders", ORDERS)
    await_both(mirrors, "west.plain", PLAIN + 2)
    for topic in ("west.orders", "west.plain"):
        assert both(mirrors, partial(in_order, topic=topic))
        both(mirrors, partial(settings, topic=topic))
    assert both(mirrors, lambda target: (target.topics["west.orders"], target.topics["west.plain"])) == (1, 3)

    # Of each partition that of the first record and that of the last one, of orders six more, after each 41st record.
    await_both(mirrors, SYNCS, 8 + 2 + 2 + 2)
    assert len(both(mirrors, partial(by_key, topic=SYNCS))) == 4
    both(mirrors, partial(settings, topic=SYNCS))

    for mirror in mirrors.values():
        config = a_mirror(source, mirror.target, "Checkpoint", topics="orders", groups="group-.*")
        own = {"offset-syncs.topic.location": "target", "sync.group.offsets.enabled": True, "tasks.max": 3}
        mirror.put("groups", config | own)
    await_both(mirrors, CHECKPOINTS, len(GROUPS))
    assert len(both(mirrors, partial(by_key, topic=CHECKPOINTS))) == len(GROUPS)
    both(mirrors, partial(settings, topic=CHECKPOINTS))
    for group in (f"group-{offset}" for offset in GROUPS):
        for mirror in mirrors.values():
            eventually(partial(has_offsets, mirror.target, group), timeout_s=120)
        both(mirrors, partial(offsets, group=group))


def test_both_emit_the_same_heartbeats(source: Cluster, mirrors: dict[str, Mirror]) -> None:
    for mirror in mirrors.values():
        config = a_mirror(source, mirror.target, "Heartbeat", **{"heartbeats.topic.replication.factor": 1})
        mirror.put("heartbeats", config)
    await_both(mirrors, "heartbeats", 1)
    assert len(both(mirrors, lambda target: set(by_key(target, "heartbeats")))) == 1
    both(mirrors, lambda target: {len(each.value or b"") for each in target.records("heartbeats")})
    both(mirrors, partial(settings, topic="heartbeats"))
