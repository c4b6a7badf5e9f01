from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lite.common.errors import Errors
from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.common.time import MockTime
from kafka_lite.network.authenticator import AuthenticationFailedError
from kafka_lite.protocol.framing import decode_response, encode_request
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataRequestTopic
from kafka_lite.protocol.messages.api_17_sasl_handshake import SaslHandshakeRequest
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from kafka_lite.protocol.messages.api_36_sasl_authenticate import SaslAuthenticateRequest
from kafka_lite.protocol.schema import Request
from kafka_lite.security.kerberos.gssapi_sasl_server import GssapiSaslServer
from kafka_lite.security.kerberos.kerberos_rule import NoMatchingKerberosRuleError
from kafka_lite.security.plain.plain_sasl_server import PlainSaslServer, plain_users
from kafka_lite.security.sasl.sasl_mechanism import SaslServer
from kafka_lite.security.sasl.sasl_server_authenticator import (
    VALID_PREVIOUS_STATES,
    SaslListener,
    SaslServerAuthenticator,
    SaslState,
)
from kafka_lite.security.scram.scram_formatter import ScramFormatter
from kafka_lite.security.scram.scram_mechanism import ScramMechanism
from kafka_lite.security.scram.scram_sasl_client import ScramSaslClient
from kafka_lite.security.scram.scram_sasl_server import ScramSaslServer
from tests.support.examples import examples
from tests.support.fake_gss import FakeContext

SCRAM = ScramMechanism.SCRAM_SHA_256
CREDENTIAL = ScramFormatter(SCRAM).generate_credential("secret", 4096)
VERSIONS = [ApiVersion(api_key=18, min_version=0, max_version=3)]
LISTENER = SaslListener(
    {
        "PLAIN": lambda: PlainSaslServer(plain_users({"user_alice": "secret", "user_bob": "hush"})),
        "SCRAM-SHA-256": lambda: ScramSaslServer(SCRAM, {"alice": CREDENTIAL}.get),
    },
    lambda header, request: ApiVersionsResponse(
        error_code=0 if request.client_software_name != "!" else Errors.INVALID_REQUEST.code, api_keys=VERSIONS
    ),
    lambda: ApiVersionsResponse(error_code=Errors.UNSUPPORTED_VERSION.code, api_keys=VERSIONS),
)
ALICE = b"\0alice\0secret"


class Connection:
    """An authenticator, and what a client sends to it."""

    def __init__(self, listener: SaslListener = LISTENER) -> None:
        self.time = MockTime()
        self.end = SaslServerAuthenticator(listener, self._principal_of, self.time)

    @staticmethod
    def _principal_of(server: SaslServer) -> KafkaPrincipal:
        return KafkaPrincipal("User", server.authorization_id)

    def send(self, request: Request, version: int) -> Any:
        answer = self.end.receive(encode_request(request, version, 7, "client"))
        return self.decoded(request, version, answer)

    @staticmethod
    def decoded(request: Request, version: int, answer: bytes | None) -> Any:
        assert answer is not None
        correlation_id, response = decode_response(request.API_KEY, version, answer)
        assert correlation_id == 7
        return response

    def handshake(self, mechanism: str = "PLAIN", version: int = 1) -> Any:
        return self.send(SaslHandshakeRequest(mechanism=mechanism), version)

    def token(self, token: bytes, version: int = 2) -> Any:
        return self.send(SaslAuthenticateRequest(auth_bytes=token), version)

    def authenticated(self) -> Connection:
        self.handshake()
        self.token(ALICE)
        return self

    def reauthenticate(self, mechanism: str = "PLAIN") -> Any:
        request = SaslHandshakeRequest(mechanism=mechanism)
        return self.decoded(request, 1, self.end.reauthenticate(encode_request(request, 1, 7, "client")))


def refused(connection: Connection, request: Request, version: int) -> tuple[str, Any]:
    """Why a request was refused, and the answer to it."""
    with pytest.raises(AuthenticationFailedError) as raised:
        connection.send(request, version)
    assert connection.end.state is SaslState.FAILED
    answer = raised.value.answer
    return str(raised.value), None if answer is None else connection.decoded(request, version, answer)


