"""One exchange of Kerberos tokens, as both ends of the mechanism see it, and what may go wrong in it.

Kafka 0.10.2: none; org.ietf.jgss.GSSContext · since 1.0: clients/.../common/security/kerberos/KerberosError.java
· book 2.3.2
"""

from __future__ import annotations

from typing import Protocol

from kafka_lite.security.sasl.sasl_mechanism import RetriableSaslError, SaslError

_KERBEROS_ERRORS = 0x96C73A00
"""The number of the first error of Kerberos among all that its library knows, unsigned."""
SERVER_NOT_FOUND = 7
RETRIABLE_ERRORS = {21: "CLIENT_NOT_YET_VALID", 33: "TICKET_NOT_YET_VALID", 34: "REPLAY"}
"""Errors of clocks that differ a little, and of a replay cache that takes two clients for one: another try may help."""


class GssContext(Protocol):
    """The library's part. All methods raise SaslError; RetriableSaslError if another try may help."""

    @property
    def complete(self) -> bool:
        """Whether both ends have what they need of each other."""
        ...

    @property
    def initiator(self) -> str:
        """The client's principal, such as ``alice@EXAMPLE.COM``, once complete."""
        ...

    def step(self, token: bytes) -> bytes:
        """Take the peer's token (empty: begin); the token to send, which may be empty."""
        ...

    def wrap(self, message: bytes) -> bytes:
        """The message with a checksum that nobody else can make; it is not encrypted."""
        ...

    def unwrap(self, message: bytes) -> bytes:
        """The message that the peer has wrapped."""
        ...


def gss_error(text: str, minor_code: int) -> SaslError:
    """The error to raise for one of the library, of which ``minor_code`` says what Kerberos found."""
    code = minor_code % 2**32 - _KERBEROS_ERRORS
    if code in RETRIABLE_ERRORS:
        return RetriableSaslError(f"{text} ({RETRIABLE_ERRORS[code]})")
    if code == SERVER_NOT_FOUND:
        text += (
            ". Is the principal SERVICE/HOST in the database of Kerberos? SERVICE is sasl.kerberos.service.name, and "
            "HOST the name under which the client reaches the broker"
        )
    return SaslError(text)
