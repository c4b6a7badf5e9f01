"""Certificates that OpenSSL accepts, for the names that they were made for, and from their authority only."""

from __future__ import annotations

import socket
import ssl
import threading
from pathlib import Path

import pytest

from kafka_lite.testing.security.certificate_authority import CertificateAuthority, Credential


@pytest.fixture(scope="module")
def authority() -> CertificateAuthority:
    return CertificateAuthority()


def handshake(folder: Path, own: Credential, trusted: str, host: str) -> str:
    """A client's handshake with a server that has a certificate. Returns the common name, raises SSLError."""
    store = folder / "own.pem"
    store.write_text(own.key + own.certificate)
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(store)
    asking = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    asking.load_verify_locations(cadata=trusted)
    here, there = socket.socketpair()

    def serve() -> None:
        try:
            serving.wrap_socket(there, server_side=True).close()
        except OSError:
            there.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        with asking.wrap_socket(here, server_hostname=host) as secured:
            subject = secured.getpeercert()["subject"]  # type: ignore[index]
            return str(dict(pair for part in subject for pair in part)["commonName"])  # type: ignore[misc]
    finally:
        here.close()
        thread.join()


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "::1"])
def test_a_certificate_is_for_its_hosts(authority: CertificateAuthority, tmp_path: Path, host: str) -> None:
    own = authority.issue("broker", ["localhost", "127.0.0.1", "::1"])
    assert handshake(tmp_path, own, authority.certificate, host) == "broker"
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        handshake(tmp_path, own, authority.certificate, "elsewhere")


def test_another_authority_is_not_trusted(authority: CertificateAuthority, tmp_path: Path) -> None:
    own = CertificateAuthority().issue("broker", ["localhost"])
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(tmp_path, own, authority.certificate, "localhost")


def test_an_expired_certificate_is_refused(authority: CertificateAuthority, tmp_path: Path) -> None:
    own = authority.issue("broker", ["localhost"], expired=True)
    with pytest.raises(ssl.SSLCertVerificationError, match="expired"):
        handshake(tmp_path, own, authority.certificate, "localhost")


def test_each_certificate_has_a_key_of_its_own(authority: CertificateAuthority) -> None:
    assert authority.issue("alice") != authority.issue("alice")
