"""Key and trust stores of the formats PEM, PKCS12 and JKS, read as PEM.

Java recognises PKCS12 and JKS by their bytes, whichever of the two ``ssl.keystore.type`` names, and so does this.

Kafka 0.10.2: clients/.../common/security/ssl/SslFactory.java (SecurityStore); since 2.6 DefaultSslEngineFactory.java
(FileBasedStore) · book 2.3.1
"""

from __future__ import annotations

import base64
from collections.abc import Iterable

from kafka_lite.security.ssl.jks import MAGIC, JksError, load_jks

PEM = "PEM"
STORE_TYPES = (PEM, "JKS", "PKCS12")
_PEM_BEGINS = b"-----BEGIN"
_NO_PASSWORD = "needs the password of the store"


class KeyStoreError(ValueError):
    """The store cannot be read, or has no such entry."""


def is_pem(data: bytes, kind: str) -> bool:
    """Whether a store is PEM, which OpenSSL reads by itself. Raises KeyStoreError if its type says otherwise."""
    if _PEM_BEGINS in data and kind != PEM:
        raise KeyStoreError(f"is a PEM file, no {kind}: set its type to PEM")
    return _PEM_BEGINS in data or not (data.startswith(MAGIC) or _is_pkcs12(data))


def key_and_chain(data: bytes, password: str | None, key_password: str | None) -> str:
    """The private key of a store of PKCS12 or JKS, and its certificate chain, as PEM. Raises KeyStoreError."""
    if password is None:
        raise KeyStoreError(_NO_PASSWORD)
    if not data.startswith(MAGIC):
        key, certificates = _pkcs12(data, password)
    else:
        key, certificates = _jks(data, password, password if key_password is None else key_password)
    if key is None:
        raise KeyStoreError("has no private key")
    return key + "".join(certificates)


def trusted_certificates(data: bytes, password: str | None) -> str:
    """All certificates of authorities in a store of PKCS12 or JKS, as PEM. Raises KeyStoreError."""
    if not data.startswith(MAGIC):
        _, certificates = _pkcs12(data, password)
    else:
        try:
            certificates = _pem(load_jks(data, password).trusted)
        except JksError as error:
            raise KeyStoreError(str(error)) from error
    if not certificates:
        raise KeyStoreError("has no certificate of an authority")
    return "".join(certificates)


def _jks(data: bytes, password: str, key_password: str) -> tuple[str | None, list[str]]:
    try:
        keys = load_jks(data, password).private_keys
        return (_armoured("PRIVATE KEY", keys[0].unlock(key_password)), _pem(keys[0].chain)) if keys else (None, [])
    except JksError as error:
        raise KeyStoreError(str(error)) from error


def _pkcs12(data: bytes, password: str | None) -> tuple[str | None, list[str]]:
    """The key, if there is one, and all certificates: that of the key first, and then its issuers."""
    try:
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, pkcs12
    except ImportError as missing:
        raise KeyStoreError("PKCS12 needs cryptography: pip install 'kafka-lite[security]'") from missing
    try:
        store = pkcs12.load_pkcs12(data, None if password is None else password.encode())
    except ValueError as error:
        raise KeyStoreError(f"{error}. Is the password right?") from error
    found = [each.certificate for each in (store.cert, *store.additional_certs) if each is not None]
    pem = [each.public_bytes(Encoding.PEM).decode() for each in found]
    if store.key is None:
        return None, pem
    key = store.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return key.decode(), pem


def _is_pkcs12(data: bytes) -> bool:
    """Whether it is a sequence of DER, which begins with version 3."""
    return data[:1] == b"\x30" and b"\x02\x01\x03" in data[:9]


def _pem(certificates: Iterable[bytes]) -> list[str]:
    return [_armoured("CERTIFICATE", each) for each in certificates]


def _armoured(label: str, der: bytes) -> str:
    text = base64.b64encode(der).decode()
    lines = [text[at : at + 64] for at in range(0, len(text), 64)]
    return "\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----", ""])
