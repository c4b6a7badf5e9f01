"""Signed tokens: the issuer's public keys check them, and only the issuer can make them.

::

    header . claims . signature                     each in base 64 for URLs
    {"alg":"RS256","kid":"2024-a"}                  how it is signed, and with which of the issuer's keys
    {"sub":"alice","iss":"https://…","aud":["kafka"],"iat":1500000000,"exp":1500003600,"scope":"orders"}

Kafka 3.1: clients/.../common/security/oauthbearer/internals/secured/ValidatorAccessTokenValidator.java,
clients/.../common/config/SaslConfigs.java (sasl.oauthbearer.…), KIP-768 · book 2.3.2
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_lite.security.oauthbearer.json_web_key_set import Key
from kafka_lite.security.oauthbearer.oauth_bearer_unsecured_jws import (
    IllegalTokenError,
    OAuthBearerToken,
    json_of,
    number_of,
    scope_of,
)
from kafka_lite.security.sasl.mechanism_errors import MissingCryptographyError

_HASHES = {"256": "SHA256", "384": "SHA384", "512": "SHA512"}
_CURVES = {"P-256": ("SECP256R1", "ES256"), "P-384": ("SECP384R1", "ES384"), "P-521": ("SECP521R1", "ES512")}
MAX_TOKEN = 64 * 1024


def require_cryptography() -> None:
    """Raise MissingCryptographyError, which says what to install."""
    try:
        import cryptography  # noqa: F401
    except ImportError as missing:
        text = "signed tokens need cryptography: pip install 'kafka-lite[security]'"
        raise MissingCryptographyError(text) from missing


@dataclass(frozen=True)
class SecuredValidator:
    """The broker's rules for signed tokens, from the keys ``sasl.oauthbearer.…``."""

    key_of: Callable[[str], Key | None]
    expected_audience: Sequence[str] = ()
    expected_issuer: str | None = None
    clock_skew_ms: int = 30_000
    principal_claim: str = "sub"
    scope_claim: str = "scope"

    def validate(self, value: str, now_ms: int) -> OAuthBearerToken:
        """The token. Raises IllegalTokenError if its signature, times, issuer or audience are not as they should be."""
        header_text, claims_text, signature_text = _parts(value)
        header = json_of(header_text)
        self._check_signature(header, f"{header_text}.{claims_text}".encode("ascii"), _decoded(signature_text))
        claims = json_of(claims_text)
        expiration, issued = number_of(claims, "exp"), number_of(claims, "iat")
        if expiration is None or issued is None:
            raise IllegalTokenError("The token must have the claims exp and iat")
        if expiration * 1000 + self.clock_skew_ms <= now_ms:
            raise IllegalTokenError("The token has expired")
        not_before = number_of(claims, "nbf")
        if (not_before if not_before is not None else issued) * 1000 - self.clock_skew_ms > now_ms:
            raise IllegalTokenError("The token is not valid yet")
        self._check_origin(claims)
        principal = claims.get(self.principal_claim)
        if not isinstance(principal, str) or not principal.strip():
            raise IllegalTokenError(f"No principal name in JWT claim: {self.principal_claim}")
        scope = claims.get(self.scope_claim)
        scopes = scope_of(scope.split() if isinstance(scope, str) else scope)
        return OAuthBearerToken(value, principal.strip(), round(expiration * 1000), round(issued * 1000), scopes)

    def _check_signature(self, header: Mapping[str, Any], signed: bytes, signature: bytes) -> None:
        key = self.key_of(str(header.get("kid", "")))
        if key is None:
            raise IllegalTokenError("The token is signed with a key that the issuer does not have")
        if not _is_signed(header.get("alg"), key, signed, signature):
            raise IllegalTokenError("The token's signature is wrong")

    def _check_origin(self, claims: Mapping[str, Any]) -> None:
        if self.expected_issuer is not None and claims.get("iss") != self.expected_issuer:
            raise IllegalTokenError("The token is of another issuer")
        audience = claims.get("aud")
        audiences = audience if isinstance(audience, list) else [audience]
        if self.expected_audience and not set(self.expected_audience) & {each for each in audiences if each}:
            raise IllegalTokenError("The token is for another audience")


def _parts(value: str) -> list[str]:
    parts = value.split(".")
    if len(value) > MAX_TOKEN or len(parts) != 3 or not all(parts):
        raise IllegalTokenError("Signed tokens have 3 dot-separated Base64URL-encoded values")
    return parts


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise IllegalTokenError("malformed Base64 URL encoded value") from error


def _is_signed(algorithm: object, key: Key, signed: bytes, signature: bytes) -> bool:
    """Whether the signature is of this key. The key's kind decides which algorithms may be named, never the token."""
    from cryptography.exceptions import InvalidSignature

    if key.get("alg", algorithm) != algorithm or not isinstance(algorithm, str):
        return False
    try:
        match key.get("kty"):
            case "RSA" if algorithm[:2] in ("RS", "PS") and algorithm[2:] in _HASHES:
                _verify_rsa(algorithm, key, signed, signature)
            case "EC" if _CURVES.get(str(key.get("crv")), ("", ""))[1] == algorithm:
                _verify_ec(algorithm, key, signed, signature)
            case _:
                return False
    except (InvalidSignature, ValueError, KeyError, TypeError, AttributeError):
        return False
    return True


def _verify_rsa(algorithm: str, key: Key, signed: bytes, signature: bytes) -> None:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import padding, rsa

    digest = getattr(hashes, _HASHES[algorithm[2:]])()
    public = rsa.RSAPublicNumbers(_integer(key["e"]), _integer(key["n"])).public_key()
    if algorithm.startswith("PS"):
        public.verify(signature, signed, padding.PSS(padding.MGF1(digest), digest.digest_size), digest)
    else:
        public.verify(signature, signed, padding.PKCS1v15(), digest)


def _verify_ec(algorithm: str, key: Key, signed: bytes, signature: bytes) -> None:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, utils

    curve = getattr(ec, _CURVES[key["crv"]][0])()
    public = ec.EllipticCurvePublicNumbers(_integer(key["x"]), _integer(key["y"]), curve).public_key()
    half = (curve.key_size + 7) // 8
    if len(signature) != 2 * half:
        raise ValueError("a signature of another size")
    r, s = int.from_bytes(signature[:half], "big"), int.from_bytes(signature[half:], "big")
    public.verify(utils.encode_dss_signature(r, s), signed, ec.ECDSA(getattr(hashes, _HASHES[algorithm[2:]])()))


def _integer(text: str) -> int:
    return int.from_bytes(_decoded(text), "big")
