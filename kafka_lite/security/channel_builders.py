"""How the connections of a listener or of a client are protected, by their configuration.

Kafka 0.10.2: clients/.../common/network/ChannelBuilders.java · book 2.1.4
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from kafka_lite.common.config_def import ConfigDef, ConfigError, Importance, Type, ValidString
from kafka_lite.common.errors import KafkaError
from kafka_lite.common.security_protocol import SecurityProtocol
from kafka_lite.network.transport_layer import ChannelBuilder
from kafka_lite.security.auth.kafka_principal_builder import AuthenticationContext, DefaultKafkaPrincipalBuilder
from kafka_lite.security.auth.ssl_principal_mapper import SslPrincipalMapper

HIGH, MEDIUM, LOW = Importance
SECURITY_PROTOCOL = "security.protocol"
SERVED_PROTOCOLS = (SecurityProtocol.PLAINTEXT, SecurityProtocol.SSL)
"""The protocols that a listener or client may have so far."""

# fmt: off
CLIENT_SECURITY_CONFIG = (
    ConfigDef()
    .define(SECURITY_PROTOCOL, Type.STRING, "PLAINTEXT", MEDIUM,
            "The protocol of the brokers' listener: PLAINTEXT or SSL. SASL is not supported yet.",
            ValidString.in_(*(protocol.name for protocol in SERVED_PROTOCOLS)))
    .define("ssl.truststore.type", Type.STRING, "PEM", MEDIUM,
            "The format of the trust store: PEM.", ValidString.in_("PEM"))
    .define("ssl.truststore.location", Type.STRING, None, HIGH,
            "The file with the certificates of the authorities that are trusted. Not set: those of the system.")
    .define("ssl.truststore.certificates", Type.PASSWORD, None, HIGH,
            "The same certificates as text.")
    .define("ssl.keystore.type", Type.STRING, "PEM", MEDIUM,
            "The format of the key store: PEM.", ValidString.in_("PEM"))
    .define("ssl.keystore.location", Type.STRING, None, HIGH,
            "The file with the client's private key and its certificate chain, for brokers that ask for one.")
    .define("ssl.keystore.key", Type.PASSWORD, None, HIGH,
            "The private key as text.")
    .define("ssl.keystore.certificate.chain", Type.PASSWORD, None, HIGH,
            "The certificate chain of that key as text.")
    .define("ssl.key.password", Type.PASSWORD, None, HIGH,
            "The password of the private key, if it is encrypted.")
    .define("ssl.enabled.protocols", Type.LIST, "TLSv1.2,TLSv1.3", MEDIUM,
            "The TLS versions to offer.")
    .define("ssl.cipher.suites", Type.LIST, None, LOW,
            "The cipher suites to offer. Not set: OpenSSL's choice.")
    .define("ssl.endpoint.identification.algorithm", Type.STRING, "https", LOW,
            "https: the broker's certificate must be valid for its host. Empty: any host name is accepted.")
)
# fmt: on
"""The keys that all clients have."""


class ClientConfig(Protocol):
    """The checked configuration of a client."""

    def __getitem__(self, key: str) -> Any: ...


def client_channel_builder(config: ClientConfig) -> ChannelBuilder | None:
    """A client's connections; None for PLAINTEXT. Raises ConfigError."""
    values = {key: config[key] for key in CLIENT_SECURITY_CONFIG.keys}
    return _channel_builder(SecurityProtocol.for_name(values[SECURITY_PROTOCOL]), values, server=False)


def server_channel_builder(
    protocol: SecurityProtocol, listener_name: str, config: Mapping[str, Any]
) -> ChannelBuilder | None:
    """A listener's connections; None for PLAINTEXT. Raises ConfigError."""
    if protocol is SecurityProtocol.PLAINTEXT:
        return None
    key = "ssl.principal.mapping.rules"
    try:
        builder = DefaultKafkaPrincipalBuilder(SslPrincipalMapper(config[key]))
    except (ValueError, KafkaError) as error:
        raise ConfigError(key, config[key], str(error)) from error

    def principal_of(certificate: bytes) -> str:
        return str(builder.build(AuthenticationContext(protocol, listener_name, certificate)))

    return _channel_builder(protocol, config, server=True, principal_of=principal_of)


def _channel_builder(
    protocol: SecurityProtocol,
    config: Mapping[str, Any],
    *,
    server: bool,
    principal_of: Callable[[bytes], str] | None = None,
) -> ChannelBuilder | None:
    if protocol is SecurityProtocol.PLAINTEXT:
        return None
    if protocol is not SecurityProtocol.SSL:
        raise ConfigError(SECURITY_PROTOCOL, protocol.name, "SASL is not supported yet")
    try:
        from kafka_lite.security.ssl.ssl_factory import SslFactory  # a page has no module ssl, and no TLS
    except ImportError as error:
        raise ConfigError(SECURITY_PROTOCOL, protocol.name, f"this Python has no TLS: {error}") from error
    return SslFactory(config, server=server, principal_of=principal_of)
