"""The broker's side of a SASL authentication: which frame may come when, and what it is answered.

::

    client                                    broker
    ApiVersions (may be left out)    ──▶
                                     ◀──      the versions
    SaslHandshake v1: SCRAM-SHA-256  ──▶
                                     ◀──      the mechanisms that are enabled
    SaslAuthenticate: a token        ──▶
                                     ◀──      a token; with the last one, how long the session lasts
    …                                         until the mechanism is complete

After SaslHandshake v0 the tokens are frames of their own, without headers: so did 0.10.0. Clients of 0.9 had no
handshake: if the first frame is no request, it is the first token of GSSAPI, the only mechanism there was.

A frame in, a frame out, no I/O: see the channel that uses it.

Kafka 0.10.2: clients/.../common/security/authenticator/SaslServerAuthenticator.java · book 2.3.2
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.common.sendable import Buffer
from kafka_lite.common.time import Time
from kafka_lite.network.authenticator import AuthenticationFailedError
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.protocol.error_responses import error_response
from kafka_lite.protocol.framing import decode_request, decode_request_header, encode_response
from kafka_lite.protocol.messages.api_17_sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafka_lite.protocol.messages.api_36_sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.protocol.schema import Request, Response
from kafka_lite.protocol.schema_error import SchemaError, UnsupportedVersionError
from kafka_lite.security.sasl.sasl_mechanism import GSSAPI, RetriableSaslError, SaslError, SaslServer

DEFAULT_SASL_SERVER_MAX_RECEIVE_SIZE = 524288
"""``sasl.server.max.receive.size``: the largest frame of a client that has not authenticated, in bytes."""


class SaslState(Enum):
    """The state of an authentication.

    INITIAL_REQUEST
        action: read the first frame
        transition: a request's header → HANDSHAKE_OR_VERSIONS_REQUEST; anything else, where GSSAPI is enabled →
        AUTHENTICATE; without it → FAILED
    HANDSHAKE_OR_VERSIONS_REQUEST
        action: answer ApiVersions or SaslHandshake
        transition: ApiVersions → HANDSHAKE_REQUEST; a version of it that is not known: stays; SaslHandshake with an
        enabled mechanism → AUTHENTICATE; anything else → FAILED
    HANDSHAKE_REQUEST
        action: answer SaslHandshake
        transition: SaslHandshake with an enabled mechanism → AUTHENTICATE; anything else → FAILED
    AUTHENTICATE
        action: give each token to the mechanism, and answer its token
        transition: mechanism is complete → COMPLETE; a token, user or password is wrong → FAILED
    COMPLETE
        action: none; requests are served, until the session ends
        transition: SaslHandshake → REAUTH_PROCESS_HANDSHAKE
    FAILED
        action: the connection is closed once the answer is out
        transition: none
    REAUTH_PROCESS_HANDSHAKE
        action: answer SaslHandshake
        transition: the mechanism as before → AUTHENTICATE; another one that is enabled → REAUTH_BAD_MECHANISM; anything
        else → FAILED
    REAUTH_BAD_MECHANISM
        action: refuse the next token, and say that the mechanism must not change
        transition: any frame → FAILED
    """

    INITIAL_REQUEST = 0
    HANDSHAKE_OR_VERSIONS_REQUEST = 1
    HANDSHAKE_REQUEST = 2
    AUTHENTICATE = 3
    COMPLETE = 4
    FAILED = 5
    REAUTH_PROCESS_HANDSHAKE = 6
    REAUTH_BAD_MECHANISM = 7


VALID_PREVIOUS_STATES: dict[SaslState, frozenset[SaslState]] = {
    SaslState.INITIAL_REQUEST: frozenset(),
    SaslState.HANDSHAKE_OR_VERSIONS_REQUEST: frozenset({SaslState.INITIAL_REQUEST}),
    SaslState.HANDSHAKE_REQUEST: frozenset({SaslState.HANDSHAKE_OR_VERSIONS_REQUEST}),
    SaslState.AUTHENTICATE: frozenset(
        {
            SaslState.INITIAL_REQUEST,
            SaslState.HANDSHAKE_OR_VERSIONS_REQUEST,
            SaslState.HANDSHAKE_REQUEST,
            SaslState.REAUTH_PROCESS_HANDSHAKE,
        }
    ),
    SaslState.COMPLETE: frozenset({SaslState.AUTHENTICATE}),
    SaslState.FAILED: frozenset(SaslState) - {SaslState.FAILED, SaslState.COMPLETE},
    SaslState.REAUTH_PROCESS_HANDSHAKE: frozenset({SaslState.COMPLETE}),
    SaslState.REAUTH_BAD_MECHANISM: frozenset({SaslState.REAUTH_PROCESS_HANDSHAKE}),
}


@dataclass(frozen=True)
class SaslListener:
    """The mechanisms of one listener, shared by all of its connections."""

    mechanisms: Mapping[str, Callable[[], SaslServer]]
    """``sasl.enabled.mechanisms``: the broker's end of each, a new one per exchange."""
    api_versions: Callable[[RequestHeader, ApiVersionsRequest], ApiVersionsResponse]
    """The broker's versions; INVALID_REQUEST if the client's software name is not valid."""
    unsupported_api_versions: Callable[[], ApiVersionsResponse]
    connections_max_reauth_ms: Mapping[str, int] = field(default_factory=dict)
    """``connections.max.reauth.ms`` of each mechanism: how long a session lasts; 0 or missing for ever."""


