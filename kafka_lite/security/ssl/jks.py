"""Java's own key store format, JKS: reads its private keys and certificates.

::

    FEEDFEED  version=2  count        then for each entry:
        1  alias  time  size  locked key   count  (type  size  certificate)…     a private key and its chain
        2  alias  time  type  size  certificate                                  an authority
    SHA-1(password, "Mighty Aphrodite", all of the above)                        whether the password is right

A locked key is ``salt (20)  key XOR stream  SHA-1(password, key) (20)`` inside of PKCS #8's EncryptedPrivateKeyInfo.
Its stream is SHA-1(password, salt), then SHA-1(password, the block before), and so on.

OpenJDK: sun.security.provider.JavaKeyStore, KeyProtector; Kafka 0.10.2:
clients/.../common/security/ssl/SslFactory.java (SecurityStore) · book 2.3.1
"""

from __future__ import annotations

import hashlib
import hmac
from typing import NamedTuple

MAGIC = b"\xfe\xed\xfe\xed"
_WHITENER = b"Mighty Aphrodite"
_PRIVATE_KEY, _TRUSTED_CERTIFICATE = 1, 2
_DIGEST_BYTES = 20
_OCTET_STRING, _SEQUENCE = 0x04, 0x30
_KEY_PROTECTOR = bytes.fromhex("060a2b060104012a02110101")
"""The object identifier of Sun's algorithm, 1.3.6.1.4.1.42.2.17.1.1."""


class JksError(ValueError):
    """The bytes are no key store, or the password is wrong."""


class LockedKey(NamedTuple):
    """A private key under its password, and its certificate chain (DER), its own certificate first."""

    locked: bytes
    chain: list[bytes]

    def unlock(self, password: str) -> bytes:
        """The private key (PKCS #8, DER). Raises JksError."""
        return _unlocked(self.locked, password)


class JavaKeyStore(NamedTuple):
    """The entries of a key store."""

    private_keys: list[LockedKey]
    trusted: list[bytes]
    """Certificates of authorities, DER."""


def load_jks(data: bytes, password: str | None) -> JavaKeyStore:
    """Read a key store. Without a password its integrity is not checked. Raises JksError."""
    if password is not None:
        _check_integrity(data, password)
    reader = _Reader(data)
    if reader.take(4) != MAGIC or reader.number(4) != 2:
        raise JksError("is no key store of the format JKS, version 2")
    store = JavaKeyStore([], [])
    for _ in range(reader.number(4)):
        kind = reader.number(4)
        reader.text()  # the alias
        reader.take(8)  # the time
        if kind == _PRIVATE_KEY:
            locked = reader.take(reader.number(4))
            chain = [reader.certificate() for _ in range(reader.number(4))]
            store.private_keys.append(LockedKey(locked, chain))
        elif kind == _TRUSTED_CERTIFICATE:
            store.trusted.append(reader.certificate())
        else:
            raise JksError(f"has an entry of an unknown kind, {kind}")
    return store


def _check_integrity(data: bytes, password: str) -> None:
    content, digest = data[:-_DIGEST_BYTES], data[-_DIGEST_BYTES:]
    if not hmac.compare_digest(_sha1(_bytes_of(password), _WHITENER, content), digest):
        raise JksError("was tampered with, or its password is wrong")


def _unlocked(locked: bytes, password: str) -> bytes:
    """The key inside of an EncryptedPrivateKeyInfo of Sun's algorithm."""
    info = _Reader(_Reader(locked).element(_SEQUENCE))
    if not info.element(_SEQUENCE).startswith(_KEY_PROTECTOR):
        raise JksError("has a private key that is locked by an unknown algorithm")
    protected = info.element(_OCTET_STRING)
    secret = _bytes_of(password)
    block, check = protected[:_DIGEST_BYTES], protected[-_DIGEST_BYTES:]
    hidden = protected[_DIGEST_BYTES:-_DIGEST_BYTES]
    stream = b""
    while len(stream) < len(hidden):
        block = _sha1(secret, block)
        stream += block
    key = bytes(left ^ right for left, right in zip(hidden, stream, strict=False))
    if not hmac.compare_digest(_sha1(secret, key), check):
        raise JksError("has a private key with another password: set ssl.key.password")
    return key


def _bytes_of(password: str) -> bytes:
    return password.encode("utf-16-be")


def _sha1(*parts: bytes) -> bytes:
    return hashlib.sha1(b"".join(parts), usedforsecurity=False).digest()


class _Reader:
    """Takes values from the front of bytes. Raises JksError at their end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, size: int) -> bytes:
        if size > len(self._data) - self._at:
            raise JksError("is cut off")
        self._at += size
        return self._data[self._at - size : self._at]

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def text(self) -> bytes:
        return self.take(self.number(2))

    def certificate(self) -> bytes:
        if (kind := self.text()) != b"X.509":
            raise JksError(f"has a certificate of the kind {kind.decode('ascii', 'replace')}, not X.509")
        return self.take(self.number(4))

    def element(self, tag: int) -> bytes:
        """The content of the next element of DER."""
        if self.number(1) != tag:
            raise JksError("has a private key that is not DER")
        size = self.number(1)
        return self.take(self.number(size & 0x7F) if size & 0x80 else size)
