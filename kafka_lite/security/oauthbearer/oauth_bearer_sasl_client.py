"""The client's end of OAUTHBEARER.

Kafka 2.0: clients/.../common/security/oauthbearer/internals/OAuthBearerSaslClient.java · book 2.3.2
"""

from __future__ import annotations

from enum import Enum

from kafka_lite.security.oauthbearer.oauth_bearer_sasl_server import CONTROL_A
from kafka_lite.security.sasl.sasl_mechanism import OAUTHBEARER, SaslError


class OAuthBearerClientState(Enum):
    """The client's side of the exchange.

    SEND_CLIENT_FIRST_MESSAGE
        action: send the token
        transition: asked for it → RECEIVE_SERVER_FIRST_MESSAGE
    RECEIVE_SERVER_FIRST_MESSAGE
        action: read whether the token is accepted
        transition: empty → COMPLETE; a refusal → RECEIVE_SERVER_MESSAGE_AFTER_FAILURE
    RECEIVE_SERVER_MESSAGE_AFTER_FAILURE
        action: wait for the broker's error
        transition: any message → FAILED
    COMPLETE
        action: none
        transition: another message → FAILED
    FAILED
        action: refuse any message
        transition: none
    """

    SEND_CLIENT_FIRST_MESSAGE = 0
    RECEIVE_SERVER_FIRST_MESSAGE = 1
    RECEIVE_SERVER_MESSAGE_AFTER_FAILURE = 2
    COMPLETE = 3
    FAILED = 4


S = OAuthBearerClientState
VALID_PREVIOUS_STATES: dict[S, frozenset[S]] = {
    S.SEND_CLIENT_FIRST_MESSAGE: frozenset(),
    S.RECEIVE_SERVER_FIRST_MESSAGE: frozenset({S.SEND_CLIENT_FIRST_MESSAGE}),
    S.RECEIVE_SERVER_MESSAGE_AFTER_FAILURE: frozenset({S.RECEIVE_SERVER_FIRST_MESSAGE}),
    S.COMPLETE: frozenset({S.RECEIVE_SERVER_FIRST_MESSAGE}),
    S.FAILED: frozenset(S),
}


class OAuthBearerSaslClient:
    """One exchange."""

    mechanism = OAUTHBEARER

    def __init__(self, token: str) -> None:
        self.state = S.SEND_CLIENT_FIRST_MESSAGE
        self._token = token

    @property
    def complete(self) -> bool:
        """Whether the broker has accepted the token."""
        return self.state is S.COMPLETE

    def evaluate_challenge(self, challenge: bytes) -> bytes | None:
        """Take a message of the broker, and answer; None after the last. Raises SaslError."""
        match self.state:
            case S.SEND_CLIENT_FIRST_MESSAGE if not challenge:
                self._transition_to(S.RECEIVE_SERVER_FIRST_MESSAGE)
                return f"n,,{CONTROL_A}auth=Bearer {self._token}{CONTROL_A}{CONTROL_A}".encode()
            case S.RECEIVE_SERVER_FIRST_MESSAGE if challenge:
                self._transition_to(S.RECEIVE_SERVER_MESSAGE_AFTER_FAILURE)
                return CONTROL_A.encode()
            case S.RECEIVE_SERVER_FIRST_MESSAGE:
                self._transition_to(S.COMPLETE)
                return None
        before = self.state
        self._transition_to(S.FAILED)
        raise SaslError(f"Unexpected challenge in Sasl client state {before.name}")

    def _transition_to(self, target: OAuthBearerClientState) -> None:
        if self.state not in VALID_PREVIOUS_STATES[target]:
            raise RuntimeError(f"OAUTHBEARER's client cannot go from {self.state.name} to {target.name}")
        self.state = target
