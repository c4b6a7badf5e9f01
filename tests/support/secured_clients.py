"""Attempts to connect to a secured listener, by clients of five languages, and what came of each.

An attempt lists the topics. Its outcome is ``ok``, or the client's error, without ports, times and other numbers.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import subprocess
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from aiokafka import AIOKafkaClient
from aiokafka.abc import AbstractTokenProvider as AsyncTokenProvider
from aiokafka.helpers import create_ssl_context
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, load_pem_private_key
from cryptography.hazmat.primitives.serialization.pkcs12 import (
    PKCS12Certificate,
    serialize_java_truststore,
    serialize_key_and_certificates,
)
from cryptography.x509 import load_pem_x509_certificate
from kafka import KafkaAdminClient
from kafka.net.sasl.oauth import AbstractTokenProvider

LIMIT_S = 30
PAUSE_S = 0.2
STORE_PASSWORD = "of-the-store"
PACKAGE = "org.apache.kafka.common.security"
MODULES = {"PLAIN": "plain.PlainLoginModule", "OAUTHBEARER": "oauthbearer.OAuthBearerLoginModule"}


_SAME = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        (r"[0-9A-F]{8,}", "N"),
        # OpenSSL sends the authority's certificate along, Java does not.
        (r"self-signed certificate in certificate chain|unable to verify the first certificate", "unknown authority"),
        # Java's TLS and OpenSSL have other alerts for the same certificate.
        (r"(?:tls|ssl)[\w/]* alert [a-z ]+", "alert about the certificate"),
        (r"remote error: tls: [a-z ]+", "alert about the certificate"),
        (r"\d+", "N"),
    )
)


@dataclass(frozen=True)
class Attempt:
    """One row of the table."""

    name: str
    bootstrap: str
    authority: str
    """The certificate that the client trusts, as PEM."""
    mechanism: str = ""
    """Empty: TLS alone."""
    user: str = "alice"
    password: str = ""
    certificate: str = ""
    key: str = ""
    token_ends_in_s: int = 600
    session_ms: int = 0
    """How long to stay connected and go on asking."""

    @property
    def protocol(self) -> str:
        return "SASL_SSL" if self.mechanism else "SSL"

    @property
    def token(self) -> str:
        """An unsecured token."""
        now = int(time.time())
        claims = {"sub": self.user, "iat": now - 3600, "exp": now + self.token_ends_in_s}
        parts = (base64.urlsafe_b64encode(json.dumps(each).encode()).rstrip(b"=") for each in ({"alg": "none"}, claims))
        return b".".join(parts).decode() + "."

    def _stores(self, folder: Path) -> dict[str, str]:
        """The keys and certificates in files, and the properties that name them."""
        base = folder / f"{self.name.replace(' ', '-')}-{self.bootstrap.rpartition(':')[2]}"
        sealed = BestAvailableEncryption(STORE_PASSWORD.encode())
        trusted, own = base.with_suffix(".trusted.p12"), base.with_suffix(".own.p12")
        authority = PKCS12Certificate(load_pem_x509_certificate(self.authority.encode()), b"ca")
        trusted.write_bytes(serialize_java_truststore([authority], sealed))
        found = {"ssl.truststore.location": str(trusted), "ssl.truststore.password": STORE_PASSWORD}
        found["ssl.truststore.type"] = "PKCS12"
        if self.certificate:
            key = cast(EllipticCurvePrivateKey, load_pem_private_key(self.key.encode(), None))
            certificate = load_pem_x509_certificate(self.certificate.encode())
            own.write_bytes(serialize_key_and_certificates(b"own", key, certificate, None, sealed))
            found |= {"ssl.keystore.type": "PKCS12", "ssl.keystore.location": str(own)}
            found |= {"ssl.keystore.password": STORE_PASSWORD, "ssl.key.password": STORE_PASSWORD}
        return found

    def as_json(self) -> dict[str, Any]:
        """For programs of other languages."""
        return {
            "bootstrap": self.bootstrap, "ca": self.authority, "mechanism": self.mechanism, "user": self.user,
            "password": self.password, "certificate": self.certificate, "key": self.key, "token": self.token,
            "tokenText": self.token, "sessionMs": self.session_ms,
        }  # fmt: skip

    def java_properties(self, stores: Path | None = None) -> str:
        """For Java's clients from 2.7 on, which read PEM; older ones have ``stores``, a folder for files of PKCS12."""
        found = {
            "bootstrap.servers": self.bootstrap, "security.protocol": self.protocol, "session.ms": self.session_ms,
        }  # fmt: skip
        if stores is None:
            found |= {"default.api.timeout.ms": LIMIT_S * 1000, "ssl.truststore.type": "PEM"}
            found["ssl.truststore.certificates"] = self.authority
            if self.certificate:
                found |= {"ssl.keystore.type": "PEM", "ssl.keystore.key": self.key}
                found["ssl.keystore.certificate.chain"] = self.certificate
        else:
            found |= {"request.timeout.ms": LIMIT_S * 1000, "fetch.max.wait.ms": 500, **self._stores(stores)}
        if self.mechanism:
            module = MODULES.get(self.mechanism, "scram.ScramLoginModule")
            options = f'unsecuredLoginStringClaim_sub="{self.user}"'
            if self.mechanism != "OAUTHBEARER":
                options = f'username="{self.user}" password="{self.password}"'
            found |= {"sasl.mechanism": self.mechanism, "sasl.jaas.config": f"{PACKAGE}.{module} required {options};"}
        lines = (f"{key}={str(value).strip()}".replace("\n", "\\n") for key, value in found.items())
        return "\n".join(lines) + "\n\n"


