"""The errors of a handshake; in a module of their own, because mypyc compiles no class that extends one of Python's.

Kafka 1.0: clients/.../common/errors/AuthenticationException.java, SaslAuthenticationException.java,
SslAuthenticationException.java · book 2.1.4
"""

from __future__ import annotations


class AuthenticationError(ConnectionError):
    """The peer did not prove who it is, or did not accept our proof. A second attempt would end in the same way."""

    @property
    def reason(self) -> str:
        """The text without an error number."""
        return self.strerror or str(self)


class SslAuthenticationError(AuthenticationError):
    """The TLS handshake failed: a certificate that is not trusted or missing, or no common version."""


class SaslAuthenticationError(AuthenticationError):
    """User, password or token was refused, or the peer does not offer the mechanism."""