# ── A client that does it right ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("versions_first", [True, False])
@pytest.mark.parametrize("version", [0, 1, 2])
def test_plain(versions_first: bool, version: int) -> None:
    connection = Connection()
    if versions_first:
        request = ApiVersionsRequest(client_software_name="x", client_software_version="1")
        assert connection.send(request, 3).api_keys == VERSIONS
        assert connection.end.state is SaslState.HANDSHAKE_REQUEST
    response = connection.handshake()
    assert (response.error_code, response.mechanisms) == (0, ["PLAIN", "SCRAM-SHA-256"])
    assert not connection.end.complete

    response = connection.token(ALICE, version)

    assert (response.error_code, response.auth_bytes, response.session_lifetime_ms) == (0, b"", 0)
    assert connection.end.complete
    assert connection.end.principal == KafkaPrincipal("User", "alice")
    assert connection.end.client_supports_reauthentication == (version > 0)


def test_scram_takes_two_tokens() -> None:
    connection, client = Connection(), ScramSaslClient(SCRAM, "alice", "secret")
    connection.handshake("SCRAM-SHA-256")
    challenge = b""
    while (token := client.evaluate_challenge(challenge)) is not None:
        challenge = connection.token(token).auth_bytes

    assert client.complete
    assert connection.end.complete
    assert connection.end.mechanism == "SCRAM-SHA-256"


def test_bare_tokens_follow_a_handshake_of_version_0() -> None:
    connection = Connection()
    connection.handshake(version=0)

    assert connection.end.receive(ALICE) == b""
    assert connection.end.complete
    assert not connection.end.client_supports_reauthentication


def test_a_client_of_0_9_begins_with_its_token() -> None:
    kerberos = replace(LISTENER, mechanisms={"GSSAPI": lambda: GssapiSaslServer(lambda: FakeContext(awaits=1))})
    end = Connection(kerberos).end
    assert end.receive(b"\x60\x82\x02\x6a and so on") == b"key:\1\0\0\0"
    assert end.receive(b"key:\1\0\0\0") is None
    assert end.complete
    assert end.principal == KafkaPrincipal("User", "alice@EXAMPLE.COM")
    with pytest.raises(AuthenticationFailedError, match="first frame is no request") as raised:
        Connection().end.receive(b"\x60\x82\x02\x6a and so on")
    assert raised.value.answer is None


def test_a_user_without_a_name_is_refused() -> None:
    def no_rule(server: SaslServer) -> KafkaPrincipal:
        raise NoMatchingKerberosRuleError("No rules apply")

    connection = Connection()
    connection.end = SaslServerAuthenticator(LISTENER, no_rule, connection.time)
    connection.handshake()
    why, answer = refused(connection, SaslAuthenticateRequest(auth_bytes=ALICE), 2)
    assert why == "Failed to set name for 'alice' based on Kerberos authentication rules: No rules apply"
    assert answer is None


def test_an_unknown_version_of_api_versions_gets_the_known_ones_and_the_client_tries_again() -> None:
    connection = Connection()
    newer = bytearray(encode_request(ApiVersionsRequest(), 3, 7, "client"))
    newer[2:4] = (99).to_bytes(2, "big")

    response = connection.decoded(ApiVersionsRequest(), 0, connection.end.receive(newer))

    assert (response.error_code, response.api_keys) == (Errors.UNSUPPORTED_VERSION.code, VERSIONS)
    assert connection.send(ApiVersionsRequest(), 0).error_code == 0
    assert connection.authenticated().end.complete


def test_a_bad_software_name_is_answered_and_the_client_tries_again() -> None:
    connection = Connection()
    assert connection.send(ApiVersionsRequest(client_software_name="!"), 3).error_code == Errors.INVALID_REQUEST.code
    assert connection.end.state is SaslState.HANDSHAKE_OR_VERSIONS_REQUEST


# ── A client that does not ────────────────────────────────────────────────────────────────────────────────────────


