"""The client's side of a SASL authentication: what it sends, and what it expects in answer.

``start`` returns the first frame. Each ``receive`` of a frame returns the next one to send, or None. No I/O: see
``SaslServerAuthenticator`` for the frames.

Kafka 0.10.2: clients/.../common/security/authenticator/SaslClientAuthenticator.java · book 2.1.4
"""

from __future__ import annotations

import random
from collections.abc import Callable
from enum import Enum
from typing import TypeVar

import kafka_lite
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.sendable import Buffer
from kafka_lite.common.time import Time
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.framing import decode_response, encode_request
from kafka_lite.protocol.messages.api_17_sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafka_lite.protocol.messages.api_36_sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kafka_lite.protocol.schema import Request, Response
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.security.sasl.sasl_mechanism import RetriableSaslError, SaslClient, SaslError

REAUTHENTICATION_WINDOW = 0.85
REAUTHENTICATION_JITTER = 0.10
"""A client authenticates again after 85 to 95 % of its session, so that many do not do it at the same time."""
API_VERSIONS_VERSION = 3
LATEST_HANDSHAKE, LATEST_AUTHENTICATE = 1, 2
R = TypeVar("R", bound=Response)


class SaslClientState(Enum):
    """The state of the client's side.

    SEND_APIVERSIONS_REQUEST
        action: ask for the versions of SaslHandshake and SaslAuthenticate
        transition: sent → RECEIVE_APIVERSIONS_RESPONSE
    RECEIVE_APIVERSIONS_RESPONSE
        action: choose the versions; ask once more in version 0 if the broker does not know ours
        transition: known → RECEIVE_HANDSHAKE_RESPONSE; anything else → FAILED
    RECEIVE_HANDSHAKE_RESPONSE
        action: send the first token
        transition: mechanism is enabled → INTERMEDIATE; anything else → FAILED
    INTERMEDIATE
        action: give the broker's token to the mechanism, and send its answer
        transition: mechanism is complete, and the broker has answered, or will not, as without headers → COMPLETE;
        anything wrong → FAILED
    COMPLETE
        action: none; requests are sent, until it is time to authenticate again
        transition: time has come → RECEIVE_HANDSHAKE_RESPONSE
    FAILED
        action: the connection is closed
        transition: none
    """

    SEND_APIVERSIONS_REQUEST = 0
    RECEIVE_APIVERSIONS_RESPONSE = 1
    RECEIVE_HANDSHAKE_RESPONSE = 2
    INTERMEDIATE = 3
    COMPLETE = 4
    FAILED = 5


VALID_PREVIOUS_STATES: dict[SaslClientState, frozenset[SaslClientState]] = {
    SaslClientState.SEND_APIVERSIONS_REQUEST: frozenset(),
    SaslClientState.RECEIVE_APIVERSIONS_RESPONSE: frozenset({SaslClientState.SEND_APIVERSIONS_REQUEST}),
    SaslClientState.RECEIVE_HANDSHAKE_RESPONSE: frozenset(
        {SaslClientState.RECEIVE_APIVERSIONS_RESPONSE, SaslClientState.COMPLETE}
    ),
    SaslClientState.INTERMEDIATE: frozenset({SaslClientState.RECEIVE_HANDSHAKE_RESPONSE}),
    SaslClientState.COMPLETE: frozenset({SaslClientState.INTERMEDIATE}),
    SaslClientState.FAILED: frozenset(SaslClientState) - {SaslClientState.FAILED},
}


