"""TLS to ZooKeeper: its keys in ``server.properties``, in Java's system properties, and in ZooKeeper's own file.

The same setting has a name in each of the three::

    server.properties, FILE of --zk-tls-config-file    KAFKA_OPTS=-D…                       zookeeper.properties
    ────────────────────────────────────────────────   ──────────────────────────────────   ───────────────────────
    zookeeper.ssl.client.enable                        zookeeper.client.secure              secureClientPort
    zookeeper.ssl.keystore.location, …                 zookeeper.ssl.keyStore.location, …   ssl.keyStore.location, …
    zookeeper.ssl.truststore.location, …               zookeeper.ssl.trustStore.location    ssl.trustStore.location
    zookeeper.ssl.enabled.protocols                    zookeeper.ssl.enabledProtocols       ssl.enabledProtocols
    zookeeper.ssl.cipher.suites                        zookeeper.ssl.ciphersuites           ssl.ciphersuites

A store without a type has that of its file's name: ``.pem``, ``.jks``, ``.p12``, ``.pfx``.

Kafka 2.5: core/.../server/KafkaConfig.scala (ZkSslConfigToSystemPropertyMap); ZooKeeper 3.8: zookeeper-server/.../
common/X509Util.java, KeyStoreFileType.java · book 7.1.3
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka_lite.common.config_def import ConfigDef, ConfigError, Importance, Type, ValidString
from kafka_lite.common.properties import load_properties
from kafka_lite.security.auth.distinguished_name import subject_of
from kafka_lite.security.auth.login_configuration import java_system_properties

if TYPE_CHECKING:
    from kafka_lite.security.ssl.ssl_factory import SslFactory

MEDIUM, LOW = Importance.MEDIUM, Importance.LOW
ENABLE, SOCKET = "zookeeper.ssl.client.enable", "zookeeper.clientCnxnSocket"
NIO_SOCKET = "org.apache.zookeeper.ClientCnxnSocketNIO"
_TYPES = {".pem": "PEM", ".jks": "JKS", ".p12": "PKCS12", ".pfx": "PKCS12"}

# A table: one key, its kind on the first line, its meaning on the second.
# fmt: off
ZK_SSL_CONFIGS = (
    ConfigDef()
    .define(ENABLE, Type.BOOLEAN, False, MEDIUM,
            "Whether to connect to ZooKeeper with TLS.")
    .define(SOCKET, Type.STRING, None, MEDIUM,
            "Java's class of connections to ZooKeeper; TLS there needs `org.apache.zookeeper.ClientCnxnSocketNetty`.")
    .define("zookeeper.ssl.keystore.location", Type.STRING, None, MEDIUM,
            "The key store with the certificate that ZooKeeper knows the client by.")
    .define("zookeeper.ssl.keystore.password", Type.PASSWORD, None, MEDIUM,
            "The password of the key store and of its key.")
    .define("zookeeper.ssl.keystore.type", Type.STRING, None, MEDIUM,
            "PEM, PKCS12 or JKS. Not set: by the name of the file.")
    .define("zookeeper.ssl.truststore.location", Type.STRING, None, MEDIUM,
            "The trust store with the authorities that sign ZooKeeper's certificate.")
    .define("zookeeper.ssl.truststore.password", Type.PASSWORD, None, MEDIUM,
            "The password of the trust store.")
    .define("zookeeper.ssl.truststore.type", Type.STRING, None, MEDIUM,
            "PEM, PKCS12 or JKS. Not set: by the name of the file.")
    .define("zookeeper.ssl.protocol", Type.STRING, "TLSv1.2", LOW,
            "The version of TLS if zookeeper.ssl.enabled.protocols is not set.")
    .define("zookeeper.ssl.enabled.protocols", Type.LIST, None, LOW,
            "The versions of TLS to offer.")
    .define("zookeeper.ssl.cipher.suites", Type.LIST, None, LOW,
            "The cipher suites to offer. Not set: all.")
    .define("zookeeper.ssl.endpoint.identification.algorithm", Type.STRING, "HTTPS", LOW,
            "`HTTPS`: ZooKeeper's certificate must be for the host that was asked for; anything else: for any.")
    .define("zookeeper.ssl.crl.enable", Type.BOOLEAN, False, LOW,
            "Whether to look for revoked certificates in lists.")
    .define("zookeeper.ssl.ocsp.enable", Type.BOOLEAN, False, LOW,
            "Whether to ask for revoked certificates online.")
)

SECURE_PORT_CONFIGS = (
    ConfigDef()
    .define("ssl.keyStore.location", Type.STRING, None, MEDIUM, "The server's key and certificate.")
    .define("ssl.keyStore.password", Type.PASSWORD, None, MEDIUM, "The password of the key store and of its key.")
    .define("ssl.keyStore.type", Type.STRING, None, MEDIUM, "PEM, PKCS12 or JKS. Not set: by the name of the file.")
    .define("ssl.trustStore.location", Type.STRING, None, MEDIUM, "The authorities that sign clients' certificates.")
    .define("ssl.trustStore.password", Type.PASSWORD, None, MEDIUM, "The password of the trust store.")
    .define("ssl.trustStore.type", Type.STRING, None, MEDIUM, "PEM, PKCS12 or JKS. Not set: by the name of the file.")
    .define("ssl.clientAuth", Type.STRING, "need", MEDIUM, "Whether a client needs a certificate.",
            ValidString.in_("need", "want", "none"))
    .define("ssl.protocol", Type.STRING, "TLSv1.2", LOW, "The version of TLS without ssl.enabledProtocols.")
    .define("ssl.enabledProtocols", Type.LIST, None, LOW, "The versions of TLS to offer.")
    .define("ssl.ciphersuites", Type.LIST, None, LOW, "The cipher suites to offer. Not set: all.")
)
"""Keys of a server's secure port, as ZooKeeper's own file has them."""
# fmt: on

SYSTEM_PROPERTIES = {
    "zookeeper.client.secure": ENABLE,
    SOCKET: SOCKET,
    "zookeeper.ssl.keyStore.location": "zookeeper.ssl.keystore.location",
    "zookeeper.ssl.keyStore.password": "zookeeper.ssl.keystore.password",
    "zookeeper.ssl.keyStore.type": "zookeeper.ssl.keystore.type",
    "zookeeper.ssl.trustStore.location": "zookeeper.ssl.truststore.location",
    "zookeeper.ssl.trustStore.password": "zookeeper.ssl.truststore.password",
    "zookeeper.ssl.trustStore.type": "zookeeper.ssl.truststore.type",
    "zookeeper.ssl.protocol": "zookeeper.ssl.protocol",
    "zookeeper.ssl.enabledProtocols": "zookeeper.ssl.enabled.protocols",
    "zookeeper.ssl.ciphersuites": "zookeeper.ssl.cipher.suites",
    "zookeeper.ssl.hostnameVerification": "zookeeper.ssl.endpoint.identification.algorithm",
    "zookeeper.ssl.crl": "zookeeper.ssl.crl.enable",
    "zookeeper.ssl.ocsp": "zookeeper.ssl.ocsp.enable",
}
"""ZooKeeper's name of a setting → Kafka's."""
_HOST_NAMES = "zookeeper.ssl.hostnameVerification"


def client_ssl_factory(values: Mapping[str, Any]) -> SslFactory | None:
    """From parsed ``ZK_SSL_CONFIGS``; None if the client is not to use TLS. Raises ConfigError, which names the key."""
    if not values[ENABLE]:
        return None
    if values[SOCKET] == NIO_SOCKET:
        raise ConfigError(
            SOCKET, NIO_SOCKET, f"has no TLS, which {ENABLE} asks for: leave it out, or set the Netty one"
        )
    for key in ("zookeeper.ssl.crl.enable", "zookeeper.ssl.ocsp.enable"):
        if values[key]:
            raise ConfigError(key, True, "revoked certificates are not looked for; false accepts that")
    prefix = "zookeeper.ssl."
    checks_host = values[f"{prefix}endpoint.identification.algorithm"].lower() == "https"
    config = {
        **_store(values, prefix, "keystore"),
        **_store(values, prefix, "truststore"),
        "ssl.enabled.protocols": values[f"{prefix}enabled.protocols"] or [values[f"{prefix}protocol"]],
        "ssl.cipher.suites": values[f"{prefix}cipher.suites"],
        "ssl.endpoint.identification.algorithm": "https" if checks_host else "",
    }
    return _new_factory(config, prefix, str.lower, server=False)


def has_client_certificate(values: Mapping[str, Any]) -> bool:
    """Whether ZooKeeper knows the client by a certificate, which may then own znodes."""
    return bool(values[ENABLE] and values["zookeeper.ssl.keystore.location"])


def client_values(file: Path | None = None, environ: Mapping[str, str] | None = None) -> dict[str, Any]:
    """A tool's settings of TLS: from its ``--zk-tls-config-file`` if it has one, else from KAFKA_OPTS.

    Other keys of the file are ignored, as in Kafka. Raises OSError, PropertiesError, ConfigError and KafkaError.
    """
    return parse_client({} if file is None else load_properties(file), environ)


def parse_client(properties: Mapping[str, object], environ: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The values of ``ZK_SSL_CONFIGS``: those that are not among the properties are in KAFKA_OPTS, as for Java."""
    given = java_system_properties(environ)
    of_system = {name: given[alias] for alias, name in SYSTEM_PROPERTIES.items() if alias in given}
    if _HOST_NAMES in given:
        of_system[SYSTEM_PROPERTIES[_HOST_NAMES]] = "HTTPS" if given[_HOST_NAMES].lower() == "true" else ""
    known = {name: value for name, value in properties.items() if name in ZK_SSL_CONFIGS}
    return ZK_SSL_CONFIGS.parse(of_system | known)


