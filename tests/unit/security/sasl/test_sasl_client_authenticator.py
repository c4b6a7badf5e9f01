"""Both ends of an authentication against each other, and brokers that misbehave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.common.time import MockTime
from kafka_lite.network.authenticator import AuthenticationFailedError
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.framing import decode_request, encode_response
from kafka_lite.protocol.messages.api_17_sasl_handshake import SaslHandshakeResponse
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from kafka_lite.protocol.messages.api_36_sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.protocol.schema import Response
from kafka_lite.security.kerberos.gssapi_sasl_client import GssapiSaslClient
from kafka_lite.security.kerberos.gssapi_sasl_server import GssapiSaslServer
from kafka_lite.security.plain.plain_sasl_client import PlainSaslClient
from kafka_lite.security.plain.plain_sasl_server import PlainSaslServer, plain_users
from kafka_lite.security.sasl.sasl_client_authenticator import (
    VALID_PREVIOUS_STATES,
    SaslClientAuthenticator,
    SaslClientState,
)
from kafka_lite.security.sasl.sasl_mechanism import RetriableSaslError, SaslClient
from kafka_lite.security.sasl.sasl_server_authenticator import (
    SaslListener,
    SaslServerAuthenticator,
)
from kafka_lite.security.scram.scram_formatter import ScramFormatter
from kafka_lite.security.scram.scram_mechanism import ScramMechanism
from kafka_lite.security.scram.scram_sasl_client import ScramSaslClient
from kafka_lite.security.scram.scram_sasl_server import ScramSaslServer
from tests.support.fake_gss import FakeContext

SCRAM = ScramMechanism.SCRAM_SHA_512
CREDENTIAL = ScramFormatter(SCRAM).generate_credential("secret", 4096)


def versions(handshake: int = 1, authenticate: int | None = 2) -> ApiVersionsResponse:
    keys = [(ApiKey.API_VERSIONS, 3), (ApiKey.SASL_HANDSHAKE, handshake)]
    keys += [(ApiKey.SASL_AUTHENTICATE, authenticate)] if authenticate is not None else []
    return ApiVersionsResponse(
        api_keys=[ApiVersion(api_key=key, min_version=0, max_version=latest) for key, latest in keys]
    )


def listener(offered: ApiVersionsResponse, max_reauth_ms: int = 0) -> SaslListener:
    return SaslListener(
        {
            "PLAIN": lambda: PlainSaslServer(plain_users({"user_alice": "secret"})),
            "SCRAM-SHA-512": lambda: ScramSaslServer(SCRAM, {"alice": CREDENTIAL}.get),
        },
        lambda header, request: offered,
        lambda: ApiVersionsResponse(error_code=Errors.UNSUPPORTED_VERSION.code),
        {"PLAIN": max_reauth_ms, "SCRAM-SHA-512": max_reauth_ms},
    )


def kerberos_listener(
    *tokens: bytes,
    offered: ApiVersionsResponse | None = None,
    new_context: Callable[[], FakeContext] | None = None,
) -> SaslListener:
    context = new_context or (lambda: FakeContext(*tokens, awaits=1))
    return replace(listener(offered or versions()), mechanisms={"GSSAPI": lambda: GssapiSaslServer(context)})


def plain(password: str = "secret") -> Callable[[], SaslClient]:
    return lambda: PlainSaslClient("alice", password)


def scram(password: str = "secret") -> Callable[[], SaslClient]:
    return lambda: ScramSaslClient(SCRAM, "alice", password)


class Pair:
    """A client and a server; frames go by hand."""

    def __init__(self, new_client: Callable[[], SaslClient], of: SaslListener | None = None) -> None:
        self.time = MockTime()
        self.client = SaslClientAuthenticator(new_client, "test", self.time)
        self.server = SaslServerAuthenticator(
            of or listener(versions()), lambda end: KafkaPrincipal("User", end.authorization_id), self.time
        )
        self.frames: list[bytes] = []

    def run(self, frame: bytes | None = None, first: Callable[[bytes], bytes | None] | None = None) -> None:
        """Until the client has nothing to send; a server that refuses sends its last answer."""
        frame = frame or self.client.start()
        receive = first or self.server.receive
        while frame is not None:
            self.frames.append(frame)
            try:
                answer = receive(frame)
            except AuthenticationFailedError as refused:
                self.client.receive(refused.answer or b"")
                raise AssertionError("the client took a refusal for an answer") from refused
            receive, frame = self.server.receive, None if answer is None else self.client.receive(answer)


@pytest.mark.parametrize("mechanism", [plain, scram])
@pytest.mark.parametrize("offered", [versions(), versions(authenticate=0), versions(0, None), versions(1, None)])
def test_both_ends_agree_with_brokers_of_every_age(
    mechanism: Callable[[], Callable[[], SaslClient]], offered: ApiVersionsResponse
) -> None:
    pair = Pair(mechanism(), listener(offered))
    pair.run()

    assert pair.client.complete
    assert pair.server.complete
    assert pair.server.principal == KafkaPrincipal("User", "alice")
    assert pair.client.reauthentication_time_ms is None


@pytest.mark.parametrize("offered", [versions(), versions(0, None)])
@pytest.mark.parametrize("mutual", [True, False])
def test_the_last_token_of_gssapi_has_no_answer_without_headers(offered: ApiVersionsResponse, mutual: bool) -> None:
    of = kerberos_listener(*([b"proof"] if mutual else []), offered=offered)
    pair = Pair(lambda: GssapiSaslClient(lambda: FakeContext(b"ticket", awaits=2 if mutual else 1)), of)
    pair.run()
    assert pair.client.complete
    assert pair.server.complete
    assert pair.server.principal == KafkaPrincipal("User", "alice@EXAMPLE.COM")


def test_a_mechanism_that_may_succeed_later_ends_the_connection_without_a_verdict() -> None:
    def not_yet() -> FakeContext:
        raise RetriableSaslError("the ticket is not yet valid")

    client = Pair(lambda: GssapiSaslClient(not_yet), kerberos_listener())
    with pytest.raises(ConnectionAbortedError, match="not yet valid"):
        client.run()
    assert client.client.state is SaslClientState.FAILED
    server = Pair(
        lambda: GssapiSaslClient(lambda: FakeContext(b"ticket", awaits=2)), kerberos_listener(new_context=not_yet)
    )
    frame = server.client.start()
    for _ in range(2):  # the versions, the handshake
        frame = server.client.receive(server.server.receive(frame) or b"") or b""
    with pytest.raises(AuthenticationFailedError, match="not yet valid") as raised:
        server.server.receive(frame)
    assert raised.value.answer is None


def test_tokens_have_headers_if_the_broker_knows_them() -> None:
    new, old = Pair(plain()), Pair(plain(), listener(versions(0, None)))
    new.run()
    old.run()

    assert isinstance(decode_request(new.frames[-1])[1], SaslAuthenticateRequest)
    assert old.frames[-1] == b"\0alice\0secret"


@pytest.mark.parametrize(
    ("mechanism", "message"),
    [
        (plain("wrong"), "Authentication failed: Invalid username or password"),
        (scram("wrong"), "due to invalid credentials with SASL mechanism SCRAM-SHA-512"),
    ],
)
def test_the_broker_s_refusal_is_the_client_s_error(mechanism: Callable[[], SaslClient], message: str) -> None:
    pair = Pair(mechanism)
    with pytest.raises(ApiError, match=message) as raised:
        pair.run()
    assert raised.value.error is Errors.SASL_AUTHENTICATION_FAILED
    assert pair.client.state is SaslClientState.FAILED


def test_a_mechanism_that_is_not_enabled_names_those_that_are() -> None:
    pair = Pair(lambda: ScramSaslClient(ScramMechanism.SCRAM_SHA_256, "alice", "secret"))
    with pytest.raises(ApiError, match="'SCRAM-SHA-256' not enabled in the server, enabled: PLAIN, SCRAM-SHA-512"):
        pair.run()


def test_a_session_is_renewed_before_it_ends() -> None:
    pair = Pair(scram(), listener(versions(), max_reauth_ms=1000))
    pair.run()
    begun = pair.time.hi_res_ms()
    due = pair.client.reauthentication_time_ms
    assert due is not None
    assert 850 <= due - begun <= 950

    pair.time.sleep(due - begun)
    pair.run(pair.client.reauthenticate(), pair.server.reauthenticate)

    assert pair.client.complete
    assert pair.server.complete
    assert (pair.client.reauthentication_time_ms or 0) > due


# ── Brokers that misbehave ────────────────────────────────────────────────────────────────────────────────────────


def answer(response: Response, to: bytes) -> bytes:
    header, _ = decode_request(to)
    (frame,) = encode_response(response, header.api_version, header.correlation_id)
    assert isinstance(frame, bytes)
    return frame


def test_a_broker_that_does_not_know_our_version_of_api_versions_is_asked_again() -> None:
    client = SaslClientAuthenticator(plain(), "test", MockTime())
    first = client.start()
    header, _ = decode_request(first)
    (refusal,) = encode_response(ApiVersionsResponse(error_code=35), 0, header.correlation_id)

    again = client.receive(bytes(refusal))  # type: ignore[arg-type]
    assert again is not None
    header, request = decode_request(again)
    assert (header.api_version, type(request)) == (0, ApiVersionsRequest)
    assert client.receive(answer(versions(), again)) is not None
    assert client.state is SaslClientState.RECEIVE_HANDSHAKE_RESPONSE


@pytest.mark.parametrize("frame", [b"", b"\0", b"\0\0\0\1", b"\xff" * 40])
def test_bytes_that_are_no_response_are_refused(frame: bytes) -> None:
    client = SaslClientAuthenticator(plain(), "test", MockTime())
    client.start()
    with pytest.raises(ApiError) as raised:
        client.receive(frame)
    assert raised.value.error is Errors.ILLEGAL_SASL_STATE


def test_a_response_to_another_request_is_refused() -> None:
    client = SaslClientAuthenticator(plain(), "test", MockTime())
    sent = client.start()
    header, _ = decode_request(sent)
    other = RequestHeader(api_key=18, api_version=3, correlation_id=header.correlation_id + 1, client_id="x")
    (frame,) = encode_response(versions(), other.api_version, other.correlation_id)
    with pytest.raises(ApiError, match="a response to request 2 came to request 1"):
        client.receive(frame)  # type: ignore[arg-type]


def test_a_broker_that_cannot_prove_itself_is_refused() -> None:
    """It takes any proof, and has no signature."""
    client = SaslClientAuthenticator(scram(), "test", MockTime())
    handshake = client.receive(answer(versions(), client.start()))
    assert handshake is not None
    first = client.receive(answer(SaslHandshakeResponse(mechanisms=["SCRAM-SHA-512"]), handshake))
    assert first is not None
    request = decode_request(first)[1]
    assert isinstance(request, SaslAuthenticateRequest)
    nonce = bytes(request.auth_bytes).partition(b",r=")[2]
    challenge = b"r=" + nonce + b"more,s=c2FsdA==,i=4096"
    final = client.receive(answer(SaslAuthenticateResponse(auth_bytes=challenge), first))
    assert final is not None
    with pytest.raises(ApiError, match="Invalid server signature"):
        client.receive(answer(SaslAuthenticateResponse(auth_bytes=b"v=AAAA"), final))
    assert not client.complete


def test_a_frame_too_many_is_refused() -> None:
    pair = Pair(plain())
    pair.run()
    with pytest.raises(ApiError, match="no frame is expected in state COMPLETE"):
        pair.client.receive(b"more")


def test_every_state_is_explained() -> None:
    documentation = SaslClientState.__doc__ or ""
    assert all(state.name in documentation for state in SaslClientState)
    assert set(VALID_PREVIOUS_STATES) == set(SaslClientState)