class SaslClientAuthenticator:
    """One connection's authentication, and its re-authentications (KIP-368)."""

    def __init__(self, new_client: Callable[[], SaslClient], client_id: str, time: Time) -> None:
        """``new_client``: the client's end of the mechanism, a new one per exchange."""
        self.state = SaslClientState.SEND_APIVERSIONS_REQUEST
        self.reauthentication_time_ms: float | None = None
        """When to authenticate again, on the clock of ``Time.hi_res_ms``; None: never."""
        self.session_expiration_ms: float | None = None
        """None: that is the broker's matter."""
        self._new_client = new_client
        self._client_id = client_id
        self._time = time
        self._client = new_client()
        self._correlation_id = 0
        self._api_versions_version = API_VERSIONS_VERSION
        self._handshake_version = 0
        self._authenticate_version: int | None = None
        """None: bare tokens, without headers."""

    @property
    def complete(self) -> bool:
        """Whether requests may be sent."""
        return self.state is SaslClientState.COMPLETE

    def start(self) -> bytes:
        """The first frame."""
        self._transition_to(SaslClientState.RECEIVE_APIVERSIONS_RESPONSE)
        return self._api_versions_request()

    def reauthenticate(self, handshake: Buffer | None = None) -> bytes:  # noqa: ARG002  # the broker's end has one
        """The first frame of another authentication on a complete connection; no request may be in flight."""
        self._client = self._new_client()
        self._transition_to(SaslClientState.RECEIVE_HANDSHAKE_RESPONSE)
        return self._handshake_request()

    def receive(self, frame: Buffer) -> bytes | None:
        """Take a frame of the broker; the next one to send, or None.

        Raises ApiError: UNSUPPORTED_SASL_MECHANISM, SASL_AUTHENTICATION_FAILED with the broker's message or the
        mechanism's, or ILLEGAL_SASL_STATE for a frame that is not the response. Raises ConnectionAbortedError if the
        mechanism may succeed with another connection.
        """
        try:
            match self.state:
                case SaslClientState.RECEIVE_APIVERSIONS_RESPONSE:
                    return self._versions(self._response(ApiVersionsResponse, self._api_versions_version, frame))
                case SaslClientState.RECEIVE_HANDSHAKE_RESPONSE:
                    return self._handshake(self._response(SaslHandshakeResponse, self._handshake_version, frame))
                case SaslClientState.INTERMEDIATE:
                    return self._token(frame)
                case _:
                    raise Errors.ILLEGAL_SASL_STATE.exception(f"no frame is expected in state {self.state.name}")
        except RetriableSaslError as error:
            self._transition_to(SaslClientState.FAILED)
            raise ConnectionAbortedError(str(error)) from error
        except SaslError as error:
            self._transition_to(SaslClientState.FAILED)
            raise Errors.SASL_AUTHENTICATION_FAILED.exception(str(error)) from error
        except ApiError:
            self._transition_to(SaslClientState.FAILED)
            raise

    def _response(self, kind: type[R], version: int, frame: Buffer) -> R:
        try:
            correlation_id, response = decode_response(kind.API_KEY, version, frame)
        except SchemaError as error:
            message = f"Invalid SASL mechanism response, server may be expecting a different protocol: {error}"
            raise Errors.ILLEGAL_SASL_STATE.exception(message) from error
        if correlation_id != self._correlation_id or not isinstance(response, kind):
            message = f"a response to request {correlation_id} came to request {self._correlation_id}"
            raise Errors.ILLEGAL_SASL_STATE.exception(message)
        return response

    # ── ApiVersions and SaslHandshake ─────────────────────────────────────────────────────────────────────────────

    def _api_versions_request(self) -> bytes:
        request = ApiVersionsRequest(client_software_name="kafka-lite", client_software_version=kafka_lite.__version__)
        return self._encoded(request, self._api_versions_version)

    def _versions(self, response: ApiVersionsResponse) -> bytes:
        if response.error_code == Errors.UNSUPPORTED_VERSION.code and self._api_versions_version:
            self._api_versions_version = 0
            return self._api_versions_request()
        if response.error_code:
            raise Errors.for_code(response.error_code).exception()
        highest = {each.api_key: each.max_version for each in response.api_keys}
        self._handshake_version = min(highest.get(ApiKey.SASL_HANDSHAKE, 0), LATEST_HANDSHAKE)
        if ApiKey.SASL_AUTHENTICATE in highest and self._handshake_version:
            self._authenticate_version = min(highest[ApiKey.SASL_AUTHENTICATE], LATEST_AUTHENTICATE)
        self._transition_to(SaslClientState.RECEIVE_HANDSHAKE_RESPONSE)
        return self._handshake_request()

    def _handshake_request(self) -> bytes:
        if self._authenticate_version is None:
            self._handshake_version = 0
        return self._encoded(SaslHandshakeRequest(mechanism=self._client.mechanism), self._handshake_version)

    def _handshake(self, response: SaslHandshakeResponse) -> bytes:
        if response.error_code:
            error = Errors.for_code(response.error_code)
            enabled = ", ".join(response.mechanisms) or "none"
            if error is Errors.UNSUPPORTED_SASL_MECHANISM:
                text = f"Client SASL mechanism '{self._client.mechanism}' not enabled in the server, enabled: {enabled}"
                raise error.exception(text)
            raise Errors.ILLEGAL_SASL_STATE.exception(f"{error.name} for a handshake; enabled mechanisms: {enabled}")
        token = self._client.evaluate_challenge(b"")
        self._transition_to(SaslClientState.INTERMEDIATE)
        return self._wrapped(token or b"")

    # ── Tokens ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _wrapped(self, token: bytes) -> bytes:
        if self._authenticate_version is None:
            return token
        return self._encoded(SaslAuthenticateRequest(auth_bytes=token), self._authenticate_version)

    def _token(self, frame: Buffer) -> bytes | None:
        challenge = bytes(frame)
        session_lifetime_ms = 0
        if self._authenticate_version is not None:
            response = self._response(SaslAuthenticateResponse, self._authenticate_version, frame)
            if response.error_code:
                raise Errors.for_code(response.error_code).exception(response.error_message)
            challenge, session_lifetime_ms = bytes(response.auth_bytes), response.session_lifetime_ms
        token = None if self._client.complete else self._client.evaluate_challenge(challenge)
        if token is not None:
            if self._client.complete and self._authenticate_version is None:
                self._transition_to(SaslClientState.COMPLETE)  # GSSAPI: no bare token answers the last one
            return self._wrapped(token)
        if not self._client.complete:
            raise SaslError(f"{self._client.mechanism} has neither a token to send nor an end")
        self._transition_to(SaslClientState.COMPLETE)
        self._plan_reauthentication(session_lifetime_ms)
        return None

    def _plan_reauthentication(self, session_lifetime_ms: int) -> None:
        if session_lifetime_ms <= 0:
            self.reauthentication_time_ms = None
            return
        part = REAUTHENTICATION_WINDOW + REAUTHENTICATION_JITTER * random.random()
        self.reauthentication_time_ms = self._time.hi_res_ms() + session_lifetime_ms * part

    def _encoded(self, request: Request, version: int) -> bytes:
        self._correlation_id += 1
        return encode_request(request, version, self._correlation_id, self._client_id)

    def _transition_to(self, target: SaslClientState) -> None:
        if self.state not in VALID_PREVIOUS_STATES[target]:
            raise RuntimeError(f"a client's authentication cannot go from {self.state.name} to {target.name}")
        self.state = target