def server_ssl_context(values: Mapping[str, Any]) -> ssl.SSLContext:
    """From parsed ``SECURE_PORT_CONFIGS``: the context of a server's secure port. Raises ConfigError."""
    config = {
        **_store(values, "ssl.", "keyStore"),
        **_store(values, "ssl.", "trustStore"),
        "ssl.client.auth": {"need": "required", "want": "requested", "none": "none"}[values["ssl.clientAuth"]],
        "ssl.enabled.protocols": values["ssl.enabledProtocols"] or [values["ssl.protocol"]],
        "ssl.cipher.suites": values["ssl.ciphersuites"],
    }
    return _new_factory(config, "ssl.", _camel_case, server=True).context


def client_id(certificate: bytes) -> str:
    """The id of the scheme ``x509`` for a certificate in DER. Raises KafkaError."""
    return subject_of(certificate)


def _store(values: Mapping[str, Any], prefix: str, store: str) -> dict[str, Any]:
    """The keys of one store under the names that ``SslFactory`` reads."""
    name = f"ssl.{store.lower()}"
    location, password = values[f"{prefix}{store}.location"], values[f"{prefix}{store}.password"]
    kind = values[f"{prefix}{store}.type"] or _TYPES.get(Path(location or "").suffix.lower())
    found = {f"{name}.location": location, f"{name}.password": password, f"{name}.type": kind}
    return found | ({"ssl.key.password": password} if name == "ssl.keystore" else {})


def _new_factory(config: Mapping[str, Any], prefix: str, spelled: Callable[[str], str], *, server: bool) -> SslFactory:
    """A factory whose errors name the key that the user has set."""
    from kafka_lite.security.ssl.ssl_factory import SslFactory  # a page has no module ssl, and no TLS

    try:
        return SslFactory(config, server=server)
    except ConfigError as error:
        reason = str(error).partition(f"configuration {error.name}: ")[2]
        raise ConfigError(prefix + spelled(error.name.removeprefix("ssl.")), error.value, reason) from error


def _camel_case(name: str) -> str:
    """ZooKeeper's spelling of a key: ``keystore.location`` is ``keyStore.location``."""
    names = {"client.auth": "clientAuth", "enabled.protocols": "enabledProtocols", "cipher.suites": "ciphersuites"}
    return names.get(name, name.replace("keystore", "keyStore").replace("truststore", "trustStore"))
