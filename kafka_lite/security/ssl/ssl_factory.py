"""Makes TLS contexts from the ``ssl.`` keys of a broker or client.

Keys and certificates are PEM (KIP-651): files, or the text itself in the configuration. Or they are in a file of PKCS12
or JKS, with ``ssl.keystore.password`` and ``ssl.truststore.password``::

    ssl.keystore.type=PEM                             ssl.truststore.type=PEM
    ssl.keystore.location=/etc/kafka/broker.pem       ssl.truststore.location=/etc/kafka/ca.pem
        the private key and the certificate chain

    ssl.keystore.key=-----BEGIN PRIVATE KEY----- …    ssl.truststore.certificates=-----BEGIN CERTIFICATE----- …
    ssl.keystore.certificate.chain=-----BEGIN …

Kafka 0.10.2: clients/.../common/security/ssl/SslFactory.java; since 2.6 DefaultSslEngineFactory.java · book 2.3.1
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import ssl
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from kafka_lite.common.config_def import ConfigError, Password
from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.network.authentication_error import SslAuthenticationError
from kafka_lite.network.authenticator import Authenticator, AuthenticatorEnd
from kafka_lite.network.nio_selector import NioSelector
from kafka_lite.network.transport_layer import TransportLayer
from kafka_lite.security.auth.distinguished_name import CertificateError, subject_of
from kafka_lite.security.ssl.client_ssl_socket import ClientSslSocket
from kafka_lite.security.ssl.key_stores import PEM, STORE_TYPES, is_pem, key_and_chain, trusted_certificates
from kafka_lite.security.ssl.ssl_transport_layer import SslTransportLayer, reason_of

_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_CLIENT_AUTH = {"none": ssl.CERT_NONE, "requested": ssl.CERT_OPTIONAL, "required": ssl.CERT_REQUIRED}
_TLS_1_3_SUITES = ("TLS_AES_", "TLS_CHACHA20_")


class SslFactory:
    """The context of one listener, or of a client. ``take_over`` replaces it, for new connections."""

    def __init__(
        self, config: Mapping[str, Any], *, server: bool, principal_of: Callable[[bytes], KafkaPrincipal] | None = None
    ) -> None:
        """``principal_of``: the user of a client's certificate. Raises ConfigError, which names the key."""
        self._principal_of = principal_of
        self._config = config
        self._server = server
        self.subject = ""
        """The distinguished name in the certificate; empty without one."""
        self._files = self._file_stamps()  # before they are read: a change in between is noticed
        self._context = self._new_context()

    @property
    def context(self) -> ssl.SSLContext:
        """OpenSSL's settings for new connections."""
        return self._context

    def replacement(self, config: Mapping[str, Any]) -> SslFactory:
        """The same with another configuration, or with files that have changed. Raises ConfigError."""
        return SslFactory(config, server=self._server, principal_of=self._principal_of)

    def take_over(self, other: SslFactory) -> None:
        """Use the other's keys and certificates for new connections."""
        self._config, self._files, self.subject = other._config, other._files, other.subject
        self._context = other._context

    @property
    def has_changed_files(self) -> bool:
        """Whether a file of keys or certificates has been written since it was loaded."""
        return self._file_stamps() != self._files

    def _file_stamps(self) -> dict[str, tuple[int, int] | None]:
        """Time and size of each file; None if there is no such file at the moment."""
        locations = (self._config.get(key) for key in ("ssl.keystore.location", "ssl.truststore.location"))
        return {str(location): _stamp(Path(location)) for location in locations if location is not None}

    def build_transport(self, selector: NioSelector, sock: socket.socket, peer_host: str) -> TransportLayer:
        """The transport of a connection; ``peer_host`` is the name that a client has asked for."""
        return SslTransportLayer(selector, sock, self._context, peer_host or None, self._principal_of)

    def build_authenticator(self, transport: TransportLayer, peer_host: str) -> Authenticator | None:  # noqa: ARG002
        """There is none: certificates are part of the transport's handshake."""
        return None

    def new_end(self, host: str) -> AuthenticatorEnd | None:  # noqa: ARG002
        """There is none, for the same reason."""
        return None

    def wrap_socket(self, sock: socket.socket, host: str) -> socket.socket:
        """Do a client's handshake on a connected, blocking socket.

        Raises SslAuthenticationError if one end does not accept the other, and closes the socket then.
        """
        try:
            return self._context.wrap_socket(sock, server_hostname=host)
        except ssl.SSLError as error:
            raise SslAuthenticationError(errno.EPROTO, f"SSL handshake failed: {reason_of(error)}") from error

    # ── The context ───────────────────────────────────────────────────────────────────────────────────────────────

    def _new_context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if self._server else ssl.PROTOCOL_TLS_CLIENT)
        context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_NO_COMPRESSION
        self._set_versions(context)
        self._set_ciphers(context)
        self._load_key(context)
        self._load_trusted(context)
        if self._server:
            context.verify_mode = _CLIENT_AUTH[self._config.get("ssl.client.auth") or "none"]
            if context.verify_mode != ssl.CERT_NONE and not context.cert_store_stats()["x509"]:
                raise self._error("ssl.truststore.location", "is needed to check the certificates of clients")
        else:
            context.check_hostname = self._checks_host_names()
            context.sslsocket_class = ClientSslSocket
        return context

    def _set_versions(self, context: ssl.SSLContext) -> None:
        key = "ssl.enabled.protocols"
        names = self._config.get(key) or list(_VERSIONS)
        unknown = [name for name in names if name not in _VERSIONS]
        if unknown:
            valid = " and ".join(_VERSIONS)
            raise self._error(key, f"{', '.join(unknown)} cannot be offered; valid: {valid} (older ones are broken)")
        versions = sorted(_VERSIONS[name] for name in names)
        context.minimum_version, context.maximum_version = versions[0], versions[-1]

    def _set_ciphers(self, context: ssl.SSLContext) -> None:
        key = "ssl.cipher.suites"
        suites = self._config.get(key)
        if not suites:
            return
        known = {cipher["name"]: cipher["name"] for cipher in ssl.SSLContext(context.protocol).get_ciphers()}
        chosen = []
        for suite in suites:
            name = _openssl_name(suite)
            if name not in known:
                raise self._error(key, f"{suite} is not known to OpenSSL here")
            if not suite.startswith(_TLS_1_3_SUITES):  # OpenSSL has those of TLS 1.3 always on
                chosen.append(name)
        if chosen:
            context.set_ciphers(":".join(chosen))
        elif context.maximum_version is not ssl.TLSVersion.TLSv1_3:
            raise self._error(key, "has only suites of TLSv1.3, which ssl.enabled.protocols leaves out")
        else:
            context.minimum_version = ssl.TLSVersion.TLSv1_3

    def _checks_host_names(self) -> bool:
        key = "ssl.endpoint.identification.algorithm"
        algorithm = self._config.get(key)
        if algorithm not in (None, "", "https", "HTTPS"):
            raise self._error(key, "must be https, or empty to accept any host name")
        return algorithm is None or bool(algorithm)

    # ── Keys and certificates ─────────────────────────────────────────────────────────────────────────────────────

    def _load_key(self, context: ssl.SSLContext) -> None:
        key, chain = self._text("ssl.keystore.key"), self._text("ssl.keystore.certificate.chain")
        location = self._config.get("ssl.keystore.location")
        if (key is None) != (chain is None):
            missing = "ssl.keystore.key" if key is None else "ssl.keystore.certificate.chain"
            raise self._error(missing, "is missing: the private key and its certificate chain belong together")
        if key is not None and location is not None:
            raise self._error("ssl.keystore.location", "cannot be set beside ssl.keystore.key")
        if key is None and location is None:
            if self._server:
                raise self._error(
                    "ssl.keystore.location", "is needed for a listener with TLS: a key store, for example a PEM file"
                )
            return
        kind = self._store_type("ssl.keystore.type", inline=key is not None)
        name = "ssl.keystore.location" if location is not None else "ssl.keystore.key"
        try:
            text = self._key_of_store(str(location), kind) if key is None else f"{_lines(key)}\n{_lines(chain or '')}\n"
            with _file_of(location if text is None else None, text) as path:
                context.load_cert_chain(path, password=self._text("ssl.key.password") or _no_password)
                self.subject = _subject_in(Path(path))
        except (ssl.SSLError, OSError, ValueError) as error:
            raise self._error(name, f"cannot be loaded: {_why(error)}", show_value=location is not None) from error

    def _key_of_store(self, location: str, kind: str) -> str | None:
        """Key and certificates of a store of PKCS12 or JKS; None if the file is PEM. Raises KeyStoreError, OSError."""
        data = Path(location).read_bytes()
        if is_pem(data, kind):
            return None
        return key_and_chain(data, self._text("ssl.keystore.password"), self._text("ssl.key.password"))

    def _load_trusted(self, context: ssl.SSLContext) -> None:
        certificates = self._text("ssl.truststore.certificates")
        location = self._config.get("ssl.truststore.location")
        if certificates is not None and location is not None:
            raise self._error("ssl.truststore.location", "cannot be set beside ssl.truststore.certificates")
        if certificates is None and location is None:
            if not self._server:
                context.load_default_certs()  # those of the system, as Java has its own
            return
        kind = self._store_type("ssl.truststore.type", inline=certificates is not None)
        name = "ssl.truststore.certificates" if location is None else "ssl.truststore.location"
        try:
            text = _lines(certificates or "") if location is None else self._trusted_of_store(location, kind)
            context.load_verify_locations(cadata=text)
        except (ssl.SSLError, OSError, ValueError) as error:
            raise self._error(name, f"cannot be loaded: {_why(error)}", show_value=location is not None) from error

    def _trusted_of_store(self, location: str, kind: str) -> str:
        """The certificates in a file of any format, as PEM. Raises KeyStoreError, OSError, UnicodeDecodeError."""
        data = Path(location).read_bytes()
        if is_pem(data, kind):
            return data.decode("ascii")
        return trusted_certificates(data, self._text("ssl.truststore.password"))

    def _store_type(self, key: str, *, inline: bool) -> str:
        kind = self._config.get(key) or PEM
        if kind not in STORE_TYPES:
            raise self._error(key, f"is not supported; valid: {', '.join(STORE_TYPES)}")
        if inline and kind != PEM:
            raise self._error(key, "must be PEM for keys and certificates that are in the configuration itself")
        return str(kind)

    def _text(self, key: str) -> str | None:
        value = self._config.get(key)
        return value.value if isinstance(value, Password) else value

    def _error(self, key: str, message: str, *, show_value: bool = True) -> ConfigError:
        return ConfigError(key, self._config.get(key) if show_value else "[hidden]", message)


