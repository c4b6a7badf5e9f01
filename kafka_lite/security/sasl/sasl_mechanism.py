"""The two ends of a SASL exchange, as every mechanism has them: tokens in, tokens out, no I/O.

Kafka 0.10.2: none; javax.security.sasl.SaslServer, SaslClient, SaslException · book 2.3.2
"""

from __future__ import annotations

from typing import Protocol

from kafka_lite.common.errors import KafkaError

GSSAPI = "GSSAPI"
SERVICE_NAME_CONFIG = "sasl.kerberos.service.name"
OAUTHBEARER = "OAUTHBEARER"


class SaslError(KafkaError):
    """An exchange that failed. Its message is for the broker's log only: it may give away that a user exists.

    A mechanism whose message may reach the client raises ``Errors.SASL_AUTHENTICATION_FAILED.exception`` instead.
    """


class RetriableSaslError(SaslError):
    """An exchange that failed for a reason that may be gone at the next try: the connection ends without a verdict."""


class SaslServer(Protocol):
    """The broker's end."""

    mechanism: str

    def evaluate_response(self, response: bytes) -> bytes | None:
        """Take the client's token; the one to answer, maybe empty, or None. Raises SaslError or ApiError."""
        ...

    @property
    def complete(self) -> bool:
        """Whether the client has proved who it is."""
        ...

    @property
    def authorization_id(self) -> str:
        """The user's name, once complete."""
        ...

    @property
    def credential_expiration_ms(self) -> int | None:
        """When the credential expires, such as a token; None if it does not."""
        ...

    @property
    def token_authenticated(self) -> bool:
        """Whether the credential was a delegation token."""
        ...


class SaslClient(Protocol):
    """The client's end. All mechanisms here begin with a token of the client: the answer to an empty challenge."""

    mechanism: str

    def evaluate_challenge(self, challenge: bytes) -> bytes | None:
        """Take the broker's token; the token to answer, or None if there is nothing to send. Raises SaslError."""
        ...

    @property
    def complete(self) -> bool:
        """Whether the client has sent all it has, and the broker has proved itself if the mechanism asks for that."""
        ...
