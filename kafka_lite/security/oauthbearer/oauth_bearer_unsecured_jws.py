"""Unsecured tokens: JSON without a signature, which anybody can make. They are for development and tests.

::

    header . claims .                 each in base 64 for URLs; no signature after the second dot
    {"alg":"none"}
    {"sub":"alice","iat":1500000000.0,"exp":1500003600.0,"scope":["orders"]}

Kafka 2.0: clients/.../common/security/oauthbearer/internals/unsecured/OAuthBearerUnsecuredJws.java,
OAuthBearerValidationUtils.java, OAuthBearerUnsecuredValidatorCallbackHandler.java,
OAuthBearerUnsecuredLoginCallbackHandler.java · book 2.3.2
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_lite.common.errors import KafkaError

DEFAULT_PRINCIPAL_CLAIM = "sub"
DEFAULT_SCOPE_CLAIM = "scope"
DEFAULT_LIFETIME_S = 3600


class IllegalTokenError(KafkaError):
    """The reason why a token is not accepted; ``failure_scope``: the scope that it lacks."""

    def __init__(self, message: str, failure_scope: str | None = None) -> None:
        super().__init__(message)
        self.failure_scope = failure_scope


@dataclass(frozen=True)
class OAuthBearerToken:
    """A token that could be read: its user, its end, and what it is good for."""

    value: str
    principal_name: str
    lifetime_ms: int
    """When it ends, in milliseconds since 1970."""
    start_time_ms: int | None
    scope: frozenset[str]


def read_unsecured_token(
    value: str, principal_claim: str = DEFAULT_PRINCIPAL_CLAIM, scope_claim: str = DEFAULT_SCOPE_CLAIM
) -> OAuthBearerToken:
    """Read a token, without a look at the clock. Raises IllegalTokenError."""
    parts = value.split(".")
    if len(parts) != 3 or not parts[0] or not parts[1]:
        raise IllegalTokenError(
            "Unsecured JWS compact serializations must have 3 dot-separated Base64URL-encoded values"
        )
    header, claims = json_of(parts[0]), json_of(parts[1])
    if header.get("alg") != "none":
        raise IllegalTokenError("Unsecured JWS must have 'none' for an algorithm")
    if parts[2]:
        raise IllegalTokenError("Unsecured JWS must not contain a digital signature")
    expiration, issued = number_of(claims, "exp"), number_of(claims, "iat")
    if expiration is None:
        raise IllegalTokenError("No expiration time in JWT")
    principal = claims.get(principal_claim)
    if not isinstance(principal, str) or not principal.strip():
        raise IllegalTokenError(f"No principal name in JWT claim: {principal_claim}")
    if issued is not None and expiration <= issued:
        raise IllegalTokenError("The expiration time is not after the time of issue")
    start_ms = None if issued is None else round(issued * 1000)
    return OAuthBearerToken(value, principal, round(expiration * 1000), start_ms, scope_of(claims.get(scope_claim)))


@dataclass(frozen=True)
class UnsecuredValidator:
    """The broker's rules for unsecured tokens, from its JAAS configuration."""

    principal_claim: str = DEFAULT_PRINCIPAL_CLAIM
    scope_claim: str = DEFAULT_SCOPE_CLAIM
    required_scope: Sequence[str] = ()
    allowable_clock_skew_ms: int = 0

    @classmethod
    def of(cls, options: Mapping[str, str]) -> UnsecuredValidator:
        """From the options ``unsecuredValidator…`` of the login module. Raises ValueError."""

        def option(name: str) -> str:
            return options.get(f"unsecuredValidator{name}", "").strip()

        skew = option("AllowableClockSkewMs") or "0"
        if not skew.isascii() or not skew.isdigit():
            raise ValueError(f"unsecuredValidatorAllowableClockSkewMs must be a number of milliseconds, not {skew!r}")
        return cls(
            option("PrincipalClaimName") or DEFAULT_PRINCIPAL_CLAIM,
            option("ScopeClaimName") or DEFAULT_SCOPE_CLAIM,
            tuple(option("RequiredScope").split()),
            int(skew),
        )

    def validate(self, value: str, now_ms: int) -> OAuthBearerToken:
        """The token. Raises IllegalTokenError if it is not one, or too old, or lacks a scope."""
        token = read_unsecured_token(value, self.principal_claim, self.scope_claim)
        if token.start_time_ms is not None and token.start_time_ms > now_ms + self.allowable_clock_skew_ms:
            raise IllegalTokenError("The token was issued after the time of the broker's clock")
        if now_ms - self.allowable_clock_skew_ms >= token.lifetime_ms:
            raise IllegalTokenError("The token has expired")
        for scope in self.required_scope:
            if scope not in token.scope:
                raise IllegalTokenError(f"The token lacks the scope {scope}", f"[{', '.join(self.required_scope)}]")
        return token


