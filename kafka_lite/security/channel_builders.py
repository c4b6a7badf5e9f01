"""How the connections of a listener or of a client are protected, by their configuration.

Kafka 0.10.2: clients/.../common/network/ChannelBuilders.java · book 2.1.4
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from kafka_lite.common.config_def import ConfigDef, ConfigError, Importance, Password, Type, ValidString
from kafka_lite.common.errors import KafkaError
from kafka_lite.common.security.kafka_principal import KafkaPrincipal
from kafka_lite.common.security_protocol import SecurityProtocol
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.network.channel_builder import ChannelBuilder, ClientChannelBuilder, PlaintextChannelBuilder
from kafka_lite.security.auth.jaas_config import JaasConfigError
from kafka_lite.security.auth.jaas_context import JaasContext
from kafka_lite.security.auth.kafka_principal_builder import AuthenticationContext, DefaultKafkaPrincipalBuilder
from kafka_lite.security.auth.ssl_principal_mapper import SslPrincipalMapper
from kafka_lite.security.sasl.mechanism_errors import JwksError, MissingCryptographyError, MissingGssapiError
from kafka_lite.security.sasl.sasl_mechanism import GSSAPI, OAUTHBEARER, SERVICE_NAME_CONFIG, SaslClient, SaslServer
from kafka_lite.security.sasl.sasl_server_authenticator import SaslListener
from kafka_lite.security.sasl_channel_builder import (
    SaslClientChannelBuilder,
    SaslServerChannelBuilder,
    SaslServices,
)
from kafka_lite.security.sasl_mechanisms import MECHANISMS, sasl_client, sasl_server, unknown_mechanism
from kafka_lite.security.scram.scram_mechanism import SCRAM_MECHANISM_NAMES
from kafka_lite.security.ssl.key_stores import STORE_TYPES

HIGH, MEDIUM, LOW = Importance
SECURITY_PROTOCOL = "security.protocol"
SASL_JAAS_CONFIG = "sasl.jaas.config"
ENABLED_MECHANISMS = "sasl.enabled.mechanisms"
KERBEROS_RULES = "sasl.kerberos.principal.to.local.rules"
JWKS_URL = "sasl.oauthbearer.jwks.endpoint.url"
SERVED_PROTOCOLS = tuple(protocol for protocol in SecurityProtocol if protocol is not SecurityProtocol.TRACE)
"""The protocols that a listener or client may have. TRACE is for Kafka's own tests."""

# fmt: off
CLIENT_SECURITY_CONFIG = (
    ConfigDef()
    .define(SECURITY_PROTOCOL, Type.STRING, "PLAINTEXT", MEDIUM,
            "The protocol of the brokers' listener: PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL.",
            ValidString.in_(*(protocol.name for protocol in SERVED_PROTOCOLS)))
    .define("ssl.truststore.type", Type.STRING, "PEM", MEDIUM,
            "The format of the trust store: PEM, PKCS12 or JKS.", ValidString.in_(*STORE_TYPES))
    .define("ssl.truststore.location", Type.STRING, None, HIGH,
            "The file with the certificates of the authorities that are trusted. Not set: those of the system.")
    .define("ssl.truststore.certificates", Type.PASSWORD, None, HIGH,
            "The same certificates as text.")
    .define("ssl.truststore.password", Type.PASSWORD, None, HIGH,
            "The password of a trust store of PKCS12 or JKS.")
    .define("ssl.keystore.type", Type.STRING, "PEM", MEDIUM,
            "The format of the key store: PEM, PKCS12 or JKS.", ValidString.in_(*STORE_TYPES))
    .define("ssl.keystore.location", Type.STRING, None, HIGH,
            "The file with the client's private key and its certificate chain, for brokers that ask for one.")
    .define("ssl.keystore.password", Type.PASSWORD, None, HIGH,
            "The password of a key store of PKCS12 or JKS.")
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
    .define("sasl.mechanism", Type.STRING, "GSSAPI", MEDIUM,
            "How the client proves who it is, with SASL: GSSAPI (Kerberos), PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or "
            "OAUTHBEARER.")
    .define(SERVICE_NAME_CONFIG, Type.STRING, None, MEDIUM,
            "With GSSAPI, the first part of the brokers' principals: kafka of kafka/broker1.example.com@EXAMPLE.COM.")
    .define(SASL_JAAS_CONFIG, Type.PASSWORD, None, MEDIUM,
            "The login module of the mechanism and its options, as in "
            "`org.apache.kafka.common.security.scram.ScramLoginModule required username=\"…\" password=\"…\";`.")
    .define("sasl.username", Type.STRING, None, MEDIUM,
            "The user, in place of sasl.jaas.config; as librdkafka has it.")
    .define("sasl.password", Type.PASSWORD, None, MEDIUM,
            "The password of sasl.username.")
)
# fmt: on
"""The keys that all clients have."""