class SaslServerAuthenticator:
    """One connection's authentication, and its re-authentications (KIP-368)."""

    def __init__(
        self, listener: SaslListener, principal_of: Callable[[SaslServer], KafkaPrincipal], time: Time
    ) -> None:
        self.state = SaslState.INITIAL_REQUEST
        self.mechanism: str | None = None
        """The one that the client chose."""
        self.principal: KafkaPrincipal | None = None
        """Set once complete; it stays the same for the life of the connection."""
        self.reauthentication_time_ms: float | None = None
        """None: that is the client's matter."""
        self.session_expiration_ms: float | None = None
        """When the session ends, on the clock of ``Time.hi_res_ms``; None: never."""
        self.client_supports_reauthentication = False
        """Whether the client has used SaslAuthenticate v1 or later. Others are cut off when a session ends."""
        self._listener = listener
        self._principal_of = principal_of
        self._time = time
        self._with_headers = False
        self._server: SaslServer
        self._bad_mechanism = ""

    @property
    def complete(self) -> bool:
        """Whether the client is known."""
        return self.state is SaslState.COMPLETE

    def start(self) -> bytes | None:
        """Nothing: the client begins."""
        return None

    def reauthenticate(self, handshake: Buffer | None) -> bytes:
        """Begin again, with the SaslHandshake that came on a complete connection. Raises AuthenticationFailedError."""
        assert handshake is not None
        self._transition_to(SaslState.REAUTH_PROCESS_HANDSHAKE)
        answer = self.receive(handshake)
        assert answer is not None  # of a handshake
        return answer

    def receive(self, frame: Buffer) -> bytes | None:
        """Take a frame, without its size, and answer one. Raises AuthenticationFailedError, and is FAILED then."""
        try:
            return self._receive(memoryview(frame))
        except (SchemaError, ApiError) as error:
            self._transition_to(SaslState.FAILED)
            raise AuthenticationFailedError(str(error)) from error
        except AuthenticationFailedError:
            self._transition_to(SaslState.FAILED)
            raise

    def _receive(self, frame: memoryview) -> bytes | None:
        match self.state:
            case SaslState.AUTHENTICATE | SaslState.REAUTH_BAD_MECHANISM:
                return self._authenticate(frame) if self._with_headers else self._evaluate_bare(bytes(frame))
            case SaslState.COMPLETE | SaslState.FAILED:
                raise RuntimeError(f"{self.state.name} takes no frame")
            case SaslState.INITIAL_REQUEST:
                return self._first_frame(frame)
            case _:
                return self._handle_kafka_request(frame)

    def _first_frame(self, frame: memoryview) -> bytes | None:
        """A request; or the first token of a client of 0.9."""
        try:
            header, _ = decode_request_header(frame)
            ApiKey(header.api_key)
        except (SchemaError, ValueError) as error:
            if GSSAPI not in self._listener.mechanisms:
                raise AuthenticationFailedError(f"The first frame is no request of SASL: {error}") from error
            self._begin(GSSAPI)
            return self._evaluate_bare(bytes(frame))
        self._transition_to(SaslState.HANDSHAKE_OR_VERSIONS_REQUEST)
        return self._handle_kafka_request(frame)

    # ── ApiVersions and SaslHandshake ─────────────────────────────────────────────────────────────────────────────

    def _handle_kafka_request(self, frame: memoryview) -> bytes:
        header, _ = decode_request_header(frame)
        key = ApiKey(header.api_key)
        if key not in (ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE):  # before its body is read
            raise AuthenticationFailedError(f"Unexpected Kafka request of type {key.name} during SASL handshake.")
        if key is ApiKey.API_VERSIONS and self.state is not SaslState.HANDSHAKE_OR_VERSIONS_REQUEST:
            raise AuthenticationFailedError(f"Unexpected ApiVersions request in SASL state {self.state.name}")
        try:
            header, request = decode_request(frame)
        except UnsupportedVersionError:
            if key is not ApiKey.API_VERSIONS:
                raise
            return _encoded(header, self._listener.unsupported_api_versions(), version=0)
        if isinstance(request, ApiVersionsRequest):
            return self._answer_versions(header, request)
        assert isinstance(request, SaslHandshakeRequest)
        return self._handshake(header, request)

    def _answer_versions(self, header: RequestHeader, request: ApiVersionsRequest) -> bytes:
        response = self._listener.api_versions(header, request)
        if not response.error_code:
            self._transition_to(SaslState.HANDSHAKE_REQUEST)
        return _encoded(header, response)

    def _handshake(self, header: RequestHeader, request: SaslHandshakeRequest) -> bytes:
        enabled = list(self._listener.mechanisms)
        if request.mechanism not in self._listener.mechanisms:
            error = Errors.UNSUPPORTED_SASL_MECHANISM.code
            answer = _encoded(header, SaslHandshakeResponse(error_code=error, mechanisms=enabled))
            raise AuthenticationFailedError(f"Unsupported SASL mechanism {request.mechanism!r}", answer)
        self._with_headers = header.api_version >= 1
        if self.mechanism not in (None, request.mechanism):
            self._bad_mechanism = (
                f"SASL mechanism '{request.mechanism}' requested by client is not supported for re-authentication of "
                f"mechanism '{self.mechanism}'"
            )
            self._transition_to(SaslState.REAUTH_BAD_MECHANISM)
        else:
            self._begin(request.mechanism)
        return _encoded(header, SaslHandshakeResponse(mechanisms=enabled))

    def _begin(self, mechanism: str) -> None:
        self.mechanism = mechanism
        self._server = self._listener.mechanisms[mechanism]()
        self._transition_to(SaslState.AUTHENTICATE)

    # ── Tokens ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _evaluate_bare(self, token: bytes) -> bytes | None:
        """A token without a header. A client that fails gets no answer: there is no place for an error."""
        try:
            return self._evaluate(token)[0]
        except SaslError as error:
            raise AuthenticationFailedError(f"{self._invalid_credentials()}: {error}") from error

    def _authenticate(self, frame: memoryview) -> bytes:
        header, request = decode_request(frame)
        if not isinstance(request, SaslAuthenticateRequest):
            raise _unexpected(header, request)
        self.client_supports_reauthentication |= header.api_version > 0
        try:
            token, lifetime_ms = self._evaluate(request.auth_bytes)
        except RetriableSaslError as error:
            raise AuthenticationFailedError(f"{self._invalid_credentials()}: {error}") from error
        except SaslError as error:
            # The client learns no details: they may say that a user exists.
            shown = self._invalid_credentials()
            raise AuthenticationFailedError(f"{shown}: {error}", _refusal(header, shown)) from error
        except ApiError as error:
            raise AuthenticationFailedError(str(error), _refusal(header, str(error))) from error
        return _encoded(header, SaslAuthenticateResponse(auth_bytes=token or b"", session_lifetime_ms=lifetime_ms))

    def _evaluate(self, token: bytes) -> tuple[bytes | None, int]:
        """The mechanism's answer, and the session's lifetime if that was the last token (0: for ever)."""
        if self.state is SaslState.REAUTH_BAD_MECHANISM:
            raise Errors.SASL_AUTHENTICATION_FAILED.exception(self._bad_mechanism)
        answer = self._server.evaluate_response(bytes(token))
        if not self._server.complete:
            return answer, 0
        principal = self._principal()
        if self.principal is not None and self.principal != principal:
            raise Errors.SASL_AUTHENTICATION_FAILED.exception(
                f"Cannot change principals during re-authentication from {self.principal.principal_type}."
                f"{self.principal.name}: {principal.principal_type}.{principal.name}"
            )
        self.principal = principal
        lifetime_ms = self._begin_session()
        self._transition_to(SaslState.COMPLETE)
        return answer, lifetime_ms

    def _principal(self) -> KafkaPrincipal:
        """The user. Raises AuthenticationFailedError for one whom no rule gives a name."""
        try:
            return self._principal_of(self._server)
        except (KafkaError, ValueError) as error:
            name = self._server.authorization_id
            text = f"Failed to set name for '{name}' based on Kerberos authentication rules: {error}"
            raise AuthenticationFailedError(text) from error

    def _begin_session(self) -> int:
        """The session ends with the credential or after ``connections.max.reauth.ms``, whichever comes first."""
        limits = []
        if (expiration_ms := self._server.credential_expiration_ms) is not None:
            limits.append(expiration_ms - self._time.milliseconds())
        if (max_reauth_ms := self._listener.connections_max_reauth_ms.get(self._server.mechanism, 0)) > 0:
            limits.append(max_reauth_ms)
        if not limits:
            self.session_expiration_ms = None
            return 0
        lifetime_ms = max(0, min(limits))
        self.session_expiration_ms = self._time.hi_res_ms() + lifetime_ms
        return lifetime_ms

    def _invalid_credentials(self) -> str:
        kind = "authentication" if self.principal is None else "re-authentication"
        return f"Authentication failed during {kind} due to invalid credentials with SASL mechanism {self.mechanism}"

    def _transition_to(self, target: SaslState) -> None:
        if self.state not in VALID_PREVIOUS_STATES[target]:
            raise RuntimeError(f"an authentication cannot go from {self.state.name} to {target.name}")
        self.state = target


def _unexpected(header: RequestHeader, request: Request) -> AuthenticationFailedError:
    """A request that is no token gets the response that it has for errors, and then the connection ends."""
    error, message = Errors.ILLEGAL_SASL_STATE, f"Unexpected Kafka request of type {request.API_KEY.name}"
    response = error_response(request, header.api_version, error, None, error.message).response
    answer = _encoded(header, response or API_SPECS[request.API_KEY].response())
    return AuthenticationFailedError(f"{message} during SASL authentication.", answer)


def _refusal(header: RequestHeader, message: str) -> bytes:
    code = Errors.SASL_AUTHENTICATION_FAILED.code
    return _encoded(header, SaslAuthenticateResponse(error_code=code, error_message=message))


def _encoded(header: RequestHeader, response: Response, version: int | None = None) -> bytes:
    """The frame; ``version``: another one than the request's."""
    (frame,) = encode_response(response, header.api_version if version is None else version, header.correlation_id)
    assert isinstance(frame, bytes)  # responses without records are one
    return frame