def _openssl_name(suite: str) -> str:
    """Java names suites as IANA does: ``TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256`` is ECDHE-RSA-AES128-GCM-SHA256."""
    if not suite.startswith("TLS_") or suite.startswith(_TLS_1_3_SUITES):
        return suite
    name = (
        suite.removeprefix("TLS_")
        .replace("_WITH_", "_")
        .replace("AES_", "AES")
        .replace("CHACHA20_POLY1305_SHA256", "CHACHA20_POLY1305")
    )
    return name.removeprefix("RSA_").replace("_", "-")


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _subject_in(path: Path) -> str:
    """The distinguished name in the first certificate of a PEM file."""
    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    _, _, rest = path.read_text(encoding="latin-1").partition(begin)
    try:
        return subject_of(ssl.PEM_cert_to_DER_cert(f"{begin}{rest.partition(end)[0]}{end}"))
    except (CertificateError, ValueError):  # OpenSSL has accepted it: one of another label, or with an odd name
        return ""


@contextlib.contextmanager
def _file_of(location: str | None, text: str | None) -> Iterator[str]:
    """The file, or one that holds the text as long as it is read: OpenSSL loads private keys from files only."""
    if location is not None:
        yield location
        return
    handle, path = tempfile.mkstemp(prefix="kafka-lite-", suffix=".pem")  # only its owner may read it
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(text or "")
        yield path
    finally:
        os.unlink(path)


def _lines(text: str) -> str:
    r"""PEM on one line of a properties file may have spaces or ``\n`` in place of its line ends."""
    if "\n" in text.strip():
        return text
    words = text.replace("\\n", " ").split(" ")
    joined = " ".join(words)
    for kind in ("CERTIFICATE", "PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"):
        begin, end = f"-----BEGIN {kind}-----", f"-----END {kind}-----"
        joined = joined.replace(begin, f"\n{begin}\n").replace(end, f"\n{end}\n")
    lines = joined.split("\n")
    return "\n".join(line if line.startswith("-----") else "\n".join(line.split()) for line in lines).strip()


def _no_password() -> str:
    """Without a password OpenSSL would ask for one on the terminal."""
    raise ValueError("the private key is encrypted: set ssl.key.password")


def _why(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        return reason_of(error)
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
