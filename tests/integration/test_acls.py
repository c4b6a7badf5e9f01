"""A broker with access control lists: librdkafka and our clients with and without rights, and lists in ZooKeeper."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)
from kazoo.client import KazooClient

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.testing.cluster import Cluster
from kafka_lite.tools.main import main
from tests.support.eventually import eventually

MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
USERS = f'{MODULE} required user_alice="a" user_bob="b" user_eve="e";'
WAIT_S = 30
SETTINGS = {
    "listeners": "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0",
    "sasl.enabled.mechanisms": "PLAIN",
    "listener.name.sasl_plaintext.plain.sasl.jaas.config": USERS,
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "super.users": "User:ANONYMOUS",
}
READ, WRITE, DESCRIBE, CREATE = AclOperation.READ, AclOperation.WRITE, AclOperation.DESCRIBE, AclOperation.CREATE
LITERAL, PREFIXED = ResourcePatternType.LITERAL, ResourcePatternType.PREFIXED


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(SETTINGS) as made:
        made.create_topic("orders")
        made.create_topic("secrets")
        yield made


@pytest.fixture(scope="module")
def admin(cluster: Cluster) -> AdminClient:
    return AdminClient({"bootstrap.servers": cluster.bootstrap_servers})


def allow(admin: AdminClient, user: str, operation: Any, kind: Any, name: str, pattern: Any = LITERAL) -> AclBinding:
    binding = AclBinding(kind, name, pattern, f"User:{user}", "*", operation, AclPermissionType.ALLOW)
    for future in admin.create_acls([binding]).values():
        future.result(WAIT_S)
    return binding


def config(cluster: Cluster, user: str, **more: Any) -> dict[str, Any]:
    return {
        "bootstrap.servers": f"127.0.0.1:{cluster.server.bound_port('SASL_PLAINTEXT')}",
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": user,
        "sasl.password": user[0],
        **{key.replace("_", "."): value for key, value in more.items()},
    }


def produce(cluster: Cluster, user: str, topic: str) -> list[KafkaError]:
    errors: list[KafkaError] = []
    producer = Producer(config(cluster, user))
    producer.produce(topic, b"value", on_delivery=lambda error, _message: errors.append(error))
    producer.flush(WAIT_S)
    return errors


def test_rights_are_given_and_taken_while_the_broker_runs(cluster: Cluster, admin: AdminClient) -> None:
    assert [error.name() for error in produce(cluster, "alice", "orders")] == ["TOPIC_AUTHORIZATION_FAILED"]
    binding = allow(admin, "alice", WRITE, ResourceType.TOPIC, "orders")
    assert produce(cluster, "alice", "orders") == [None]
    (found,) = admin.describe_acls(_exactly(binding)).result(WAIT_S)
    assert (found.principal, found.operation, found.name) == ("User:alice", WRITE, "orders")
    (deleted,) = admin.delete_acls([_exactly(binding)]).values()
    assert len(deleted.result(WAIT_S)) == 1
    assert [error.name() for error in produce(cluster, "alice", "orders")] == ["TOPIC_AUTHORIZATION_FAILED"]


def _exactly(binding: AclBinding) -> AclBindingFilter:
    return AclBindingFilter(
        binding.restype, binding.name, binding.resource_pattern_type, binding.principal, binding.host,
        binding.operation, binding.permission_type,
    )  # fmt: skip


def test_a_list_of_topics_has_only_those_that_the_user_may_describe(cluster: Cluster, admin: AdminClient) -> None:
    allow(admin, "bob", DESCRIBE, ResourceType.TOPIC, "ord", PREFIXED)
    assert list(AdminClient(config(cluster, "bob")).list_topics(timeout=WAIT_S).topics) == ["orders"]
    assert list(AdminClient(config(cluster, "eve")).list_topics(timeout=WAIT_S).topics) == []


def test_a_consumer_needs_its_topic_and_its_group(cluster: Cluster, admin: AdminClient) -> None:
    with KafkaProducer({"bootstrap.servers": cluster.bootstrap_servers}) as producer:
        producer.send(ProducerRecord("secrets", value=b"hush")).get(WAIT_S * 1000)
    keys = config(cluster, "eve", group_id="readers", auto_offset_reset="earliest")

    def read() -> Any:
        with KafkaConsumer(keys) as consumer:
            consumer.subscribe(["secrets"])
            return [record.value for record in eventually(lambda: consumer.poll(1000))]

    def refused() -> Errors:
        with pytest.raises(ApiError) as raised:
            read()
        return raised.value.error

    assert refused() in (Errors.GROUP_AUTHORIZATION_FAILED, Errors.TOPIC_AUTHORIZATION_FAILED)  # both, in any order
    allow(admin, "eve", READ, ResourceType.GROUP, "readers")
    assert refused() is Errors.TOPIC_AUTHORIZATION_FAILED
    allow(admin, "eve", READ, ResourceType.TOPIC, "secrets")
    assert read() == [b"hush"]
    keys["group.id"] = "others"
    assert refused() is Errors.GROUP_AUTHORIZATION_FAILED


def test_a_session_notices_that_a_right_was_taken(cluster: Cluster, admin: AdminClient) -> None:
    """The partitions of a fetch session are not named again."""
    bindings = [
        allow(admin, "bob", READ, ResourceType.TOPIC, "secrets"),
        allow(admin, "bob", READ, ResourceType.GROUP, "g"),
    ]
    consumer = Consumer(config(cluster, "bob", group_id="g", auto_offset_reset="earliest"))
    try:
        consumer.subscribe(["secrets"])
        message = consumer.poll(WAIT_S)
        assert message is not None
        assert message.error() is None
        for future in admin.delete_acls([_exactly(bindings[0])]).values():
            future.result(WAIT_S)

        def code() -> str | None:
            found = consumer.poll(1)
            return None if found is None or found.error() is None else found.error().name()

        assert eventually(code) == "TOPIC_AUTHORIZATION_FAILED"
    finally:
        consumer.close()


def test_administrators_need_rights_too(cluster: Cluster, admin: AdminClient) -> None:
    eve = AdminClient(config(cluster, "eve"))
    with pytest.raises(KafkaException) as raised:
        eve.create_topics([NewTopic("of-eve", 1, 1)])["of-eve"].result(WAIT_S)
    assert raised.value.args[0].name() == "TOPIC_AUTHORIZATION_FAILED"
    with pytest.raises(KafkaException) as raised:
        allow(eve, "eve", AclOperation.ALL, ResourceType.TOPIC, "*")
    assert raised.value.args[0].name() == "CLUSTER_AUTHORIZATION_FAILED"
    allow(admin, "eve", CREATE, ResourceType.TOPIC, "of-", PREFIXED)
    eve.create_topics([NewTopic("of-eve", 1, 1)])["of-eve"].result(WAIT_S)


def test_a_list_that_another_tool_writes_takes_effect(cluster: Cluster) -> None:
    """As Kafka's tools write them with --authorizer-properties zookeeper.connect."""
    acls = {
        "version": 1,
        "acls": [{"principal": "User:bob", "permissionType": "Allow", "operation": "Write", "host": "*"}],
    }
    assert cluster.server.embedded_zookeeper is not None
    zookeeper = KazooClient(cluster.server.embedded_zookeeper.connect_string)
    zookeeper.start()
    try:
        assert set(zookeeper.get_children("/kafka-acl")) >= {"Topic", "Group", "Cluster", "TransactionalId"}
        zookeeper.create("/kafka-acl/Topic/written", json.dumps(acls).encode())
        zookeeper.create("/kafka-acl-changes/acl_changes_", b"Topic:written", sequence=True)
    finally:
        zookeeper.stop()
        zookeeper.close()
    cluster.create_topic("written")
    eventually(lambda: produce(cluster, "bob", "written") == [None])


def test_the_tools_set_rights_and_passwords(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--bootstrap-server", cluster.bootstrap_servers]
    topic = ["--topic", "by-tool", "--allow-principal", "User:alice"]
    assert main(["acls", *where, "--add", "--producer", *topic]) == 0
    shown = capsys.readouterr().out
    assert "operation=WRITE, permissionType=ALLOW" in shown
    cluster.create_topic("by-tool")
    assert produce(cluster, "alice", "by-tool") == [None]
    assert main(["acls", *where, "--remove", "--topic", "by-tool"]) == 0
    assert [error.name() for error in produce(cluster, "alice", "by-tool")] == ["TOPIC_AUTHORIZATION_FAILED"]
    password = "SCRAM-SHA-256=[iterations=8192,password=pw]"
    user = ["configs", *where, "--entity-type", "users", "--entity-name", "carol"]
    assert main([*user, "--alter", "--add-config", password]) == 0
    assert main([*user, "--describe"]) == 0
    assert "user-principal 'carol' are SCRAM-SHA-256=iterations=8192" in capsys.readouterr().out
    assert main([*user, "--alter", "--delete-config", "SCRAM-SHA-512"]) == 1
    assert "does not exist" in capsys.readouterr().err
