"""Task 5: confluent-kafka authenticates at a broker with your end."""

import pytest

from kafka_learn.labs.clients import TIMEOUT_S

PASSWORD = "of,alice="


def settings(broker, mechanism, user, password):
    return {
        "bootstrap.servers": broker.bootstrap_servers,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.username": user,
        "sasl.password": password,
        "log_level": 0,
    }


@pytest.fixture(scope="module")
def users(broker):
    """alice has a credential of each mechanism."""
    from confluent_kafka.admin import (
        AdminClient,
        ScramCredentialInfo,
        ScramMechanism,
        UserScramCredentialUpsertion,
    )

    admin = AdminClient(settings(broker, "PLAIN", "admin", "admin"))
    for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
        info = ScramCredentialInfo(mechanism, 4096)
        change = UserScramCredentialUpsertion("alice", info, PASSWORD.encode(), b"salt")
        admin.alter_user_scram_credentials([change])["alice"].result(TIMEOUT_S)
    return broker


def failure(broker, mechanism, user, password, timeout_s=TIMEOUT_S):
    """The error of a client that connects; None if it may."""
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    errors = []
    admin = AdminClient({**settings(broker, mechanism, user, password), "error_cb": errors.append})
    try:
        admin.list_topics(timeout=timeout_s)
    except KafkaException as error:
        admin.poll(0)
        return errors[0].name() if errors else error.args[0].name()
    return None


@pytest.mark.points(4, task=5)
def test_the_right_password(users):
    """alice, with both mechanisms"""
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
        error = failure(users, mechanism, "alice", PASSWORD)
        assert error is None, f"{mechanism}: alice knows the password, but got {error}\n{users.log_tail()}"


@pytest.mark.points(3, task=5)
def test_a_wrong_password(users):
    """alice, with another password"""
    assert failure(users, "SCRAM-SHA-256", "alice", "wrong", timeout_s=4) == "_AUTHENTICATION", "the password is wrong"


@pytest.mark.points(3, task=5)
def test_an_unknown_user(users):
    """bob"""
    assert failure(users, "SCRAM-SHA-512", "bob", PASSWORD, timeout_s=4) == "_AUTHENTICATION", "bob is no user"
