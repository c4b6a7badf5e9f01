"""The client's end of SCRAM.

Kafka 0.10.2: clients/.../common/security/scram/ScramSaslClient.java · book 2.3.2
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from enum import Enum

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.security.sasl.sasl_mechanism import SaslError
from kafka_lite.security.scram.scram_formatter import ScramFormatter, sasl_name, secure_random_string
from kafka_lite.security.scram.scram_mechanism import ScramMechanism
from kafka_lite.security.scram.scram_messages import (
    TOKEN_AUTH,
    ClientFinalMessage,
    ClientFirstMessage,
    ServerFinalMessage,
    ServerFirstMessage,
    auth_message,
)

_BY_TOKEN = {TOKEN_AUTH: "true"}


class ScramClientState(Enum):
    """The client's side of the exchange.

    SEND_CLIENT_FIRST_MESSAGE
        action: send the user's name and a nonce
        transition: asked for the first message → RECEIVE_SERVER_FIRST_MESSAGE
    RECEIVE_SERVER_FIRST_MESSAGE
        action: check nonce and iterations; send the proof
        transition: all right → RECEIVE_SERVER_FINAL_MESSAGE; anything wrong → FAILED
    RECEIVE_SERVER_FINAL_MESSAGE
        action: check the broker's signature, which only the owner of the credential can make
        transition: all right → COMPLETE; anything wrong → FAILED
    COMPLETE
        action: none
        transition: another message → FAILED
    FAILED
        action: refuse any message
        transition: none
    """

    SEND_CLIENT_FIRST_MESSAGE = 0
    RECEIVE_SERVER_FIRST_MESSAGE = 1
    RECEIVE_SERVER_FINAL_MESSAGE = 2
    COMPLETE = 3
    FAILED = 4


VALID_PREVIOUS_STATES: dict[ScramClientState, frozenset[ScramClientState]] = {
    ScramClientState.SEND_CLIENT_FIRST_MESSAGE: frozenset(),
    ScramClientState.RECEIVE_SERVER_FIRST_MESSAGE: frozenset({ScramClientState.SEND_CLIENT_FIRST_MESSAGE}),
    ScramClientState.RECEIVE_SERVER_FINAL_MESSAGE: frozenset({ScramClientState.RECEIVE_SERVER_FIRST_MESSAGE}),
    ScramClientState.COMPLETE: frozenset({ScramClientState.RECEIVE_SERVER_FINAL_MESSAGE}),
    ScramClientState.FAILED: frozenset(ScramClientState),
}


class ScramSaslClient:
    """One exchange."""

    def __init__(
        self,
        mechanism: ScramMechanism,
        username: str,
        password: str,
        nonce: Callable[[], str] = secure_random_string,
        *,
        by_token: bool = False,
    ) -> None:
        """``by_token``: user name and password are a delegation token's id and secret."""
        self.mechanism = mechanism.mechanism_name
        self.state = ScramClientState.SEND_CLIENT_FIRST_MESSAGE
        self._scram = mechanism
        self._formatter = ScramFormatter(mechanism)
        self._password = password
        self._first = ClientFirstMessage(sasl_name(username), nonce(), extensions=_BY_TOKEN if by_token else {})
        self._expected_signature = b""

    @property
    def complete(self) -> bool:
        """Whether both ends have proved themselves."""
        return self.state is ScramClientState.COMPLETE

    def evaluate_challenge(self, challenge: bytes) -> bytes | None:
        """Take a message of the broker, and answer; None after the last. Raises SaslError or ApiError."""
        try:
            match self.state:
                case ScramClientState.SEND_CLIENT_FIRST_MESSAGE:
                    return self._client_first(challenge)
                case ScramClientState.RECEIVE_SERVER_FIRST_MESSAGE:
                    return self._server_first(ServerFirstMessage.decode(challenge))
                case ScramClientState.RECEIVE_SERVER_FINAL_MESSAGE:
                    self._server_final(ServerFinalMessage.decode(challenge))
                    return None
                case _:
                    message = f"Unexpected challenge in Sasl client state {self.state.name}"
                    raise Errors.ILLEGAL_SASL_STATE.exception(message)
        except (SaslError, ApiError):
            self._transition_to(ScramClientState.FAILED)
            raise

    def _client_first(self, challenge: bytes) -> bytes:
        if challenge:
            raise SaslError("Expected empty challenge")
        self._transition_to(ScramClientState.RECEIVE_SERVER_FIRST_MESSAGE)
        return self._first.encode()

    def _server_first(self, server: ServerFirstMessage) -> bytes:
        """Check nonce and iterations, and answer with the proof; keep the signature that the broker must have.

        Raises SaslError for a nonce that does not begin with the client's, and for fewer iterations than the minimum.
        """
        if not server.nonce.startswith(self._first.nonce):
            raise SaslError("Invalid server nonce: does not start with client nonce")
        if server.iterations < self._scram.min_iterations:
            raise SaslError(
                f"Requested iterations {server.iterations} is less than the minimum {self._scram.min_iterations} for "
                f"{self._scram.name}"
            )
        final = ClientFinalMessage(self._first.gs2_header.encode(), server.nonce)
        message = auth_message(self._first, server, final)
        salted = self._formatter.salted_password(self._password, server.salt, server.iterations)
        self._expected_signature = self._formatter.server_signature(self._formatter.server_key(salted), message)
        self._transition_to(ScramClientState.RECEIVE_SERVER_FINAL_MESSAGE)
        proof = self._formatter.client_proof(salted, message)
        return ClientFinalMessage(final.channel_binding, final.nonce, proof).encode()

    def _server_final(self, server: ServerFinalMessage) -> None:
        """Check the broker's signature: it must know the credential, too. Raises SaslError, with the broker's error."""
        if server.error is not None:
            raise SaslError(f"Sasl authentication using {self.mechanism} failed with error: {server.error}")
        if not hmac.compare_digest(server.server_signature, self._expected_signature):
            raise SaslError("Invalid server signature in server final message")
        self._transition_to(ScramClientState.COMPLETE)

    def _transition_to(self, target: ScramClientState) -> None:
        if self.state not in VALID_PREVIOUS_STATES[target]:
            raise RuntimeError(f"SCRAM's client cannot go from {self.state.name} to {target.name}")
        self.state = target
