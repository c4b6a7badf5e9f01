"""Certificates for tests, made in memory when they are first asked for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import trustme

PAST = datetime(2020, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Pem:
    """A private key with its certificate, and the authority that signed it, as text."""

    key: str
    chain: str
    authority: str

    def write(self, folder: Path, name: str) -> tuple[Path, Path]:
        """Files with key and chain, and with the authority's certificate."""
        store, trust = folder / f"{name}.pem", folder / f"{name}-ca.pem"
        store.write_text(self.key + self.chain)
        trust.write_text(self.authority)
        return store, trust


@cache
def authority(name: str = "Test CA") -> trustme.CA:
    return trustme.CA(organization_name=name)


@cache
def certificate(*hosts: str, common_name: str | None = None, of: str = "Test CA", expired: bool = False) -> Pem:
    """A certificate for hosts; by default of the authority that everybody in a test trusts."""
    issuer = authority(of)
    made = issuer.issue_cert(*hosts, common_name=common_name, not_after=PAST if expired else None)
    chain = "".join(part.bytes().decode() for part in made.cert_chain_pems)
    return Pem(made.private_key_pem.bytes().decode(), chain, issuer.cert_pem.bytes().decode())


def server_certificate() -> Pem:
    return certificate("localhost", "127.0.0.1", common_name="localhost")


def keys_and_trust(own: Pem | None, trusted: Pem | None = None, **settings: object) -> dict[str, object]:
    """The ``ssl.`` keys of one end."""
    config: dict[str, object] = {"ssl.keystore.type": "PEM", "ssl.truststore.type": "PEM"}
    if own is not None:
        config |= {"ssl.keystore.key": own.key, "ssl.keystore.certificate.chain": own.chain}
    if trusted is not None:
        config["ssl.truststore.certificates"] = trusted.authority
    return config | {key.replace("_", "."): value for key, value in settings.items()}