def test_a_mechanism_that_is_not_enabled_is_answered_with_those_that_are() -> None:
    for mechanism in ("GSSAPI", "plain", ""):
        why, answer = refused(Connection(), SaslHandshakeRequest(mechanism=mechanism), 1)
        assert why == f"Unsupported SASL mechanism {mechanism!r}"
        assert answer.error_code == Errors.UNSUPPORTED_SASL_MECHANISM.code
        assert answer.mechanisms == ["PLAIN", "SCRAM-SHA-256"]


def test_a_wrong_password_is_answered() -> None:
    connection = Connection()
    connection.handshake()

    _, answer = refused(connection, SaslAuthenticateRequest(auth_bytes=b"\0alice\0wrong"), 2)

    assert answer.error_code == Errors.SASL_AUTHENTICATION_FAILED.code
    assert answer.error_message == "Authentication failed: Invalid username or password"
    assert connection.end.principal is None


def test_scram_does_not_say_whether_the_user_exists() -> None:
    messages = set()
    for user in ("alice", "nobody"):
        connection, client = Connection(), ScramSaslClient(SCRAM, user, "wrong")
        connection.handshake("SCRAM-SHA-256")
        challenge, answer = b"", None
        while answer is None:
            request = SaslAuthenticateRequest(auth_bytes=client.evaluate_challenge(challenge) or b"")
            try:
                challenge = connection.send(request, 2).auth_bytes
            except AuthenticationFailedError as error:
                answer = connection.decoded(request, 2, error.answer)
        messages.add(answer.error_message)

    assert messages == {
        "Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-256"
    }


def test_a_wrong_bare_token_is_not_answered() -> None:
    for mechanism in ("PLAIN", "SCRAM-SHA-256"):
        connection = Connection()
        connection.handshake(mechanism, version=0)
        with pytest.raises(AuthenticationFailedError) as raised:
            connection.end.receive(b"wrong")
        assert raised.value.answer is None
        assert connection.end.state is SaslState.FAILED


def test_no_other_request_is_read_before_the_end() -> None:
    metadata = MetadataRequest(topics=[MetadataRequestTopic(name="t")])
    before, between = Connection(), Connection()
    between.handshake()

    why, answer = refused(before, metadata, 9)
    assert (why, answer) == ("Unexpected Kafka request of type METADATA during SASL handshake.", None)
    why, answer = refused(between, metadata, 9)
    assert why == "Unexpected Kafka request of type METADATA during SASL authentication."
    assert [(topic.name, topic.error_code) for topic in answer.topics] == [("t", Errors.ILLEGAL_SASL_STATE.code)]
    assert answer.brokers == []


def test_a_request_of_nothing_in_place_of_a_token_is_answered_too() -> None:
    connection = Connection()
    connection.handshake()
    _, answer = refused(connection, MetadataRequest(topics=None), 9)
    assert (answer.topics, answer.brokers) == ([], [])


def test_a_token_before_the_handshake_is_refused() -> None:
    why, _ = refused(Connection(), SaslAuthenticateRequest(auth_bytes=ALICE), 2)
    assert why == "Unexpected Kafka request of type SASL_AUTHENTICATE during SASL handshake."


def test_versions_may_be_asked_for_once() -> None:
    connection = Connection()
    connection.send(ApiVersionsRequest(), 0)
    assert "HANDSHAKE_REQUEST" in refused(connection, ApiVersionsRequest(), 0)[0]


@pytest.mark.parametrize("frame", [b"", b"\0", b"\x60\x82\x01\x00" * 20, b"\0\x11\0\x63" + b"\0" * 20, ALICE])
def test_bytes_that_are_no_request_are_refused_without_an_answer(frame: bytes) -> None:
    connection = Connection()
    with pytest.raises(AuthenticationFailedError) as raised:
        connection.end.receive(frame)
    assert raised.value.answer is None
    assert connection.end.state is SaslState.FAILED


@settings(max_examples=examples(60))
@given(st.lists(st.binary(max_size=40), max_size=4), st.sampled_from([0, 1, None]))
def test_garbage_never_authenticates(frames: list[bytes], handshake: int | None) -> None:
    connection = Connection()
    if handshake is not None:
        connection.handshake(version=handshake)
    for frame in frames:
        try:
            connection.end.receive(frame)
        except AuthenticationFailedError:
            break
    assert not connection.end.complete


