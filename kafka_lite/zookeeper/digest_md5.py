"""SASL's mechanism DIGEST-MD5, as ZooKeeper's clients and servers use it: both sides, without I/O.

::

    client                                          server
      │ (empty)                                       │
      │ ────────────────────────────────────────────▶ │
      │   realm="zk-sasl-md5",nonce="…",charset=utf-8 │
      │ ◀──────────────────────────────────────────── │
      │   username="kafka",cnonce="…",response=…      │
      │ ────────────────────────────────────────────▶ │ the user is known, and the response is right
      │   rspauth=…                                   │
      │ ◀──────────────────────────────────────────── │
      the server knows the password, too

The response is a hash of the password and both nonces: nobody can read the password, or send the response again.

RFC 2831; ZooKeeper 3.8: zookeeper-server/.../client/ZooKeeperSaslClient.java, server/ZooKeeperSaslServer.java, and
DigestMD5Client and DigestMD5Server of the JDK · book 7.1.3
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping

REALM = "zk-sasl-md5"
"""The realm, and the server's host name in the digest: ZooKeeper does not use its real one."""
DIGEST_URI = f"zookeeper/{REALM}"
MAX_TOKEN_BYTES = 4096
_FIRST_USE = "00000001"
_QOP = "auth"
_DIRECTIVE = re.compile(r'\s*([a-z-]+)=(?:"((?:\\.|[^"\\])*)"|([^,"\s]*))\s*(?:,|\Z)')


class DigestError(Exception):
    """The other side did not prove that it knows the password, or its token cannot be read."""


class DigestMd5Client:
    """A client's side of one authentication."""

    def __init__(self, username: str, password: str, cnonce: str | None = None) -> None:
        self._username = username
        self._password = password
        self._cnonce = cnonce or secrets.token_urlsafe(24)
        self._expected: str | None = None
        self.is_complete = False

    def evaluate_challenge(self, challenge: bytes) -> bytes:
        """The next token for the server; empty once it has proved itself. Raises DigestError."""
        directives = parse_directives(challenge)
        if self._expected is not None:
            if not hmac.compare_digest(directives.get("rspauth", "").encode(), self._expected.encode()):
                raise DigestError("the server does not know the password")
            self.is_complete = True
            return b""
        nonce, realm = directives.get("nonce"), directives.get("realm", "")
        if not nonce:
            raise DigestError("the challenge has no nonce")
        fields = {
            "charset": "utf-8",
            "username": self._username,
            "realm": realm,
            "nonce": nonce,
            "nc": _FIRST_USE,
            "cnonce": self._cnonce,
            "digest-uri": DIGEST_URI,
            "maxbuf": "65536",
            "qop": _QOP,
        }
        self._expected = response_value(fields, self._password, "")
        fields["response"] = response_value(fields, self._password, "AUTHENTICATE")
        return encode_directives(fields)


class DigestMd5Server:
    """A server's side of one authentication; ``users`` has the passwords."""

    def __init__(self, users: Mapping[str, str], nonce: str | None = None) -> None:
        self._users = users
        self._nonce = nonce or secrets.token_urlsafe(24)
        self._has_challenged = False
        self.authorization_id: str | None = None

    def evaluate_response(self, token: bytes) -> bytes:
        """The next token for the client; ``authorization_id`` is set once it has proved itself. Raises DigestError."""
        if self.authorization_id is not None:
            raise DigestError("the authentication is already complete")
        if not self._has_challenged:
            self._has_challenged = True
            return encode_directives(
                {"realm": REALM, "nonce": self._nonce, "qop": _QOP, "charset": "utf-8", "algorithm": "md5-sess"}
            )
        fields = parse_directives(token)
        wanted = {"nonce": self._nonce, "nc": _FIRST_USE, "digest-uri": DIGEST_URI, "qop": _QOP, "realm": REALM}
        for name, value in wanted.items():
            if fields.get(name, _DEFAULTS.get(name)) != value:
                raise DigestError(f"the response has another {name}")
        username = fields.get("username", "")
        password = self._users.get(username)
        # The hash is made for an unknown user, too: the time that it takes tells nobody who is known.
        expected = response_value(
            fields, password if password is not None else secrets.token_urlsafe(8), "AUTHENTICATE"
        )
        if not hmac.compare_digest(fields.get("response", "").encode(), expected.encode()) or password is None:
            raise DigestError("wrong user or password")
        if fields.get("authzid", username) != username:
            raise DigestError("a user may only be authorized as itself")
        self.authorization_id = username
        return encode_directives({"rspauth": response_value(fields, password, "")})


_DEFAULTS = {"qop": _QOP}


def response_value(fields: Mapping[str, str], password: str, method: str) -> str:
    """The hash that proves the password: of the client with the method AUTHENTICATE, of the server with none."""
    secret = _md5(
        b":".join((_hashed(fields.get("username", "")), _hashed(fields.get("realm", "")), _hashed(password)))
    ).digest()
    a1 = [secret, fields.get("nonce", "").encode(), fields.get("cnonce", "").encode()]
    if "authzid" in fields:
        a1.append(fields["authzid"].encode())
    ha1 = _md5(b":".join(a1)).hexdigest()
    ha2 = _md5(f"{method}:{fields.get('digest-uri', '')}".encode()).hexdigest()
    middle = [fields.get(name, _DEFAULTS.get(name, "")) for name in ("nonce", "nc", "cnonce", "qop")]
    return _md5(":".join((ha1, *middle, ha2)).encode()).hexdigest()


def parse_directives(token: bytes) -> dict[str, str]:
    """``key=value,key="value"``. Raises DigestError if the token is malformed or too long, or repeats a key."""
    if len(token) > MAX_TOKEN_BYTES:
        raise DigestError(f"a token of {len(token)} bytes is longer than {MAX_TOKEN_BYTES}")
    try:
        text = token.decode()
    except UnicodeDecodeError as error:
        raise DigestError("a token that is not UTF-8") from error
    found: dict[str, str] = {}
    at = 0
    while at < len(text):
        match = _DIRECTIVE.match(text, at)
        if match is None or match[1] in found:
            raise DigestError("a token that cannot be read")
        found[match[1]] = re.sub(r"\\(.)", r"\1", match[2], flags=re.DOTALL) if match[2] is not None else match[3]
        at = match.end()
    return found


def encode_directives(fields: Mapping[str, str]) -> bytes:
    """The token. Values are quoted where RFC 2831 asks for it."""
    return ",".join(
        f"{name}={value}" if name in _BARE else f'{name}="{_escaped(value)}"' for name, value in fields.items()
    ).encode()


_BARE = frozenset({"nc", "charset", "algorithm", "maxbuf", "response", "rspauth"})


def _escaped(value: str) -> str:
    return re.sub(r'(["\\])', r"\\\1", value)


def _hashed(text: str) -> bytes:
    """Latin 1 if it has all of the characters, else UTF-8: that is how the RFC keeps older digests valid."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode()


def _md5(data: bytes) -> hashlib._Hash:
    return hashlib.md5(data, usedforsecurity=False)
