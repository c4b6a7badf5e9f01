"""Task 5: a broker with users decides with your code."""

import pytest

from kafka_learn.labs.clients import TIMEOUT_S


def settings(broker, user):
    return {
        "bootstrap.servers": broker.bootstrap_servers,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": user,
        "sasl.password": user,
        "log_level": 0,
    }


def allow(admin, *rows):
    """Rows of topic, pattern type, user, operation and permission; each user may do it from every host."""
    from confluent_kafka.admin import AclBinding, AclOperation, AclPermissionType, ResourcePatternType, ResourceType

    for name, kind, user, operation, permission in rows:
        binding = AclBinding(
            ResourceType.TOPIC, name, ResourcePatternType[kind], f"User:{user}", "*", AclOperation[operation],
            AclPermissionType[permission],
        )  # fmt: skip
        admin.create_acls([binding])[binding].result(TIMEOUT_S)


@pytest.fixture(scope="module")
def decided(broker):
    """Topics and lists: alice writes orders-*, bob reads them, and nobody may write orders-closed."""
    from confluent_kafka.admin import AdminClient, NewTopic

    admin = AdminClient(settings(broker, "admin"))
    for topic in ("orders-1", "orders-closed"):
        admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(TIMEOUT_S)
    allow(
        admin,
        ("orders-", "PREFIXED", "alice", "WRITE", "ALLOW"),
        ("orders-", "PREFIXED", "bob", "READ", "ALLOW"),
        ("orders-closed", "LITERAL", "*", "WRITE", "DENY"),
    )
    return broker


def produced(broker, user, topic):
    """The error of a produced record; None if it was written."""
    from confluent_kafka import Producer

    errors = []
    producer = Producer({**settings(broker, user), "message.timeout.ms": TIMEOUT_S * 1000})
    producer.produce(topic, b"x", on_delivery=lambda error, _: errors.append(error and error.name()))
    producer.flush(TIMEOUT_S)
    return errors[0]


REFUSED = "TOPIC_AUTHORIZATION_FAILED"


@pytest.mark.points(3, task=5)
def test_who_may_write(decided):
    """alice and bob to orders-1"""
    error = produced(decided, "alice", "orders-1")
    assert error is None, f"alice may write, but got {error}\n{decided.log_tail()}"
    assert produced(decided, "bob", "orders-1") == REFUSED, "bob may only read"


@pytest.mark.points(3, task=5)
def test_what_nobody_may_write(decided):
    """alice to orders-closed"""
    assert produced(decided, "alice", "orders-closed") == REFUSED, "nobody may write orders-closed, not even alice"


@pytest.mark.points(4, task=5)
def test_who_sees_what(decided):
    """Topics in bob's metadata"""
    from confluent_kafka.admin import AdminClient

    seen = AdminClient(settings(decided, "bob")).list_topics(timeout=TIMEOUT_S).topics
    assert sorted(seen) == ["orders-1", "orders-closed"], (
        f"who may read may describe: bob sees both, not {sorted(seen)}"
    )
