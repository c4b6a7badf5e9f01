"""Errors of mechanisms whose modules are imported only where the mechanism is used.

Kafka 0.10.2: none · book 2.3.2
"""

from __future__ import annotations

from kafka_lite.common.errors import KafkaError


class MissingGssapiError(KafkaError):
    """The package is not installed, or MIT Kerberos is not."""


class JwksError(ValueError):
    """The keys cannot be read."""


class MissingCryptographyError(ValueError):
    """Signatures cannot be checked here."""