def test_nothing_is_taken_after_the_end() -> None:
    with pytest.raises(RuntimeError, match="COMPLETE takes no frame"):
        Connection().authenticated().token(ALICE)


# ── Sessions ──────────────────────────────────────────────────────────────────────────────────────────────────────

SHORT = replace(LISTENER, connections_max_reauth_ms={"PLAIN": 1000})


def test_a_session_ends_after_connections_max_reauth_ms() -> None:
    connection = Connection(SHORT)
    connection.handshake()
    assert connection.token(ALICE).session_lifetime_ms == 1000

    assert connection.end.session_expiration_ms == connection.time.hi_res_ms() + 1000


def test_a_session_ends_with_its_credential() -> None:
    class Expiring(PlainSaslServer):
        credential_expiration_ms = 1_500_000_000_400

    def lifetime(time_ms: int, max_reauth_ms: int) -> int:
        listener = replace(
            LISTENER,
            mechanisms={"PLAIN": lambda: Expiring(lambda *_: True)},
            connections_max_reauth_ms={"PLAIN": max_reauth_ms},
        )
        connection = Connection(listener)
        connection.time.sleep(time_ms)
        connection.handshake()
        found: int = connection.token(ALICE).session_lifetime_ms
        return found

    assert lifetime(0, 0) == 400
    assert lifetime(100, 0) == 300
    assert lifetime(0, 300) == 300
    assert lifetime(0, 500) == 400
    assert lifetime(500, 0) == 0


def test_a_client_authenticates_again_before_its_session_ends() -> None:
    connection = Connection(SHORT).authenticated()
    connection.time.sleep(900)

    assert connection.reauthenticate().error_code == 0
    assert connection.token(ALICE).session_lifetime_ms == 1000

    assert connection.end.complete
    assert connection.end.session_expiration_ms == connection.time.hi_res_ms() + 1000


def test_the_user_must_stay_the_same() -> None:
    connection = Connection(SHORT).authenticated()
    connection.reauthenticate()

    _, answer = refused(connection, SaslAuthenticateRequest(auth_bytes=b"\0bob\0hush"), 2)

    assert answer.error_code == Errors.SASL_AUTHENTICATION_FAILED.code
    assert answer.error_message == "Cannot change principals during re-authentication from User.alice: User.bob"


def test_the_mechanism_must_stay_the_same() -> None:
    connection = Connection(SHORT).authenticated()
    assert connection.reauthenticate("SCRAM-SHA-256").error_code == 0
    assert connection.end.state is SaslState.REAUTH_BAD_MECHANISM

    _, answer = refused(connection, SaslAuthenticateRequest(auth_bytes=b"n,,n=alice,r=abc"), 2)

    assert answer.error_message == (
        "SASL mechanism 'SCRAM-SHA-256' requested by client is not supported for re-authentication of mechanism 'PLAIN'"
    )


def test_a_failed_re_authentication_says_so() -> None:
    connection = Connection(LISTENER)
    client = ScramSaslClient(SCRAM, "alice", "secret")
    connection.handshake("SCRAM-SHA-256")
    challenge = b""
    while (token := client.evaluate_challenge(challenge)) is not None:
        challenge = connection.token(token).auth_bytes
    connection.reauthenticate("SCRAM-SHA-256")

    _, answer = refused(connection, SaslAuthenticateRequest(auth_bytes=b"n,,n=nobody,r=abc"), 1)

    assert "during re-authentication due to invalid credentials" in answer.error_message


def test_versions_are_not_asked_for_again() -> None:
    connection = Connection(SHORT).authenticated()
    with pytest.raises(AuthenticationFailedError, match="REAUTH_PROCESS_HANDSHAKE"):
        connection.end.reauthenticate(encode_request(ApiVersionsRequest(), 0, 7, "client"))


def test_every_state_is_explained() -> None:
    documentation = SaslState.__doc__ or ""
    assert all(state.name in documentation for state in SaslState)
    assert set(VALID_PREVIOUS_STATES) == set(SaslState)