SASL_PROTOCOLS = (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)
TLS_PROTOCOLS = (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL)


class ClientConfig(Protocol):
    """The checked configuration of a client."""

    def __getitem__(self, key: str) -> Any: ...


def require_plaintext(configs: Mapping[str, object], client: str, instead: str) -> None:
    """Raise ConfigError if a client that connects in plain text only is to be protected."""
    protocol = configs.get(SECURITY_PROTOCOL, SecurityProtocol.PLAINTEXT.name)
    if protocol != SecurityProtocol.PLAINTEXT.name:
        text = f"{client} connects in plain text only, in Kafka, too. Use {instead}"
        raise ConfigError(SECURITY_PROTOCOL, protocol, text)


def client_channel_builder(
    config: ClientConfig, client_id: str = "", time: Time = SYSTEM_TIME
) -> ClientChannelBuilder | None:
    """A client's connections; None for PLAINTEXT. Raises ConfigError."""
    values = {key: config[key] for key in CLIENT_SECURITY_CONFIG.keys}
    protocol = SecurityProtocol.for_name(values[SECURITY_PROTOCOL])
    if protocol is SecurityProtocol.PLAINTEXT:
        return None
    transports = _transports(protocol, values, server=False)
    if protocol not in SASL_PROTOCOLS:
        return transports
    return SaslClientChannelBuilder(transports, _client_mechanism(values, time), client_id, time)


def inter_broker_channel_builder(
    protocol: SecurityProtocol,
    mechanism: str,
    config: Mapping[str, Any],
    client_id: str,
    time: Time = SYSTEM_TIME,
) -> ClientChannelBuilder | None:
    """A broker's connections to others; None for PLAINTEXT. Raises ConfigError.

    ``config`` has the values of ``mechanism`` on the listener between brokers. Its key store is the client's, too.
    """
    if protocol is SecurityProtocol.PLAINTEXT:
        return None
    transports = _transports(protocol, config, server=False)
    if protocol not in SASL_PROTOCOLS:
        return transports
    values = {"sasl.username": None, "sasl.password": None, **config, "sasl.mechanism": mechanism}
    new_client = _client_mechanism(values, time, "sasl.mechanism.inter.broker.protocol")
    return SaslClientChannelBuilder(transports, new_client, client_id, time)


def _client_mechanism(
    values: Mapping[str, Any], time: Time, key: str = "sasl.mechanism"
) -> Callable[[str], SaslClient]:
    """The client's end of ``sasl.mechanism``, with ``sasl.jaas.config``. Raises ConfigError."""
    mechanism = values["sasl.mechanism"]
    if mechanism not in MECHANISMS:
        raise ConfigError(key, mechanism, unknown_mechanism(mechanism))
    try:
        return sasl_client(mechanism, _client_jaas(values, mechanism), time, values)
    except MissingGssapiError as error:
        raise ConfigError(key, mechanism, str(error)) from error
    except (JaasConfigError, ValueError) as error:
        raise ConfigError(SASL_JAAS_CONFIG, Password.HIDDEN, str(error)) from error


def _client_jaas(values: Mapping[str, Any], mechanism: str) -> JaasContext:
    """``sasl.jaas.config``, or else user and password of keys that librdkafka's users know."""
    jaas, user, password = values[SASL_JAAS_CONFIG], values["sasl.username"], values["sasl.password"]
    if jaas is not None:
        return JaasContext.load(jaas.value, mechanism)
    if user is None or password is None:
        raise JaasConfigError('is missing: write Module required username="…" password="…" ;')
    return JaasContext("sasl.username and sasl.password", {"username": user, "password": password.value})


