"""MirrorMaker 2 between two clusters: records and a group move, and the group continues where it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api.connector import ConnectorContext
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.mirror.connectors.mirror_admin import MirrorAdmin
from kafka_lite.mirror.connectors.source.mirror_source_connector import MirrorSourceConnector
from kafka_lite.mirror.dedicated.dedicated_mirror_maker import DedicatedMirrorMaker
from kafka_lite.mirror.dedicated.mirror_maker_config import MirrorMakerConfig
from kafka_lite.producer import KafkaProducer, ProducerRecord
from kafka_lite.security.authorizer.acl_binding import (
    AccessControlEntry,
    AclBinding,
    AclOperation,
    AclPermissionType,
)
from kafka_lite.security.authorizer.resource_pattern import ResourcePattern, ResourceType
from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.connect.connect_cluster import ConnectCluster
from tests.support.eventually import eventually
from tests.support.mirrored_records import SOME_DAY_MS

JAVA = "org.apache.kafka.connect.mirror"
STORAGES = ("config.storage", "offset.storage", "status.storage")
BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"


@pytest.fixture(scope="module")
def source() -> Iterator[Cluster]:
    with Cluster({"group.initial.rebalance.delay.ms": 0}) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def target() -> Iterator[Cluster]:
    with Cluster({"group.initial.rebalance.delay.ms": 0}) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def connect(target: Cluster) -> Iterator[ConnectCluster]:
    with ConnectCluster(target, props={"offset.flush.interval.ms": 200}) as connect:
        yield connect


def a_mirror(source: Cluster, target: Cluster, kind: str, **props: object) -> dict[str, object]:
    """The configuration of a connector that looks once a second."""
    return {
        "connector.class": f"{JAVA}.Mirror{kind}Connector",
        "source.cluster.alias": "west",
        "target.cluster.alias": "east",
        "source.cluster.bootstrap.servers": source.bootstrap_servers,
        "target.cluster.bootstrap.servers": target.bootstrap_servers,
        "key.converter": BYTES, "value.converter": BYTES, "header.converter": BYTES,
        "replication.factor": 1,
        "checkpoints.topic.replication.factor": 1,
        "offset-syncs.topic.replication.factor": 1,
        "refresh.topics.interval.seconds": 1,
        "refresh.groups.interval.seconds": 1,
        "emit.checkpoints.interval.seconds": 1,
        "sync.group.offsets.interval.seconds": 1,
        **props,
    }  # fmt: skip


def publish(cluster: Cluster, topic: str, numbers: range) -> None:
    """Records of all kinds: tombstones, headers with and without values, times of their own."""
    partitions = cluster.topics[topic]
    with KafkaProducer({"bootstrap.servers": cluster.bootstrap_servers}) as producer:
        for number in numbers:
            text = b"%d" % number
            headers = [("n", text), ("none", None)]
            value = None if number % 10 == 9 else text
            producer.send(ProducerRecord(topic, value, text, number % partitions, SOME_DAY_MS + number, headers))


def contents(cluster: Cluster, topic: str) -> list[dict[bytes | None, tuple[object, ...]]]:
    """All records of each partition by their keys, in order. One that came twice, after a rebalance, counts once."""
    found: list[dict[bytes | None, tuple[object, ...]]] = [{} for _ in range(cluster.topics[topic])]
    for record in sorted(cluster.records(topic), key=lambda each: each.offset):
        found[record.partition].setdefault(record.key, (record.value, record.timestamp_ms, record.headers))
    return found


def has_copied(source: Cluster, topic: str, target: Cluster, copy: str) -> bool:
    """Whether the copy has everything, in the same partitions and order."""
    if target.topics.get(copy) != source.topics[topic]:
        return False
    here, there = contents(source, topic), contents(target, copy)
    return here == there and list(map(list, here)) == list(map(list, there))


def a_group(cluster: Cluster, group: str) -> dict[str, object]:
    return {
        "bootstrap.servers": cluster.bootstrap_servers, "group.id": group, "auto.offset.reset": "earliest",
        "enable.auto.commit": "false",
    }  # fmt: skip


def read_until(cluster: Cluster, topic: str, group: str, is_enough: Callable[[list[bytes]], bool]) -> list[bytes]:
    """The keys that a member of a group reads and commits."""
    keys: list[bytes] = []
    with KafkaConsumer(a_group(cluster, group) | {"max.poll.records": 50}) as consumer:
        consumer.subscribe([topic])
        while not is_enough(keys):
            keys.extend(record.key for record in consumer.poll(1000))
        consumer.commit_sync()
    return keys


def committed(cluster: Cluster, group: str, topic: str) -> list[int]:
    partitions = [TopicPartition(topic, number) for number in range(cluster.topics[topic])]
    with KafkaConsumer(a_group(cluster, group)) as consumer:
        found = consumer.committed(partitions)
    return [-1 if (each := found[of]) is None else each.offset for of in partitions]


def test_a_group_fails_over_and_skips_nothing(source: Cluster, target: Cluster, connect: ConnectCluster) -> None:
    source.create_topic("orders", 2, {"retention.ms": "-1", "segment.bytes": "1000000"})
    publish(source, "orders", range(400))
    connect.put_connector("copy", a_mirror(source, target, "Source", topics="orders.*", **{"tasks.max": 2}))
    connect.await_running("copy", tasks=2)
    eventually(lambda: has_copied(source, "orders", target, "west.orders"))
    settings = MirrorAdmin({"bootstrap.servers": target.bootstrap_servers}).topic_configs(["west.orders"])
    assert ("segment.bytes", "1000000") in {(each.name, each.value) for each in settings["west.orders"]}

    groups = a_mirror(source, target, "Checkpoint", topics="orders", groups="billing")
    connect.put_connector("groups", groups | {"sync.group.offsets.enabled": True})
    connect.await_running("groups", tasks=0)
    before = read_until(source, "orders", "billing", lambda keys: len(keys) >= 250)
    connect.await_running("groups", tasks=1)
    publish(source, "orders", range(400, 500))
    eventually(lambda: min(committed(target, "billing", "west.orders")) > 0)
    eventually(lambda: has_copied(source, "orders", target, "west.orders"))
    assert all(
        there <= here
        for there, here in zip(
            committed(target, "billing", "west.orders"), committed(source, "billing", "orders"), strict=True
        )
    )
    everything = {b"%d" % number for number in range(500)}
    after = read_until(target, "west.orders", "billing", lambda keys: everything <= {*before, *keys})
    assert len(after) < 500, "it reads again what came after the last offset sync, not everything"
    connect.delete_connector("groups")
    connect.delete_connector("copy")


def test_topics_come_and_grow_under_their_own_names(source: Cluster, target: Cluster, connect: ConnectCluster) -> None:
    config = a_mirror(source, target, "Source", topics="plain.*")
    connect.put_connector("plain", config | {"replication.policy.class": f"{JAVA}.IdentityReplicationPolicy"})
    source.create_topic("plain", 1)
    publish(source, "plain", range(10))
    eventually(lambda: has_copied(source, "plain", target, "plain"))
    MirrorAdmin({"bootstrap.servers": source.bootstrap_servers}).create_partitions({"plain": 3})
    publish(source, "plain", range(10, 40))
    eventually(lambda: has_copied(source, "plain", target, "plain"))
    assert target.topics["plain"] == 3
    connect.stop_connector("plain")
    connect.await_state("plain", "STOPPED", tasks=0)
    publish(source, "plain", range(40, 50))
    connect.resume_connector("plain")
    eventually(lambda: has_copied(source, "plain", target, "plain"))
    connect.delete_connector("plain")


def test_a_topic_that_is_deleted_on_either_side_does_not_keep_the_others(
    source: Cluster, target: Cluster, connect: ConnectCluster
) -> None:
    for topic in ("gone-here", "gone-there", "stays"):
        source.create_topic(topic, 2)
        publish(source, topic, range(10))
    connect.put_connector("deleting", a_mirror(source, target, "Source", topics="gone-.*,stays"))
    for topic in ("gone-here", "gone-there", "stays"):
        eventually(lambda topic=topic: has_copied(source, topic, target, f"west.{topic}"))  # type: ignore[misc]
    source.delete_topic("gone-here")
    target.delete_topic("west.gone-there")
    publish(source, "gone-there", range(10, 30))
    publish(source, "stays", range(10, 30))
    eventually(lambda: has_copied(source, "stays", target, "west.stays"))
    eventually(lambda: target.topics.get("west.gone-there") == 2)
    new = {b"%d" % number for number in range(10, 30)}
    eventually(lambda: new <= {record.key for record in target.records("west.gone-there")})
    assert len(target.records("west.gone-here")) == 10, "what was copied stays"
    connect.delete_connector("deleting")


def test_a_record_too_large_for_the_target_fails_its_task_and_nothing_is_skipped(
    source: Cluster, target: Cluster, connect: ConnectCluster
) -> None:
    source.create_topic("large")
    target.create_topic("west.large", configs={"max.message.bytes": "2000"})
    source.produce("large", b"a" * 100, b"b" * 5000, b"c" * 101)
    own_settings = {"sync.topic.configs.enabled": False}  # otherwise the copy would get the limit of the original
    connect.put_connector("large", a_mirror(source, target, "Source", topics="large", **own_settings))
    eventually(lambda: "exceeds the maximum configured value" in str(connect.status("large")))
    admin = MirrorAdmin({"bootstrap.servers": target.bootstrap_servers})
    assert admin.alter_topic_configs({"west.large": {"max.message.bytes": None}}) == {}
    connect.restart_connector("large", include_tasks=True, only_failed=True)
    eventually(lambda: {len(value or b"") for value in target.values("west.large")} == {100, 5000, 101})
    connect.delete_connector("large")


class Context(ConnectorContext):
    """The runtime of a connector without tasks."""

    def request_task_reconfiguration(self) -> None:
        """No-op."""

    def raise_error(self, error: BaseException) -> None:
        raise error


def test_who_may_read_a_topic_may_read_its_copy() -> None:
    authorizing = {"authorizer.class.name": "kafka.security.authorizer.AclAuthorizer", "super.users": "User:ANONYMOUS"}

    def acl(topic: str, operation: AclOperation) -> AclBinding:
        entry = AccessControlEntry("User:ann", "*", operation, AclPermissionType.ALLOW)
        return AclBinding(ResourcePattern(ResourceType.TOPIC, topic), entry)

    with Cluster(authorizing) as west, Cluster(authorizing) as east:
        west.create_topic("orders")
        of_west, of_east = (MirrorAdmin({"bootstrap.servers": each.bootstrap_servers}) for each in (west, east))
        of_west.create_acls([acl("orders", AclOperation.ALL), acl("orders", AclOperation.WRITE)])
        connector = MirrorSourceConnector()
        connector.initialize(Context())
        props = a_mirror(west, east, "Source", topics="orders", **{"sync.topic.acls.interval.seconds": 1})
        connector.start({key: str(value) for key, value in props.items()})
        try:
            eventually(lambda: of_east.topic_acls() == [acl("west.orders", AclOperation.READ)])
            of_west.create_acls([acl("orders", AclOperation.DESCRIBE_CONFIGS)])
            eventually(lambda: acl("west.orders", AclOperation.DESCRIBE_CONFIGS) in (of_east.topic_acls() or ()))
        finally:
            connector.stop()


@pytest.mark.soak
@pytest.mark.nightly
def test_two_clusters_mirror_each_other_by_one_file() -> None:
    with Cluster() as west, Cluster() as east:
        for name, cluster in (("west", west), ("east", east)):
            cluster.create_topic("t", 2)
            cluster.produce("t", *(f"{name} {number}" for number in range(5)))
        props = {
            "clusters": "west, east",
            "west.bootstrap.servers": west.bootstrap_servers,
            "east.bootstrap.servers": east.bootstrap_servers,
            "west->east.enabled": "true",
            "east->west.enabled": "true",
            "refresh.topics.interval.seconds": "1",
            "replication.factor": "1",
            "status.storage.segment.bytes": "1048576",
            **{
                f"{what}.replication.factor": "1"
                for kinds in (("offset-syncs.topic", "checkpoints.topic", "heartbeats.topic"), STORAGES)
                for what in kinds
            },
        }
        mirror = DedicatedMirrorMaker(MirrorMakerConfig(props))
        mirror.start()
        try:
            eventually(lambda: has_copied(west, "t", east, "west.t") and has_copied(east, "t", west, "east.t"))
            eventually(lambda: "west.heartbeats" in east.topics and "east.heartbeats" in west.topics)
            eventually(lambda: len(east.records("west.heartbeats")) > 2 and len(west.records("east.heartbeats")) > 2)
            status = "mm2-status.west.internal"
            (settings,) = MirrorAdmin({"bootstrap.servers": east.bootstrap_servers}).topic_configs([status]).values()
            found = {each.name: each.value for each in settings}
            assert (found["cleanup.policy"], found["segment.bytes"]) == ("compact", "1048576")
            west.produce("t", "once more")
            eventually(lambda: "once more" in {(value or b"").decode() for value in east.values("west.t")})
        finally:
            mirror.stop()
        assert {"east.west.t", "west.east.t", "east.west.heartbeats"}.isdisjoint(
            {*east.topics, *west.topics}
        )  # no cycle
