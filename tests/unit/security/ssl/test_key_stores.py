"""Key and trust stores of every format make the same TLS contexts."""

from __future__ import annotations

import ssl
import sys
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.security.ssl.key_stores import KeyStoreError, is_pem, key_and_chain, trusted_certificates
from kafka_lite.security.ssl.ssl_factory import SslFactory
from tests.support.certificates import server_certificate

STORES = Path(__file__).parents[3] / "data" / "security" / "stores"


def stores(kind: str, key_password: str | None = None) -> dict[str, Any]:
    ending = {"JKS": "jks", "PKCS12": "p12"}[kind]
    found = {
        "ssl.keystore.type": kind,
        "ssl.keystore.location": str(STORES / f"broker.{ending}"),
        "ssl.keystore.password": "of-store",
        "ssl.truststore.type": kind,
        "ssl.truststore.location": str(STORES / f"trust.{ending}"),
        "ssl.truststore.password": "of-store",
    }
    return found if key_password is None else found | {"ssl.key.password": key_password}


def context(config: dict[str, Any], *, server: bool = True) -> ssl.SSLContext:
    return SslFactory(config, server=server)._context


@pytest.mark.parametrize(("kind", "key_password"), [("JKS", "of-key"), ("PKCS12", None), ("PKCS12", "of-store")])
def test_a_listener_and_a_client_load_them(kind: str, key_password: str | None) -> None:
    config = stores(kind, key_password)
    for server in (True, False):
        assert context(config | {"ssl.client.auth": "required"}, server=server).cert_store_stats()["x509"] == 1


def test_java_recognises_a_store_by_its_bytes() -> None:
    """Since Java 9 keytool writes PKCS12 unless told otherwise, and JKS is still the default of Kafka's keys."""
    assert context(stores("PKCS12") | {"ssl.keystore.type": "JKS", "ssl.truststore.type": "PEM"}).cert_store_stats()[
        "x509"
    ]


@pytest.mark.parametrize(
    ("kind", "changed", "says"),
    [
        ("JKS", {"ssl.keystore.password": "wrong"}, "ssl.keystore.location: cannot be loaded: was tampered with"),
        ("JKS", {"ssl.key.password": "wrong"}, "has a private key with another password"),
        ("JKS", {"ssl.keystore.password": None}, "needs the password of the store"),
        ("JKS", {"ssl.keystore.location": str(STORES / "trust.jks")}, "has no private key"),
        ("JKS", {"ssl.truststore.location": str(STORES / "broker.jks")}, "has no certificate of an authority"),
        ("PKCS12", {"ssl.keystore.password": "wrong"}, "Is the password right"),
        ("PKCS12", {"ssl.truststore.password": "wrong"}, "ssl.truststore.location: cannot be loaded"),
        ("PKCS12", {"ssl.keystore.location": str(STORES / "trust.p12")}, "has no private key"),
    ],
)
def test_an_error_names_the_key_and_shows_no_password(kind: str, changed: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says) as raised:
        context(stores(kind, "of-key" if kind == "JKS" else None) | changed)
    assert "of-store" not in str(raised.value)


def test_a_pem_file_is_not_taken_for_another_kind(tmp_path: Path) -> None:
    store, _ = server_certificate().write(tmp_path, "broker")
    with pytest.raises(ConfigError, match="is a PEM file, no PKCS12: set its type to PEM"):
        context({"ssl.keystore.location": str(store), "ssl.keystore.type": "PKCS12"})
    assert is_pem(store.read_bytes(), "PEM")


def test_pkcs12_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    data = (STORES / "broker.p12").read_bytes()
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.serialization", None)
    with pytest.raises(KeyStoreError, match=r"pip install 'kafka-lite\[security\]'"):
        key_and_chain(data, "of-store", None)
    assert "BEGIN" in trusted_certificates((STORES / "trust.jks").read_bytes(), None), "JKS needs nothing"
