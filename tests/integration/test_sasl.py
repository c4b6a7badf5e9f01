"""Listeners with SASL: librdkafka, kafka-python, and frames that no client sends."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from kafka import KafkaAdminClient

from kafka_lite.common.errors import Errors
from kafka_lite.protocol.framing import decode_response, encode_request
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest
from kafka_lite.protocol.messages.api_17_sasl_handshake import SaslHandshakeRequest
from kafka_lite.protocol.messages.api_36_sasl_authenticate import SaslAuthenticateRequest
from kafka_lite.protocol.schema import Request
from kafka_lite.testing.cluster import Cluster
from tests.support.certificates import keys_and_trust, server_certificate
from tests.support.eventually import eventually

PACKAGE = "org.apache.kafka.common.security"
MECHANISMS = "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER"
PLAIN_USERS = f'{PACKAGE}.plain.PlainLoginModule required user_alice="secret" user_bob="hush";'
UNSECURED = f"{PACKAGE}.oauthbearer.OAuthBearerLoginModule required;"
LISTENERS = ("SASL_PLAINTEXT", "SASL_SSL")
WAIT_S = 30
SESSION_MS = 60_000


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    keys = keys_and_trust(server_certificate())
    for listener in LISTENERS:
        prefix = f"listener.name.{listener.lower()}"
        keys |= {f"{prefix}.plain.sasl.jaas.config": PLAIN_USERS, f"{prefix}.oauthbearer.sasl.jaas.config": UNSECURED}
    keys["listener.name.sasl_ssl.plain.connections.max.reauth.ms"] = str(SESSION_MS)
    listeners = ",".join(f"{name}://127.0.0.1:0" for name in ("PLAINTEXT", *LISTENERS, "SHORT"))
    protocols = "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL,SHORT:SASL_PLAINTEXT"
    short = {
        "listener.name.short.plain.sasl.jaas.config": PLAIN_USERS,
        "listener.name.short.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.short.plain.connections.max.reauth.ms": str(SESSION_MS),
    }
    own = {"listeners": listeners, "listener.security.protocol.map": protocols, "sasl.enabled.mechanisms": MECHANISMS}
    with Cluster({**own, **keys, **short}) as made:
        admin = AdminClient({"bootstrap.servers": made.bootstrap_servers})
        set_password(admin, "carol", b"pass,word=")
        yield made


def set_password(admin: AdminClient, user: str, password: bytes, iterations: int = 4096) -> None:
    changes = [
        UserScramCredentialUpsertion(user, ScramCredentialInfo(mechanism, iterations), password)
        for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512)
    ]
    for future in admin.alter_user_scram_credentials(changes).values():
        future.result(WAIT_S)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    _, trust = server_certificate().write(tmp_path_factory.mktemp("tls"), "broker")
    return trust


Config = Callable[..., dict[str, Any]]


@pytest.fixture
def config(cluster: Cluster, authority: Path) -> Config:
    def made(mechanism: str, user: str, password: str, listener: str = "SASL_PLAINTEXT") -> dict[str, Any]:
        return {
            "bootstrap.servers": f"localhost:{cluster.server.bound_port(listener)}",
            "security.protocol": listener,
            "ssl.ca.location": str(authority),
            "sasl.mechanism": mechanism,
            "sasl.username": user,
            "sasl.password": password,
            "log_level": 0,
        }

    return made


@pytest.mark.parametrize(
    ("listener", "mechanism", "user", "password"),
    [
        ("SASL_SSL", "PLAIN", "alice", "secret"),
        ("SASL_PLAINTEXT", "SCRAM-SHA-256", "carol", "pass,word="),
        ("SASL_SSL", "SCRAM-SHA-512", "carol", "pass,word="),
    ],
)
def test_librdkafka_writes_and_reads(config: Config, listener: str, mechanism: str, user: str, password: str) -> None:
    keys, topic = config(mechanism, user, password, listener), f"of-{listener}-{mechanism}"
    producer = Producer(keys)
    producer.produce(topic, b"value")
    assert producer.flush(WAIT_S) == 0
    consumer = Consumer(keys | {"group.id": topic, "auto.offset.reset": "earliest"})
    try:
        consumer.subscribe([topic])
        message = consumer.poll(WAIT_S)
        assert message is not None
        assert message.value() == b"value"
    finally:
        consumer.close()


def test_librdkafka_shows_an_unsecured_token(config: Config) -> None:
    keys = config("OAUTHBEARER", "", "") | {
        "enable.sasl.oauthbearer.unsecure.jwt": True,
        "sasl.oauthbearer.config": "principal=alice",
    }
    assert AdminClient(keys).list_topics(timeout=WAIT_S).brokers


@pytest.mark.parametrize(
    ("mechanism", "user", "says"),
    [
        ("PLAIN", "alice", "Authentication failed: Invalid username or password"),
        ("SCRAM-SHA-256", "carol", "due to invalid credentials with SASL mechanism SCRAM-SHA-256"),
        ("SCRAM-SHA-256", "nobody", "due to invalid credentials with SASL mechanism SCRAM-SHA-256"),
    ],
)
def test_a_wrong_password_is_said_once_in_the_log_and_to_the_client(
    config: Config, mechanism: str, user: str, says: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing tells a user that exists from one that does not."""
    errors: list[str] = []
    with caplog.at_level(logging.INFO, "kafka_lite.network.selector"):
        keys = config(mechanism, user, "wrong") | {
            "error_cb": lambda error: errors.append(error.str()),
            "reconnect.backoff.ms": 10_000,
        }
        producer = Producer(keys)
        eventually(lambda: producer.poll(0.05) >= 0 and errors)
    assert says in errors[0]
    logged = [record.getMessage() for record in caplog.records if "Failed authentication with" in record.getMessage()]
    assert len(logged) == 1
    assert "wrong" not in logged[0]


