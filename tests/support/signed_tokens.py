"""An issuer of signed tokens, with keys of several kinds."""

from __future__ import annotations

import base64
import json
from functools import cache
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def json_text(value: object) -> str:
    return encoded(json.dumps(value).encode())


def _number(value: int) -> str:
    return encoded(value.to_bytes((value.bit_length() + 7) // 8, "big"))


@cache
def rsa_key(name: str) -> rsa.RSAPrivateKey:  # each name has a key of its own
    return rsa.generate_private_key(65537, 2048)


@cache
def ec_key(name: str) -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def rsa_jwk(name: str) -> dict[str, Any]:
    numbers = rsa_key(name).public_key().public_numbers()
    return {"kty": "RSA", "kid": name, "use": "sig", "n": _number(numbers.n), "e": _number(numbers.e)}


def ec_jwk(name: str) -> dict[str, Any]:
    numbers = ec_key(name).public_key().public_numbers()
    x, y = (encoded(each.to_bytes(32, "big")) for each in (numbers.x, numbers.y))
    return {"kty": "EC", "kid": name, "crv": "P-256", "x": x, "y": y}


def jwks(*keys: dict[str, Any]) -> bytes:
    return json.dumps({"keys": keys}).encode()


def token(claims: dict[str, Any], algorithm: str = "RS256", key: str = "a", **header: object) -> str:
    signed = f"{json_text({'alg': algorithm, 'kid': key} | header)}.{json_text(claims)}"
    return f"{signed}.{encoded(_signature(algorithm, key, signed.encode()))}"


def _signature(algorithm: str, key: str, signed: bytes) -> bytes:
    digest = hashes.SHA256()
    match algorithm:
        case "RS256":
            return rsa_key(key).sign(signed, padding.PKCS1v15(), digest)
        case "PS256":
            return rsa_key(key).sign(signed, padding.PSS(padding.MGF1(digest), digest.digest_size), digest)
        case "ES256":
            r, s = utils.decode_dss_signature(ec_key(key).sign(signed, ec.ECDSA(digest)))
            return r.to_bytes(32, "big") + s.to_bytes(32, "big")
    return b"no signature"