def outcome(error: BaseException | str) -> str:
    """An error without what differs from one connection to the next."""
    text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
    for pattern, name in _SAME:
        text = pattern.sub(name, text)
    return text.strip()


def stay(attempt: Attempt, ask: Callable[[], object]) -> str:
    """Ask once, and then as long as the attempt wants to stay."""
    end = time.monotonic() + attempt.session_ms / 1000
    while True:
        ask()
        if time.monotonic() >= end:
            return "ok"
        time.sleep(PAUSE_S)


def librdkafka(attempt: Attempt) -> str:
    """confluent-kafka: the error that its callback hears first, since the call itself only times out."""
    heard: list[KafkaError] = []
    config: dict[str, Any] = {
        "bootstrap.servers": attempt.bootstrap, "security.protocol": attempt.protocol, "ssl.ca.pem": attempt.authority,
        "error_cb": heard.append, "log_level": 0,
    }  # fmt: skip
    if attempt.certificate:
        config |= {"ssl.certificate.pem": attempt.certificate, "ssl.key.pem": attempt.key}
    if attempt.mechanism == "OAUTHBEARER":
        config |= {"sasl.mechanism": "OAUTHBEARER", "oauth_cb": lambda _: (attempt.token, time.time() + 600)}
    elif attempt.mechanism:
        config |= {"sasl.mechanism": attempt.mechanism, "sasl.username": attempt.user}
        config["sasl.password"] = attempt.password
    client = AdminClient(config)
    try:
        return stay(attempt, lambda: client.list_topics(timeout=LIMIT_S / 2))
    except KafkaException as error:
        client.poll(PAUSE_S)  # the callback runs in here
        own = [each for each in heard if each.code() != KafkaError._ALL_BROKERS_DOWN]
        first: KafkaError = (own or [error.args[0]])[0]
        return outcome(f"{first.name()}: {re.sub(r' [(]after.*', '', first.str())}")


class _Token(AbstractTokenProvider):  # type: ignore[misc]
    def __init__(self, attempt: Attempt) -> None:
        super().__init__()
        self._attempt = attempt

    def token(self) -> str:
        return self._attempt.token


class _AsyncToken(AsyncTokenProvider):  # type: ignore[misc]
    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt

    async def token(self) -> str:
        return self._attempt.token


def _python_keys(attempt: Attempt, folder: Path) -> tuple[str, str | None, str | None]:
    """Files of the authority, and of the client's certificate and key if it has them."""
    files = []
    for name, text in (("ca", attempt.authority), ("cert", attempt.certificate), ("key", attempt.key)):
        file = folder / f"{attempt.name.replace(' ', '-')}-{name}.pem"
        file.write_text(text)
        files.append(str(file) if text else None)
    return files[0] or "", files[1], files[2]


def kafka_python(attempt: Attempt, folder: Path) -> str:
    ca, certificate, key = _python_keys(attempt, folder)
    config: dict[str, Any] = {
        "bootstrap_servers": attempt.bootstrap, "security_protocol": attempt.protocol, "ssl_cafile": ca,
        "ssl_certfile": certificate, "ssl_keyfile": key, "bootstrap_timeout_ms": LIMIT_S * 500,
    }  # fmt: skip
    if attempt.mechanism == "OAUTHBEARER":
        config |= {"sasl_mechanism": "OAUTHBEARER", "sasl_oauth_token_provider": _Token(attempt)}
    elif attempt.mechanism:
        config |= {"sasl_mechanism": attempt.mechanism, "sasl_plain_username": attempt.user}
        config["sasl_plain_password"] = attempt.password
    try:
        client = KafkaAdminClient(**config)
        try:
            return stay(attempt, client.list_topics)
        finally:
            client.close()
    except Exception as error:  # noqa: BLE001 - whatever it says is its outcome
        return outcome(error)


def aiokafka(attempt: Attempt, folder: Path) -> str:
    ca, certificate, key = _python_keys(attempt, folder)
    config: dict[str, Any] = {"bootstrap_servers": attempt.bootstrap, "security_protocol": attempt.protocol}
    if attempt.mechanism == "OAUTHBEARER":
        config |= {"sasl_mechanism": "OAUTHBEARER", "sasl_oauth_token_provider": _AsyncToken(attempt)}
    elif attempt.mechanism:
        config |= {"sasl_mechanism": attempt.mechanism, "sasl_plain_username": attempt.user}
        config["sasl_plain_password"] = attempt.password

    async def run() -> str:
        context = create_ssl_context(cafile=ca, certfile=certificate, keyfile=key)
        client = AIOKafkaClient(**config, ssl_context=context)
        try:
            await client.bootstrap()
            end = time.monotonic() + attempt.session_ms / 1000
            while time.monotonic() < end:
                await client.fetch_all_metadata()
                await asyncio.sleep(PAUSE_S)
            return "ok"
        except Exception as error:  # noqa: BLE001 - whatever it says is its outcome
            return outcome(error)
        finally:
            await client.close()

    return asyncio.run(run())


def all_in_threads(client: Callable[[Attempt], str], attempts: Sequence[Attempt]) -> list[str]:
    """The outcomes of all attempts, side by side."""
    with ThreadPoolExecutor(len(attempts)) as threads:
        return list(threads.map(client, attempts))


def of_program(command: Sequence[str], attempts: Sequence[Attempt], env: dict[str, str] | None = None) -> list[str]:
    """The outcomes of a program of another language, which takes all attempts at once."""
    given = json.dumps([each.as_json() for each in attempts])
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    return [outcome(each) for each in json.loads(done.stdout)]
