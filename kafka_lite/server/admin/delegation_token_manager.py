"""Creates, renews and expires delegation tokens, and follows what other brokers do with them.

Kafka 1.1: core/.../server/DelegationTokenManager.scala, since 3.6 DelegationTokenManagerZk.scala · book 2.3.5
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.ids.uuids import encode_uuid
from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.common.time import Time
from kafka_lite.security.delegation_token.delegation_token_cache import DelegationTokenCache
from kafka_lite.security.delegation_token.token_information import DelegationToken, TokenInformation, create_hmac
from kafka_lite.zookeeper.zk_errors import ZkConnectionError

logger = logging.getLogger(__name__)

_LATEST_TIME_MS = 2**63 - 1
"""A later time would not fit into a response."""


@dataclass(frozen=True)
class DelegationTokenConfig:
    """The keys of a broker; times are in ms."""

    secret_key: bytes = field(repr=False)
    """Empty: there are no delegation tokens."""
    max_lifetime_ms: int
    expiry_time_ms: int
    expiry_check_interval_ms: int

    @staticmethod
    def of(values: Mapping[str, Any]) -> DelegationTokenConfig:
        """Read ``delegation.token.secret.key``, or its older name, and the times."""
        prefix = "delegation.token"
        key = values[f"{prefix}.secret.key"] or values[f"{prefix}.master.key"]
        return DelegationTokenConfig(
            b"" if key is None else key.value.encode(),
            values[f"{prefix}.max.lifetime.ms"],
            values[f"{prefix}.expiry.time.ms"],
            values[f"{prefix}.expiry.check.interval.ms"],
        )


class DelegationTokenStore(Protocol):
    """The tokens that all brokers share, without their secrets."""

    def token_ids(self) -> Iterable[str]:
        """The ids of all tokens."""
        ...

    def read(self, token_id: str) -> TokenInformation | None:
        """A token; None if it is not there. Raises KafkaError if it cannot be read."""
        ...

    def write(self, token: TokenInformation) -> None:
        """Create a token, or replace it."""
        ...

    def delete(self, token_id: str) -> None:
        """Delete a token, if it is there."""
        ...

    def announce(self, token_id: str) -> None:
        """Let all brokers read the token again."""
        ...


class DelegationTokenManager:
    """Any broker changes tokens: first in the store, then in its cache, then it tells the others."""

    def __init__(
        self, config: DelegationTokenConfig, store: DelegationTokenStore, cache: DelegationTokenCache, time: Time
    ) -> None:
        self.config = config
        self._store = store
        self._cache = cache
        self._time = time
        self._lock = threading.Lock()
        """Guards changes of the store and the cache; authenticating clients need none."""

    @property
    def enabled(self) -> bool:
        """Whether there are delegation tokens here."""
        return bool(self.config.secret_key)

    # ── What the store has ────────────────────────────────────────────────────────────────────────────────────────

    def load(self) -> None:
        """Read all tokens. Watch for changes first, so that none falls between."""
        with self._lock:
            token_ids = list(self._store.token_ids())
            logger.info("Loading the token cache. Total token count: %d", len(token_ids))
            for token_id in token_ids:
                try:
                    self._read(token_id)
                except ZkConnectionError:
                    raise
                except KafkaError as error:
                    logger.error("Ignoring the delegation token %s: %s", token_id, error)

    def changed(self, token_id: str) -> None:
        """A broker has announced a change: read the token again. Raises KafkaError if it cannot be read."""
        with self._lock:
            logger.info("Processing Token Notification for tokenId: %s", token_id)
            self._read(token_id)

    def _read(self, token_id: str) -> None:
        info = self._store.read(token_id)
        if info is None:
            self._cache.remove(token_id)
        else:
            self._cache.update(self._with_hmac(info))

    def _with_hmac(self, info: TokenInformation) -> DelegationToken:
        return DelegationToken(info, create_hmac(info.token_id, self.config.secret_key))

    # ── What users ask for ────────────────────────────────────────────────────────────────────────────────────────

    def create_token(
        self, owner: KafkaPrincipal, requester: KafkaPrincipal, renewers: Sequence[KafkaPrincipal], max_lifetime_ms: int
    ) -> DelegationToken:
        """A new token. ``max_lifetime_ms``: 0 or less for the broker's maximum, which is never exceeded.

        Raises ApiError: DELEGATION_TOKEN_AUTH_DISABLED.
        """
        self._require_enabled()
        longest_ms = self.config.max_lifetime_ms
        with self._lock:
            now_ms = self._time.milliseconds()
            max_timestamp = _after(now_ms, longest_ms if max_lifetime_ms <= 0 else min(max_lifetime_ms, longest_ms))
            info = TokenInformation(
                token_id=encode_uuid(uuid.uuid4()),
                owner=owner,
                token_requester=requester,
                renewers=tuple(renewers),
                issue_timestamp=now_ms,
                max_timestamp=max_timestamp,
                expiry_timestamp=min(max_timestamp, _after(now_ms, self.config.expiry_time_ms)),
            )
            token = self._with_hmac(info)
            self._update(token)
        logger.info("Created a delegation token: %s for owner: %s", info.token_id, owner)
        return token

    def renew_token(self, principal: KafkaPrincipal, hmac: bytes, renew_period_ms: int) -> int:
        """Let a token expire later; returns when. A negative period stands for ``delegation.token.expiry.time.ms``.

        Raises ApiError: DELEGATION_TOKEN_AUTH_DISABLED, _NOT_FOUND, _OWNER_MISMATCH or _EXPIRED.
        """
        with self._lock:
            token = self._token_of(principal, hmac)
            period_ms = self.config.expiry_time_ms if renew_period_ms < 0 else renew_period_ms
            expiry_timestamp = self._let_expire(token, period_ms)
        logger.info("Delegation token renewed for token: %s", _named(token))
        return expiry_timestamp

    def expire_token(self, principal: KafkaPrincipal, hmac: bytes, expiry_period_ms: int) -> int:
        """Let a token expire after a period, or at once (negative: even one that has expired); returns when.

        Raises ApiError as ``renew_token`` does.
        """
        with self._lock:
            token = self._token_of(principal, hmac)
            if expiry_period_ms < 0:
                self._remove(token.token_info.token_id)
                logger.info("Token expired for token: %s", _named(token))
                return self._time.milliseconds()
            expiry_timestamp = self._let_expire(token, expiry_period_ms)
        logger.info("Updated expiry time for token: %s", _named(token))
        return expiry_timestamp

    def tokens(self) -> list[DelegationToken]:
        """All tokens. Raises ApiError: DELEGATION_TOKEN_AUTH_DISABLED."""
        self._require_enabled()
        return self._cache.tokens()

    def expire_tokens(self) -> None:
        """Delete the tokens whose time is over: the controller does so from time to time."""
        with self._lock:
            for token in self._cache.tokens():
                if token.token_info.has_expired(self._time.milliseconds()):
                    logger.info("Delegation token expired for token: %s", _named(token))
                    self._remove(token.token_info.token_id)

    def _require_enabled(self) -> None:
        if not self.enabled:
            raise Errors.DELEGATION_TOKEN_AUTH_DISABLED.exception()

    def _token_of(self, principal: KafkaPrincipal, hmac: bytes) -> DelegationToken:
        """The token that a user may renew and expire. Raises ApiError."""
        self._require_enabled()
        token = self._cache.token_for_hmac(hmac)
        if token is None:
            raise Errors.DELEGATION_TOKEN_NOT_FOUND.exception()
        if not token.token_info.may_be_renewed_by(principal):
            raise Errors.DELEGATION_TOKEN_OWNER_MISMATCH.exception()
        return token

    def _let_expire(self, token: DelegationToken, period_ms: int) -> int:
        info, now_ms = token.token_info, self._time.milliseconds()
        if info.has_expired(now_ms):
            raise Errors.DELEGATION_TOKEN_EXPIRED.exception()
        expiry_timestamp = min(info.max_timestamp, _after(now_ms, period_ms))
        self._update(replace(token, token_info=replace(info, expiry_timestamp=expiry_timestamp)))
        return expiry_timestamp

    def _update(self, token: DelegationToken) -> None:
        self._store.write(token.token_info)
        self._cache.update(token)
        self._store.announce(token.token_info.token_id)

    def _remove(self, token_id: str) -> None:
        self._store.delete(token_id)
        self._cache.remove(token_id)
        self._store.announce(token_id)


def _after(now_ms: int, period_ms: int) -> int:
    return min(now_ms + period_ms, _LATEST_TIME_MS)


def _named(token: DelegationToken) -> str:
    return f"{token.token_info.token_id} for owner: {token.token_info.owner}"
