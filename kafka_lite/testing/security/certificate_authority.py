"""Makes keys and certificates for tests, in memory and within milliseconds.

Kafka 0.10.2: clients/src/test/.../test/TestSslUtils.java · book 2.3.1
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

try:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID
except ImportError as missing:
    raise ImportError("certificates for tests need cryptography: pip install 'kafka-lite[security]'") from missing

VALID = timedelta(days=30)
_CLOCKS_DIFFER = timedelta(hours=1)


class Credential(NamedTuple):
    """A private key and the certificate for it, as PEM."""

    key: str
    certificate: str


class CertificateAuthority:
    """Signs certificates: ``certificate`` is what clients and brokers trust, as PEM."""

    def __init__(self, name: str = "kafka_lite tests") -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = _builder(self._name, self._name, self._key.public_key(), datetime.now(UTC) + VALID)
        self._identifier = x509.SubjectKeyIdentifier.from_public_key(self._key.public_key())
        usage = x509.KeyUsage(
            digital_signature=True, key_cert_sign=True, crl_sign=True, content_commitment=False, key_encipherment=False,
            data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False,
        )  # fmt: skip
        self._certificate = (
            builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(self._identifier, critical=False)
            .sign(self._key, hashes.SHA256())
        )

    @property
    def certificate(self) -> str:
        """Its own certificate, for trust stores."""
        return _pem(self._certificate)

    def issue(self, common_name: str, hosts: Iterable[str] = (), *, expired: bool = False) -> Credential:
        """A new key with a certificate for a name, and for the hosts, which may be addresses."""
        key = ec.generate_private_key(ec.SECP256R1())
        now = datetime.now(UTC)
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
        ends = now - timedelta(minutes=1) if expired else now + VALID
        builder = _builder(name, self._name, key.public_key(), ends)
        authority = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(self._identifier)
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        builder = builder.add_extension(authority, critical=False)
        if names := [_general_name(host) for host in hosts]:
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        text = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return Credential(text.decode(), _pem(builder.sign(self._key, hashes.SHA256())))


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, ends: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.now(UTC) - _CLOCKS_DIFFER)
        .not_valid_after(ends)
    )


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()
