"""The public keys of a token's issuer (JWKS, RFC 7517): from a file, or from a URL.

::

    {"keys": [{"kty": "RSA", "kid": "2024-a", "n": "…", "e": "AQAB"}, {"kty": "EC", "kid": "b", "crv": "P-256", …}]}

Issuers change their keys. A file is read again when it has changed. A URL is asked again after
``sasl.oauthbearer.jwks.endpoint.refresh.ms``, and soon after a token that names an unknown key, always by a thread of
its own: the network threads, which check tokens, do not wait.

Kafka 3.1: clients/.../common/security/oauthbearer/internals/secured/RefreshingHttpsJwks.java,
JwksFileVerificationKeyResolver.java · book 2.3.2
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from kafka_lite.common.time import Time
from kafka_lite.security.sasl.mechanism_errors import JwksError

logger = logging.getLogger(__name__)

TIMEOUT_S = 10
MAX_BYTES = 1024 * 1024
UNKNOWN_KEY_MS = 10_000
"""How long to wait between two questions that tokens with unknown keys bring about: anyone can make such tokens."""
Key = Mapping[str, Any]
"""One key as JSON has it."""


class JsonWebKeySet:
    """The keys by their ids, as they are now."""

    def __init__(self, url: str, time: Time, refresh_ms: float = 3_600_000) -> None:
        """``url``: ``file:`` or ``https:``; ``http:`` is for tests.

        Raises JwksError if there are no keys to begin with.
        """
        self._url = url
        self._time = time
        self._refresh_ms = refresh_ms
        parts = urlsplit(url)
        self._file = Path(unquote(parts.path)) if parts.scheme == "file" else None
        if self._file is None and parts.scheme not in ("http", "https"):
            raise JwksError(f"{url}: must be a URL that begins with file: or https:")
        self._lock = threading.Lock()
        self._refreshing = False
        self._keys: Mapping[str, Key] = {}
        self._load()

    def key(self, key_id: str) -> Key | None:
        """The key of an id; None if there is none now. It may be there a moment later."""
        if self._file is not None:
            if self._stamp_of_file() != self._stamp:
                self._try_load()
        elif self._age_ms() >= (self._refresh_ms if key_id in self._keys else min(UNKNOWN_KEY_MS, self._refresh_ms)):
            self._refresh()
        return self._keys.get(key_id)

    def _age_ms(self) -> float:
        return self._time.hi_res_ms() - self._loaded_ms

    def _refresh(self) -> None:
        """Ask the URL in a thread that ends with the answer, unless one is asking already."""
        with self._lock:
            if self._refreshing:
                return
            self._refreshing = True
        threading.Thread(target=self._refresh_now, name="oauthbearer-jwks-refresh", daemon=True).start()

    def _refresh_now(self) -> None:
        try:
            self._try_load()
        finally:
            self._refreshing = False

    def _try_load(self) -> None:
        """Load, or keep the keys that are there."""
        try:
            self._load()
        except JwksError as error:
            logger.warning("Keeping the former keys of OAUTHBEARER: %s", error)

    def _load(self) -> None:
        self._loaded_ms, self._stamp = self._time.hi_res_ms(), self._stamp_of_file()
        read: Callable[[], bytes] = self._read_url if self._file is None else self._file.read_bytes
        try:
            self._keys = parse_jwks(read())
        except OSError as error:
            reason = getattr(error, "reason", None) or error.strerror or error
            raise JwksError(f"cannot read {self._url}: {reason}") from error
        logger.info("Loaded %d keys of OAUTHBEARER from %s", len(self._keys), self._url)

    def _read_url(self) -> bytes:
        from urllib.request import urlopen  # most brokers never need it

        with urlopen(self._url, timeout=TIMEOUT_S) as response:
            data: bytes = response.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise JwksError(f"{self._url} has more than {MAX_BYTES} bytes")
        return data

    def _stamp_of_file(self) -> tuple[int, int] | None:
        if self._file is None:
            return None
        try:
            found = self._file.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size


def parse_jwks(data: bytes) -> dict[str, Key]:
    """The keys for signatures by their ids. Raises JwksError."""
    try:
        keys = json.loads(data)["keys"]
        found = {str(key["kid"]): key for key in keys if key.get("use", "sig") == "sig" and "kid" in key}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise JwksError("is no JSON Web Key Set") from error
    if not found:
        raise JwksError("has no key with an id")
    return found
