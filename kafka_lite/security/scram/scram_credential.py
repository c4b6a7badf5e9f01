"""A user's SCRAM credential as the broker keeps it: enough to check a proof, not enough to make one.

::

    /config/users/alice   {"version":1,"config":{"SCRAM-SHA-256":
                          "salt=c2FsdA==,stored_key=…,server_key=…,iterations=4096"}}

Bytes are in base 64, and the order of the four is free.

Kafka 0.10.2: clients/.../common/security/scram/ScramCredential.java, ScramCredentialUtils.java;
since 1.1 .../token/delegation/internals/DelegationTokenCredentialCallback.java · book 2.3.2
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ScramCredential:
    """The salt and iterations of the password, and two keys that were derived from it."""

    salt: bytes
    stored_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)
    iterations: int

    def to_string(self) -> str:
        """As Kafka writes it in ZooKeeper."""
        return (
            f"salt={_base64(self.salt)},stored_key={_base64(self.stored_key)},server_key={_base64(self.server_key)},"
            f"iterations={self.iterations}"
        )

    @classmethod
    def from_string(cls, text: str) -> ScramCredential:
        """Read it. Raises ValueError, without the keys in it."""
        pairs = dict(part.partition("=")[::2] for part in text.split(","))
        if set(pairs) != {"salt", "stored_key", "server_key", "iterations"}:
            raise ValueError(
                "Credentials not valid: must have salt, stored_key, server_key and iterations, nothing else"
            )
        try:
            salt, stored_key, server_key = (
                base64.b64decode(pairs[name], validate=True) for name in ("salt", "stored_key", "server_key")
            )
            return cls(salt, stored_key, server_key, int(pairs["iterations"]))
        except (binascii.Error, ValueError):
            raise ValueError("Credentials not valid: a key is not in base 64, or iterations is no number") from None


@dataclass(frozen=True)
class TokenCredential:
    """The credential of a delegation token, whose user is its owner."""

    credential: ScramCredential
    owner: str
    """The owner's name."""
    expiry_timestamp: int
    """When the token expires, in ms since 1970: the session of a client ends then, too."""


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
