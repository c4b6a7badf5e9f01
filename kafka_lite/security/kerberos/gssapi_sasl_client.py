"""The client's end of GSSAPI: see ``GssapiSaslServer`` for the messages.

Kafka 0.10.2: none; com.sun.security.sasl.gsskerb.GssKrb5Client · book 2.3.2
"""

from __future__ import annotations

from collections.abc import Callable

from kafka_lite.security.kerberos.gss_context import GssContext
from kafka_lite.security.kerberos.gssapi_security_layer import choice
from kafka_lite.security.sasl.sasl_mechanism import GSSAPI, SaslError


class GssapiSaslClient:
    """One exchange."""

    mechanism = GSSAPI

    def __init__(self, new_context: Callable[[], GssContext]) -> None:
        """``new_context``: called when the exchange begins, since it may ask Kerberos for a ticket."""
        self.complete = False
        self._new_context = new_context
        self._context: GssContext | None = None

    def evaluate_challenge(self, challenge: bytes) -> bytes | None:
        """The next token. Raises SaslError, RetriableSaslError."""
        if self.complete:
            raise SaslError("GSSAPI authentication already complete")
        if self._context is None:
            self._context = self._new_context()
        if not self._context.complete:
            return self._context.step(challenge)
        chosen = self._context.wrap(choice(self._context.unwrap(challenge), self._context.initiator))
        self.complete = True
        return chosen