def test_kafka_python(cluster: Cluster) -> None:
    admin = KafkaAdminClient(
        bootstrap_servers=f"localhost:{cluster.server.bound_port('SASL_PLAINTEXT')}",
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="SCRAM-SHA-512",
        sasl_plain_username="carol",
        sasl_plain_password="pass,word=",
    )
    assert isinstance(admin.list_topics(), list)
    admin.close()


def test_a_credential_that_was_removed_is_not_accepted_any_more(cluster: Cluster, config: Config) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    set_password(admin, "dave", b"pw")
    assert admin.describe_user_scram_credentials(["dave"])["dave"].result(WAIT_S).scram_credential_infos
    assert AdminClient(config("SCRAM-SHA-256", "dave", "pw")).list_topics(timeout=WAIT_S).brokers
    gone = [UserScramCredentialDeletion("dave", ScramMechanism.SCRAM_SHA_256)]
    admin.alter_user_scram_credentials(gone)["dave"].result(WAIT_S)

    def is_refused() -> bool:
        errors: list[object] = []
        producer = Producer(config("SCRAM-SHA-256", "dave", "pw") | {"error_cb": errors.append})
        producer.poll(0.3)
        return bool(errors)

    eventually(is_refused)


# ── Frames that no client sends


class Raw:
    """A connection frame by frame."""

    def __init__(self, port: int) -> None:
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=WAIT_S)
        self._file = self.sock.makefile("rb")

    def send(self, frame: bytes) -> None:
        self.sock.sendall(len(frame).to_bytes(4, "big") + frame)

    def frame(self) -> bytes | None:
        """The next frame; None at the end."""
        try:
            size = self._file.read(4)
            return self._file.read(int.from_bytes(size, "big")) if size else None
        except ConnectionResetError:
            return None

    def ask(self, request: Request, version: int) -> Any:
        self.send(encode_request(request, version, 7, "raw"))
        found = self.frame()
        return None if found is None else decode_response(request.API_KEY, version, found)[1]

    def authenticate(self, user: str = "alice", password: str = "secret", version: int = 2) -> Any:
        assert self.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1).error_code == 0
        return self.ask(SaslAuthenticateRequest(auth_bytes=f"\0{user}\0{password}".encode()), version)


@pytest.fixture
def raw(cluster: Cluster) -> Iterator[Callable[..., Raw]]:
    made: list[Raw] = []

    def connect(listener: str = "SASL_PLAINTEXT") -> Raw:
        made.append(Raw(cluster.server.bound_port(listener)))
        return made[-1]

    yield connect
    for each in made:
        each.sock.close()