def server_channel_builder(
    protocol: SecurityProtocol,
    listener_name: str,
    config: Mapping[str, Any],
    sasl: SaslServices | None = None,
    of_mechanism: Callable[[str], Mapping[str, Any]] | None = None,
) -> ChannelBuilder | None:
    """A listener's connections; None for PLAINTEXT. Raises ConfigError.

    ``config`` has the listener's values; ``of_mechanism`` returns those of one of its mechanisms.
    """
    if protocol is SecurityProtocol.PLAINTEXT:
        return None
    listener = None
    if protocol in SASL_PROTOCOLS:
        assert sasl is not None
        listener = _sasl_listener(listener_name, config, sasl, of_mechanism or (lambda _mechanism: config))
    builder = _principal_builder(config, with_kerberos=listener is not None and GSSAPI in listener.mechanisms)

    def principal_of(certificate: bytes) -> KafkaPrincipal:
        return builder.build(AuthenticationContext(protocol, listener_name, certificate))

    # With SASL a certificate may be asked for, but the user is that of SASL.
    transports = _transports(protocol, config, server=True, principal_of=None if listener else principal_of)
    if listener is None:
        return transports
    assert sasl is not None

    def user_of(server: SaslServer) -> KafkaPrincipal:
        return builder.build(
            AuthenticationContext(
                protocol,
                listener_name,
                sasl_mechanism=server.mechanism,
                sasl_authorization_id=server.authorization_id,
                token_authenticated=server.token_authenticated,
            )
        )

    size = config["sasl.server.max.receive.size"]
    return SaslServerChannelBuilder(transports, listener, user_of, size, sasl.time)


def _principal_builder(config: Mapping[str, Any], *, with_kerberos: bool) -> DefaultKafkaPrincipalBuilder:
    key = "ssl.principal.mapping.rules"
    try:
        mapper = SslPrincipalMapper(config[key])
        key = KERBEROS_RULES
        if not with_kerberos:
            return DefaultKafkaPrincipalBuilder(mapper)
        from kafka_lite.security.kerberos.gssapi_mechanism import short_namer

        return DefaultKafkaPrincipalBuilder(mapper, short_namer(config[key]))
    except MissingGssapiError as error:
        raise ConfigError(ENABLED_MECHANISMS, GSSAPI, str(error)) from error
    except (ValueError, KafkaError) as error:
        raise ConfigError(key, config[key], str(error)) from error


def _sasl_listener(
    listener_name: str, config: Mapping[str, Any], sasl: SaslServices, of_mechanism: Callable[[str], Mapping[str, Any]]
) -> SaslListener:
    """The mechanisms that a listener enables."""
    key = ENABLED_MECHANISMS
    mechanisms, lifetimes = {}, {}
    for mechanism in config[key]:
        if mechanism not in MECHANISMS:
            raise ConfigError(key, ",".join(config[key]), unknown_mechanism(mechanism))
        values = of_mechanism(mechanism)
        name = f"listener.name.{listener_name.lower()}.{mechanism.lower()}.{SASL_JAAS_CONFIG}"
        try:
            options = _server_options(values, mechanism)
            mechanisms[mechanism] = sasl_server(mechanism, options, sasl.credentials, sasl.tokens, sasl.time, values)
        except (JwksError, MissingCryptographyError) as error:
            raise ConfigError(JWKS_URL, values[JWKS_URL], str(error)) from error
        except MissingGssapiError as error:
            raise ConfigError(key, mechanism, str(error)) from error
        except (JaasConfigError, ValueError) as error:
            raise ConfigError(name, Password.HIDDEN, str(error)) from error
        lifetimes[mechanism] = values["connections.max.reauth.ms"]
    if not mechanisms:
        raise ConfigError(key, "", f"must name one of {', '.join(MECHANISMS)}")
    return SaslListener(mechanisms, sasl.api_versions, sasl.unsupported_api_versions, lifetimes)


def _server_options(values: Mapping[str, Any], mechanism: str) -> Mapping[str, str]:
    """The options of the login module. SCRAM needs none, since its users are in ZooKeeper, nor do signed tokens."""
    jaas = values[SASL_JAAS_CONFIG]
    if jaas is not None:
        return JaasContext.load(jaas.value, mechanism).options
    if mechanism in SCRAM_MECHANISM_NAMES or (mechanism == OAUTHBEARER and values.get(JWKS_URL)):
        return {}
    raise JaasConfigError(f"is missing: {mechanism} needs the options of its login module")


def _transports(
    protocol: SecurityProtocol,
    config: Mapping[str, Any],
    *,
    server: bool,
    principal_of: Callable[[bytes], KafkaPrincipal] | None = None,
) -> ClientChannelBuilder:
    """Plain text or TLS, below the authentication."""
    if protocol not in TLS_PROTOCOLS:
        return PlaintextChannelBuilder()
    try:
        from kafka_lite.security.ssl.ssl_factory import SslFactory  # a page has no module ssl, and no TLS
    except ImportError as error:
        raise ConfigError(SECURITY_PROTOCOL, protocol.name, f"this Python has no TLS: {error}") from error
    return SslFactory(config, server=server, principal_of=principal_of)
