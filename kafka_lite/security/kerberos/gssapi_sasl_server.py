"""The broker's end of GSSAPI.

::

    client                                      broker
    ticket, with proof of its key      ──▶
                                       ◀──      proof of the service's key, if the client asked for it
    (empty)                            ──▶
                                       ◀──      wrapped: the layers offered
    wrapped: the layer, whom to be     ──▶
                                       ◀──      nothing

Kafka 0.10.2: none; com.sun.security.sasl.gsskerb.GssKrb5Server, and clients/.../common/security/authenticator/
SaslServerCallbackHandler.java (handleAuthorizeCallback) · book 2.3.2
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from enum import Enum

from kafka_lite.security.kerberos.gss_context import GssContext
from kafka_lite.security.kerberos.gssapi_security_layer import authorization_id_of, offer
from kafka_lite.security.sasl.sasl_mechanism import GSSAPI, SaslError

logger = logging.getLogger(__name__)


class GssapiServerState(Enum):
    """The state of the broker's end.

    CONTEXT
        action: give the client's tokens to the library, and send its own
        transition: context is complete, and has a last token → EMPTY; it has none → LAYER
    EMPTY
        action: offer the layers
        transition: an empty token → LAYER
    LAYER
        action: read the choice
        transition: no layer → COMPLETE
    COMPLETE
        action: none
        transition: none
    """

    CONTEXT = 0
    EMPTY = 1
    LAYER = 2
    COMPLETE = 3


VALID_PREVIOUS_STATES: dict[GssapiServerState, frozenset[GssapiServerState]] = {
    GssapiServerState.CONTEXT: frozenset(),
    GssapiServerState.EMPTY: frozenset({GssapiServerState.CONTEXT}),
    GssapiServerState.LAYER: frozenset({GssapiServerState.CONTEXT, GssapiServerState.EMPTY}),
    GssapiServerState.COMPLETE: frozenset({GssapiServerState.LAYER}),
}


class GssapiSaslServer:
    """One exchange."""

    mechanism = GSSAPI
    token_authenticated = False
    credential_expiration_ms: int | None = None

    def __init__(self, new_context: Callable[[], GssContext]) -> None:
        """``new_context``: called at the first token."""
        self.state = GssapiServerState.CONTEXT
        self._new_context = new_context
        self._context: GssContext

    @property
    def complete(self) -> bool:
        """Whether the client has proved who it is, and chosen."""
        return self.state is GssapiServerState.COMPLETE

    @property
    def authorization_id(self) -> str:
        """The client's principal, even if it asked to be another user. Raises RuntimeError before the end."""
        if not self.complete:
            raise RuntimeError("Authentication exchange has not completed")
        return self._context.initiator

    def evaluate_response(self, response: bytes) -> bytes | None:
        """Take the client's token. Raises SaslError, RetriableSaslError."""
        match self.state:
            case GssapiServerState.CONTEXT:
                return self._step(response)
            case GssapiServerState.EMPTY:
                if response:
                    raise SaslError("Handshake expecting no response data from client")
                return self._offer()
            case GssapiServerState.LAYER:
                wanted = authorization_id_of(self._context.unwrap(response))
                self._transition_to(GssapiServerState.COMPLETE)
                logger.info(
                    "Successfully authenticated client: authenticationID=%s; authorizationID=%s.",
                    self._context.initiator,
                    wanted,
                )
                return None
            case _:
                raise SaslError("GSSAPI authentication already complete")

    def _step(self, token: bytes) -> bytes:
        if not hasattr(self, "_context"):
            self._context = self._new_context()
        answer = self._context.step(token)
        if not self._context.complete:
            return answer
        if not answer:
            return self._offer()
        self._transition_to(GssapiServerState.EMPTY)
        return answer

    def _offer(self) -> bytes:
        wrapped = self._context.wrap(offer())
        self._transition_to(GssapiServerState.LAYER)
        return wrapped

    def _transition_to(self, target: GssapiServerState) -> None:
        if self.state not in VALID_PREVIOUS_STATES[target]:
            raise RuntimeError(f"an exchange cannot go from {self.state.name} to {target.name}")
        self.state = target
