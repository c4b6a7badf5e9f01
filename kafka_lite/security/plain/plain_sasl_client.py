"""The client's end of PLAIN.

Kafka 0.10.2: none; com.sun.security.sasl.PlainClient · book 2.3.2
"""

from __future__ import annotations

from kafka_lite.security.plain.plain_sasl_server import PLAIN
from kafka_lite.security.sasl.sasl_mechanism import SaslError


class PlainSaslClient:
    """One exchange: user and password in one token."""

    mechanism = PLAIN

    def __init__(self, username: str, password: str) -> None:
        """Raises ValueError for a name or password with the separator in it."""
        if "\0" in username or "\0" in password:
            raise ValueError("username and password of PLAIN must not contain a zero byte")
        self.complete = False
        self._token = f"\0{username}\0{password}".encode()

    def evaluate_challenge(self, challenge: bytes) -> bytes | None:  # noqa: ARG002  # PLAIN has nothing to be asked
        """The token. Raises SaslError for a second one."""
        if self.complete:
            raise SaslError("PLAIN authentication already completed")
        self.complete = True
        return self._token
