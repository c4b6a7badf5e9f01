"""The four messages of SCRAM, as text.

::

    client first   n,,n=user,r=rOprNGfwEbeRWgbNEkqO
    server first   r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096
    client final   c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjf…
    server final   v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=       or   e=invalid-proof

    n,,  no channel binding (c=biws repeats it in base 64)      n=  the user      r=  the client's nonce, then both
    s=   the salt     i=  iterations     p=  the client's proof     v=  the broker's signature

A client may add extensions: ``tokenauth=true`` says that the user's name is a delegation token's id.

Kafka 0.10.2: clients/.../common/security/scram/ScramMessages.java; since 1.1 ScramExtensions.java · book 2.3.2
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka_lite.security.sasl.sasl_mechanism import SaslError

_VALUE_SAFE = r"[\x01-\x2b\x2d-\x3c\x3e-\x7f]+"
_VALUE = r"[\x01-\x2b\x2d-\x7f]+"
_PRINTABLE = r"[\x21-\x2b\x2d-\x7e]+"
_SASL_NAME = r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+"
_BASE64 = r"(?:[a-zA-Z0-9/+]{4})*(?:[a-zA-Z0-9/+]{3}=|[a-zA-Z0-9/+]{2}==)?"
_RESERVED = f"(?:m={_VALUE},)?"
_EXTENSIONS = f"(?:,[A-Za-z]+={_VALUE})*"

_CLIENT_FIRST = re.compile(
    f"n,(?:a=(?P<authzid>{_SASL_NAME}))?,{_RESERVED}n=(?P<name>{_SASL_NAME}),r=(?P<nonce>{_PRINTABLE})"
    f"(?P<extensions>{_EXTENSIONS})"
)
_SERVER_FIRST = re.compile(
    f"{_RESERVED}r=(?P<nonce>{_PRINTABLE}),s=(?P<salt>{_BASE64}),i=(?P<iterations>[0-9]+){_EXTENSIONS}"
)
_CLIENT_FINAL = re.compile(f"c=(?P<channel>{_BASE64}),r=(?P<nonce>{_PRINTABLE}){_EXTENSIONS},p=(?P<proof>{_BASE64})")
_SERVER_FINAL = re.compile(f"(?:e=(?P<error>{_VALUE_SAFE}))|(?:v=(?P<signature>{_BASE64})){_EXTENSIONS}")
_INT_MAX = 2**31 - 1
TOKEN_AUTH = "tokenauth"
"""The extension, and the option of the login module, which say that user and password are a delegation token's."""


@dataclass(frozen=True)
class ClientFirstMessage:
    """The user's name, escaped, and the client's nonce."""

    name: str
    nonce: str
    authorization_id: str = ""
    """The user that the client wants to be; empty: the one that it proves."""
    extensions: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def decode(cls, message: bytes) -> ClientFirstMessage:
        """Read it. Raises SaslError."""
        match = _matched(_CLIENT_FIRST, message, "client first")
        pairs = (part.partition("=")[::2] for part in match["extensions"].split(",")[1:])
        return cls(match["name"], match["nonce"], match["authzid"] or "", dict(pairs))

    @property
    def token_authenticated(self) -> bool:
        """Whether the name is the id of a delegation token."""
        return self.extensions.get(TOKEN_AUTH, "").lower() == "true"

    @property
    def gs2_header(self) -> str:
        """The part in front of the bare message."""
        return f"n,{self.authorization_id},"

    @property
    def bare(self) -> str:
        """The part that both ends sign."""
        return f"n={self.name},r={self.nonce}" + "".join(f",{key}={value}" for key, value in self.extensions.items())

    def encode(self) -> bytes:
        """The message."""
        return (self.gs2_header + self.bare).encode()


@dataclass(frozen=True)
class ServerFirstMessage:
    """The nonces of both ends, and how the password was salted."""

    nonce: str
    salt: bytes
    iterations: int

    @classmethod
    def decode(cls, message: bytes) -> ServerFirstMessage:
        """Read it. Raises SaslError."""
        match = _matched(_SERVER_FIRST, message, "server first")
        digits = match["iterations"]
        iterations = int(digits) if len(digits) <= 10 else 0
        if not 0 < iterations <= _INT_MAX:
            raise SaslError("Invalid SCRAM server first message format: invalid iterations")
        return cls(match["nonce"], base64.b64decode(match["salt"]), iterations)

    @property
    def text(self) -> str:
        """The message, which both ends sign."""
        return f"r={self.nonce},s={_base64(self.salt)},i={self.iterations}"

    def encode(self) -> bytes:
        """The message."""
        return self.text.encode()


@dataclass(frozen=True)
class ClientFinalMessage:
    """The client's proof."""

    channel_binding: bytes
    nonce: str
    proof: bytes = b""

    @classmethod
    def decode(cls, message: bytes) -> ClientFinalMessage:
        """Read it. Raises SaslError."""
        match = _matched(_CLIENT_FINAL, message, "client final")
        return cls(base64.b64decode(match["channel"]), match["nonce"], base64.b64decode(match["proof"]))

    @property
    def without_proof(self) -> str:
        """The part that both ends sign."""
        return f"c={_base64(self.channel_binding)},r={self.nonce}"

    def encode(self) -> bytes:
        """The message."""
        return f"{self.without_proof},p={_base64(self.proof)}".encode()


@dataclass(frozen=True)
class ServerFinalMessage:
    """The broker's signature, or an error in its place."""

    error: str | None = None
    server_signature: bytes = b""

    @classmethod
    def decode(cls, message: bytes) -> ServerFinalMessage:
        """Read it. Raises SaslError."""
        match = _matched(_SERVER_FINAL, message, "server final")
        if match["error"] is not None:
            return cls(match["error"])
        return cls(server_signature=base64.b64decode(match["signature"]))

    def encode(self) -> bytes:
        """The message."""
        return (f"v={_base64(self.server_signature)}" if self.error is None else f"e={self.error}").encode()


def auth_message(first: ClientFirstMessage, server: ServerFirstMessage, final: ClientFinalMessage) -> bytes:
    """The text that proofs and signatures are about: all that was said before."""
    return f"{first.bare},{server.text},{final.without_proof}".encode()


def _matched(pattern: re.Pattern[str], message: bytes, kind: str) -> re.Match[str]:
    match = pattern.fullmatch(message.decode("utf-8", "replace"))
    if match is None:
        raise SaslError(f"Invalid SCRAM {kind} message format")
    return match


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
