"""All delegation tokens in memory, as network threads need them when a client authenticates by one.

Kafka 1.1: clients/.../common/security/token/delegation/internals/DelegationTokenCache.java · book 2.3.2
"""

from __future__ import annotations

from kafka_lite.security.delegation_token.token_information import DelegationToken, TokenInformation
from kafka_lite.security.scram.scram_credential import ScramCredential, TokenCredential
from kafka_lite.security.scram.scram_formatter import ScramFormatter
from kafka_lite.security.scram.scram_mechanism import ScramMechanism


class _Entry:
    """A token, and its credentials as far as they were needed."""

    def __init__(self, token: DelegationToken) -> None:
        self.token = token
        self._credentials: dict[ScramMechanism, ScramCredential] = {}

    def renewed(self, token: DelegationToken) -> _Entry:
        """The same token with other times; its secret, and so its credentials, stay."""
        entry = _Entry(token)
        entry._credentials = self._credentials
        return entry

    def credential(self, mechanism: ScramMechanism) -> ScramCredential:
        """Made when first asked for: thousands of slow hashes for each token would delay a broker's start."""
        found = self._credentials.get(mechanism)
        if found is None:
            password = self.token.hmac_as_base64_string
            found = ScramFormatter(mechanism).generate_credential(password, mechanism.min_iterations)
            self._credentials[mechanism] = found
        return found


class DelegationTokenCache:
    """Tokens by id and by secret. One thread at a time changes them; network threads read them without a lock."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._ids: dict[bytes, str] = {}

    def update(self, token: DelegationToken) -> None:
        """Take over a token that is new, or was renewed."""
        token_id = token.token_info.token_id
        known = self._entries.get(token_id)
        self._entries[token_id] = _Entry(token) if known is None else known.renewed(token)
        self._ids[token.hmac] = token_id

    def remove(self, token_id: str) -> None:
        """Forget a token; no client can authenticate by it from now on."""
        entry = self._entries.pop(token_id, None)
        if entry is not None:
            self._ids.pop(entry.token.hmac, None)

    def tokens(self) -> list[DelegationToken]:
        """All tokens, including those that have expired and are not deleted yet."""
        return [entry.token for entry in list(self._entries.values())]

    def token_for_hmac(self, hmac: bytes) -> DelegationToken | None:
        """The token of a secret; None if there is none."""
        entry = self._entries.get(self._ids.get(hmac, ""))
        return None if entry is None else entry.token

    def credential(self, mechanism: ScramMechanism, token_id: str) -> TokenCredential | None:
        """The token as SCRAM's server needs it; None if there is none of this id."""
        entry = self._entries.get(token_id)
        if entry is None:
            return None
        info: TokenInformation = entry.token.token_info
        return TokenCredential(entry.credential(mechanism), info.owner.name, info.expiry_timestamp)
