"""Exchanges of Kerberos tokens without Kerberos, and a package ``gssapi`` that notes what it is asked."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from kafka_lite.security.sasl.sasl_mechanism import SaslError


class FakeContext:
    """Sends some tokens, and is complete once it has been given as many as it awaits."""

    def __init__(self, *tokens: bytes, awaits: int, key: bytes = b"key:") -> None:
        self._tokens = list(tokens)
        self._awaits = awaits
        self._key = key
        self.given: list[bytes] = []
        self.initiator = "alice@EXAMPLE.COM"

    @property
    def complete(self) -> bool:
        return len(self.given) >= self._awaits

    def step(self, token: bytes) -> bytes:
        self.given.append(token)
        return self._tokens.pop(0) if self._tokens else b""

    def wrap(self, message: bytes) -> bytes:
        return self._key + message

    def unwrap(self, message: bytes) -> bytes:
        if not message.startswith(self._key):
            raise SaslError("a bad checksum")
        return message.removeprefix(self._key)


class GSSError(Exception):
    def __init__(self, text: str, min_code: int) -> None:
        super().__init__(text)
        self.min_code = min_code


class FakeGssapi(SimpleNamespace):
    """The parts of the package that are used. ``fails``: the error of each call of a context, or of new credentials."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[dict[str, Any]] = []
        self.fails: GSSError | None = None
        self.realm = "EXAMPLE.COM"
        self.exceptions = SimpleNamespace(GSSError=GSSError)
        self.MechType = SimpleNamespace(kerberos="krb5")
        self.NameType = SimpleNamespace(kerberos_principal="principal", hostbased_service="service")
        self.RequirementFlag = SimpleNamespace(mutual_authentication=2, integrity=32)

    def fail(self) -> None:
        if self.fails is not None:
            raise self.fails

    def Name(self, text: str, kind: str) -> Any:
        def canonicalize(mechanism: str) -> str:
            if not self.realm:
                raise GSSError("no default realm", 0)
            return f"{text}@{self.realm}"

        return SimpleNamespace(text=text, kind=kind, canonicalize=canonicalize)

    def Credentials(self, **asked: Any) -> str:
        self.asked.append(asked)
        self.fail()
        return "credentials"

    def SecurityContext(self, **asked: Any) -> Any:
        self.asked.append(asked)

        def step(token: bytes | None) -> bytes | None:
            self.fail()
            return None if token == b"last" else b"token"

        def message(given: bytes, encrypt: bool | None = None) -> Any:
            self.fail()
            return SimpleNamespace(message=f"{given!r} {encrypt}".encode())

        return SimpleNamespace(
            complete=False, usage=asked["usage"], initiator_name="alice@R", step=step, wrap=message, unwrap=message
        )
