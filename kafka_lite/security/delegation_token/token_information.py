"""A delegation token: its owner, its times, and its secret.

::

                 issue            expiry            new expiry           maximum
    ───────────────┼────────────────┼──────────────────┼───────────────────┼───▶ time
                   └── valid ───────┘                  │                   │
                          renewed ──▶ valid ───────────┘    never longer ──┘

The token's id is its user name, and its secret is its password: HMAC-SHA-512 of the id, with a key that only brokers
have (``delegation.token.secret.key``). So brokers need not store the secret.

Kafka 1.1: clients/.../common/security/token/delegation/TokenInformation.java, DelegationToken.java;
core/.../server/DelegationTokenManager.scala (createHmac) · book 2.3.2
"""

from __future__ import annotations

import base64
import hmac
from dataclasses import dataclass, field

from kafka_lite.common.security.kafka_principal import KafkaPrincipal


@dataclass(frozen=True)
class TokenInformation:
    """Everything but the secret. Times are in ms since 1970."""

    token_id: str
    owner: KafkaPrincipal
    """The user that a client with the token is."""
    token_requester: KafkaPrincipal
    """The user that asked for it; another one than the owner if it may do so (KIP-373)."""
    renewers: tuple[KafkaPrincipal, ...]
    """Others that may renew it, and end it."""
    issue_timestamp: int
    max_timestamp: int
    """When it ends even if it is renewed."""
    expiry_timestamp: int

    def owner_or_renewer(self, principal: KafkaPrincipal) -> bool:
        """Whether the token concerns this user, who may see it."""
        return principal in (self.owner, self.token_requester, *self.renewers)

    def may_be_renewed_by(self, principal: KafkaPrincipal) -> bool:
        """Whether this user may renew and expire it. The requester is not among those who may."""
        return principal in (self.owner, *self.renewers)

    def has_expired(self, now_ms: int) -> bool:
        """Whether its time is over."""
        return self.max_timestamp < now_ms or self.expiry_timestamp < now_ms


@dataclass(frozen=True)
class DelegationToken:
    """A token with its secret, which is never shown in a log."""

    token_info: TokenInformation
    hmac: bytes = field(repr=False)

    @property
    def hmac_as_base64_string(self) -> str:
        """The secret as text: the password of SCRAM."""
        return base64.b64encode(self.hmac).decode()


def create_hmac(token_id: str, secret_key: bytes) -> bytes:
    """The secret of a token: 64 bytes."""
    return hmac.digest(secret_key, token_id.encode(), "sha512")