def test_bare_tokens_follow_a_handshake_of_version_0(raw: Callable[..., Raw]) -> None:
    client = raw()
    response = client.ask(SaslHandshakeRequest(mechanism="PLAIN"), 0)
    assert (response.error_code, response.mechanisms) == (0, MECHANISMS.split(","))
    client.send(b"\0alice\0secret")
    assert client.frame() == b""
    assert client.ask(MetadataRequest(), 1).brokers
    refused = raw()
    refused.ask(SaslHandshakeRequest(mechanism="PLAIN"), 0)
    refused.send(b"\0alice\0wrong")
    assert refused.frame() is None


@pytest.mark.parametrize("version", [0, 1, 2])
def test_each_version_of_sasl_authenticate(raw: Callable[..., Raw], version: int) -> None:
    response = raw().authenticate(version=version)
    assert (response.error_code, response.session_lifetime_ms) == (0, 0)
    refused = raw()
    response = refused.authenticate(password="wrong", version=version)
    assert (response.error_code, refused.frame()) == (Errors.SASL_AUTHENTICATION_FAILED.code, None)


@pytest.mark.parametrize(
    "frame",
    [
        encode_request(MetadataRequest(), 1, 7, "raw"),  # before the authentication
        encode_request(SaslAuthenticateRequest(auth_bytes=b"\0alice\0secret"), 1, 7, "raw"),  # before the handshake
        encode_request(SaslHandshakeRequest(mechanism="PLAIN"), 1, 7, "raw")[:-3],
        b"",
        b"\x16\x03\x01\x02\x00",
    ],
)
def test_bad_frames_close_the_connection(raw: Callable[..., Raw], frame: bytes) -> None:
    client = raw()
    client.send(frame)
    assert client.frame() is None


def test_an_oversized_frame_closes_the_connection_before_it_is_sent(raw: Callable[..., Raw]) -> None:
    client = raw()
    client.sock.sendall((524289).to_bytes(4, "big"))
    assert client.frame() is None


def test_an_unknown_mechanism_is_told_those_that_are_enabled(raw: Callable[..., Raw]) -> None:
    client = raw()
    response = client.ask(SaslHandshakeRequest(mechanism="GSSAPI"), 1)
    assert (response.error_code, response.mechanisms) == (
        Errors.UNSUPPORTED_SASL_MECHANISM.code,
        MECHANISMS.split(","),
    )
    assert client.frame() is None


def test_authenticating_twice_is_an_error_without_an_end_of_the_session(raw: Callable[..., Raw]) -> None:
    client = raw()
    client.authenticate()
    illegal = Errors.ILLEGAL_SASL_STATE.code
    assert client.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1).error_code == illegal
    assert client.ask(SaslAuthenticateRequest(auth_bytes=b"\0alice\0secret"), 1).error_code == illegal
    assert client.ask(MetadataRequest(), 1).brokers


def test_a_session_is_renewed_or_ends(cluster: Cluster, raw: Callable[..., Raw]) -> None:
    client, lazy, other = raw("SHORT"), raw("SHORT"), raw("SHORT")
    for each in (client, lazy, other):
        assert each.authenticate().session_lifetime_ms == SESSION_MS
    cluster.time.advance(seconds=50)
    assert client.authenticate().session_lifetime_ms == SESSION_MS
    response = other.authenticate("bob", "hush")
    assert response.error_code == Errors.SASL_AUTHENTICATION_FAILED.code
    assert "Cannot change principals during re-authentication" in response.error_message
    assert other.frame() is None
    cluster.time.advance(seconds=20)
    assert client.ask(MetadataRequest(), 1).brokers
    assert lazy.ask(MetadataRequest(), 1) is None


def test_requests_that_follow_a_second_handshake_too_early_end_the_connection(raw: Callable[..., Raw]) -> None:
    client = raw("SHORT")
    client.authenticate()
    frames = [
        encode_request(SaslHandshakeRequest(mechanism="PLAIN"), 1, 7, "raw"),
        encode_request(MetadataRequest(), 1, 8, "raw"),
    ]
    client.sock.sendall(b"".join(len(frame).to_bytes(4, "big") + frame for frame in frames))
    assert client.frame() is None


def test_requests_without_sasl_have_their_own_answer(raw: Callable[..., Raw]) -> None:
    client = raw("PLAINTEXT")
    assert client.ask(SaslHandshakeRequest(mechanism="PLAIN"), 1).error_code == Errors.ILLEGAL_SASL_STATE.code
