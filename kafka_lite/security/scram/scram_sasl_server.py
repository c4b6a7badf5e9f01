"""The broker's end of SCRAM.

Kafka 0.10.2: clients/.../common/security/scram/ScramSaslServer.java · book 2.3.2
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.security.sasl.sasl_mechanism import SaslError
from kafka_lite.security.scram.scram_credential import ScramCredential, TokenCredential
from kafka_lite.security.scram.scram_formatter import ScramFormatter, secure_random_string, username
from kafka_lite.security.scram.scram_mechanism import ScramMechanism
from kafka_lite.security.scram.scram_messages import (
    ClientFinalMessage,
    ClientFirstMessage,
    ServerFinalMessage,
    ServerFirstMessage,
    auth_message,
)


class ScramServerState(Enum):
    """The broker's side of the exchange.

    RECEIVE_CLIENT_FIRST_MESSAGE
        action: look up the credential; answer both nonces, its salt and its iterations
        transition: user is known → RECEIVE_CLIENT_FINAL_MESSAGE; anything wrong → FAILED
    RECEIVE_CLIENT_FINAL_MESSAGE
        action: check the proof; answer the broker's signature
        transition: proof is right → COMPLETE; anything wrong → FAILED
    COMPLETE
        action: none
        transition: another message → FAILED
    FAILED
        action: refuse any message
        transition: none
    """

    RECEIVE_CLIENT_FIRST_MESSAGE = 0
    RECEIVE_CLIENT_FINAL_MESSAGE = 1
    COMPLETE = 2
    FAILED = 3


VALID_PREVIOUS_STATES: dict[ScramServerState, frozenset[ScramServerState]] = {
    ScramServerState.RECEIVE_CLIENT_FIRST_MESSAGE: frozenset(),
    ScramServerState.RECEIVE_CLIENT_FINAL_MESSAGE: frozenset({ScramServerState.RECEIVE_CLIENT_FIRST_MESSAGE}),
    ScramServerState.COMPLETE: frozenset({ScramServerState.RECEIVE_CLIENT_FINAL_MESSAGE}),
    ScramServerState.FAILED: frozenset(ScramServerState),
}


def _no_token(_token_id: str) -> TokenCredential | None:
    return None


class ScramSaslServer:
    """One exchange."""

    def __init__(
        self,
        mechanism: ScramMechanism,
        credential_of: Callable[[str], ScramCredential | None],
        token_of: Callable[[str], TokenCredential | None] = _no_token,
        nonce: Callable[[], str] = secure_random_string,
    ) -> None:
        """``credential_of``: a user's credential for this mechanism; None if there is none.

        ``token_of``: that of a delegation token, by its id.
        """
        self.mechanism = mechanism.mechanism_name
        self.state = ScramServerState.RECEIVE_CLIENT_FIRST_MESSAGE
        self._scram = mechanism
        self._formatter = ScramFormatter(mechanism)
        self._credential_of = credential_of
        self._token_of = token_of
        self._nonce = nonce
        self._user = ""
        self.token_authenticated = False
        """Whether the user is the owner of a delegation token, which the client has shown."""
        self.credential_expiration_ms: int | None = None
        """When that token expires; None for a user with a password."""
        self._credential: ScramCredential
        self._first: ClientFirstMessage
        self._server_first: ServerFirstMessage

    @property
    def complete(self) -> bool:
        """Whether the client has proved that it knows the password."""
        return self.state is ScramServerState.COMPLETE

    @property
    def authorization_id(self) -> str:
        """The user. Raises RuntimeError before the exchange is complete."""
        if not self.complete:
            raise RuntimeError("Authentication exchange has not completed")
        return self._user

    def evaluate_response(self, response: bytes) -> bytes:
        """Take a message of the client, and answer. Raises SaslError; ApiError if the client may know the reason."""
        try:
            match self.state:
                case ScramServerState.RECEIVE_CLIENT_FIRST_MESSAGE:
                    return self._client_first(ClientFirstMessage.decode(response))
                case ScramServerState.RECEIVE_CLIENT_FINAL_MESSAGE:
                    return self._client_final(ClientFinalMessage.decode(response))
                case _:
                    message = f"Unexpected challenge in Sasl server state {self.state.name}"
                    raise Errors.ILLEGAL_SASL_STATE.exception(message)
        except (SaslError, ApiError):
            self._transition_to(ScramServerState.FAILED)
            raise

    def _client_first(self, first: ClientFirstMessage) -> bytes:
        """Look the user up, and answer with both nonces, the salt and the iterations of the credential.

        Raises SaslError for a name with a stray equals sign, a delegation token, an unknown user, and too few
        iterations; ApiError SASL_AUTHENTICATION_FAILED if the client wants to be another user than it proves.
        """
        try:
            user = username(first.name)
        except ValueError as error:
            raise SaslError(str(error)) from None
        credential, owner = (
            self._credential_of_token(user) if first.token_authenticated else (self._credential_of(user), user)
        )
        if credential is None:
            raise SaslError("Authentication failed: Invalid user credentials")
        if first.authorization_id and first.authorization_id != user:
            message = "Authentication failed: Client requested an authorization id that is different from username"
            raise Errors.SASL_AUTHENTICATION_FAILED.exception(message)
        if credential.iterations < self._scram.min_iterations:
            raise SaslError(
                f"Iterations {credential.iterations} is less than the minimum {self._scram.min_iterations} for "
                f"{self._scram.name}"
            )
        self._user, self._credential, self._first = owner, credential, first
        self._server_first = ServerFirstMessage(first.nonce + self._nonce(), credential.salt, credential.iterations)
        self._transition_to(ScramServerState.RECEIVE_CLIENT_FINAL_MESSAGE)
        return self._server_first.encode()

    def _credential_of_token(self, token_id: str) -> tuple[ScramCredential, str]:
        """The credential of the delegation token with this id, and its owner. Raises SaslError if there is none."""
        token = self._token_of(token_id)
        if token is None:
            raise SaslError(f"Token Authentication failed: Invalid tokenId : {token_id!r}")
        self.token_authenticated, self.credential_expiration_ms = True, token.expiry_timestamp
        return token.credential, token.owner

    def _client_final(self, final: ClientFinalMessage) -> bytes:
        """Check the nonce and the proof, and answer with the broker's signature. Raises SaslError."""
        if final.nonce != self._server_first.nonce:
            raise SaslError("Invalid client nonce in the final client message.")
        message = auth_message(self._first, self._server_first, final)
        if not self._formatter.proves(final.proof, self._credential.stored_key, message):
            raise SaslError("Invalid client credentials")
        signature = self._formatter.server_signature(self._credential.server_key, message)
        self._transition_to(ScramServerState.COMPLETE)
        return ServerFinalMessage(server_signature=signature).encode()

    def _transition_to(self, target: ScramServerState) -> None:
        if self.state not in VALID_PREVIOUS_STATES[target]:
            raise RuntimeError(f"SCRAM's server cannot go from {self.state.name} to {target.name}")
        self.state = target