def new_unsecured_token(options: Mapping[str, str], now_ms: int) -> OAuthBearerToken:
    """Make a token from the options ``unsecuredLogin…`` of a client's login module. Raises ValueError.

    ``unsecuredLoginStringClaim_sub="alice"`` is a claim of text; NumberClaim and ListClaim make others.
    """
    prefix = "unsecuredLogin"
    claims: dict[str, Any] = {"exp": now_ms / 1000 + _lifetime_s(options), "iat": now_ms / 1000}
    for key, value in options.items():
        kind, underscore, claim = key.removeprefix(prefix).partition("_")
        if not key.startswith(prefix) or not underscore or not claim:
            continue
        if claim in ("exp", "iat"):
            raise ValueError(f"Cannot explicitly set the '{claim}' claim")
        if kind == "StringClaim":
            claims[claim] = value
        elif kind == "NumberClaim":
            claims[claim] = float(value)
        elif kind == "ListClaim":
            claims[claim] = value[1:].split(value[0]) if len(value) > 1 else []
    principal = options.get(f"{prefix}PrincipalClaimName", "").strip() or DEFAULT_PRINCIPAL_CLAIM
    scope = options.get(f"{prefix}ScopeClaimName", "").strip() or DEFAULT_SCOPE_CLAIM
    try:
        return read_unsecured_token(f"{_text_of({'alg': 'none'})}.{_text_of(claims)}.", principal, scope)
    except IllegalTokenError as error:
        raise ValueError(f'{error}: add {prefix}StringClaim_{principal}="…" to the JAAS config') from error


def _lifetime_s(options: Mapping[str, str]) -> int:
    text = options.get("unsecuredLoginLifetimeSeconds", str(DEFAULT_LIFETIME_S))
    if not text.isascii() or not text.isdigit() or not 0 < len(text) <= 10:
        raise ValueError(f"unsecuredLoginLifetimeSeconds must be a number of seconds, not {text!r}")
    return int(text)


def _text_of(value: Mapping[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).rstrip(b"=").decode()


def json_of(part: str) -> dict[str, Any]:
    """The JSON object in a part of a token. Raises IllegalTokenError."""
    try:
        value = json.loads(base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError) as error:
        raise IllegalTokenError("malformed Base64 URL encoded value, or malformed JSON") from error
    if not isinstance(value, dict):
        raise IllegalTokenError("malformed JSON")
    return value


def number_of(claims: Mapping[str, Any], claim: str) -> float | None:
    """A claim that is a number; None if it is missing. Raises IllegalTokenError."""
    value = claims.get(claim)
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or abs(value) > 1e15 or value != value:
        raise IllegalTokenError(f"The '{claim}' claim was not a number")
    return float(value)


def scope_of(value: object) -> frozenset[str]:
    """A text is one scope, even with spaces; a list has several."""
    entries = value if isinstance(value, list) else [] if value is None else [value]
    return frozenset(entry.strip() for entry in map(str, entries) if entry.strip())
