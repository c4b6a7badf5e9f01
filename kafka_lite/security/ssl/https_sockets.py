"""TLS of an HTTP port, as the metrics of a broker or worker have one.

::

    metrics.http.security.protocol=SSL
    ssl.keystore.location=/etc/kafka/broker.pem       every port of this process
    metrics.http.ssl.client.auth=required             this port only: who has no certificate of
    metrics.http.ssl.truststore.location=…            these authorities is not admitted

Kafka has JMX in place of the metrics port. The REST interface of its Connect has keys of this form, with the prefix
``listeners.https.``.

Kafka 1.1: connect/.../runtime/rest/util/SSLUtils.java
"""

from __future__ import annotations

import logging
import socket
import ssl
from collections.abc import Mapping

from kafka_lite.common.config_def import ConfigDef, ConfigError, Importance, Type, ValidString
from kafka_lite.common.security.prefixed_configs import values_with_prefix_override
from kafka_lite.security.ssl.ssl_factory import SslFactory

logger = logging.getLogger(__name__)

_MEDIUM = Importance.MEDIUM
# fmt: off
_KEYS = (
    ConfigDef()
    .define("ssl.keystore.type", Type.STRING, "JKS", _MEDIUM, "The format of the key store: PEM, PKCS12 or JKS.")
    .define("ssl.keystore.location", Type.STRING, None, _MEDIUM, "The file of the key store.")
    .define("ssl.keystore.password", Type.PASSWORD, None, _MEDIUM, "The password of the key store.")
    .define("ssl.keystore.key", Type.PASSWORD, None, _MEDIUM, "The private key as text.")
    .define("ssl.keystore.certificate.chain", Type.PASSWORD, None, _MEDIUM, "The certificate chain as text.")
    .define("ssl.key.password", Type.PASSWORD, None, _MEDIUM, "The password of the private key.")
    .define("ssl.truststore.type", Type.STRING, "JKS", _MEDIUM, "The format of the trust store.")
    .define("ssl.truststore.location", Type.STRING, None, _MEDIUM, "The file of the trust store.")
    .define("ssl.truststore.certificates", Type.PASSWORD, None, _MEDIUM, "The trusted certificates as text.")
    .define("ssl.truststore.password", Type.PASSWORD, None, _MEDIUM, "The password of the trust store.")
    .define("ssl.enabled.protocols", Type.LIST, "TLSv1.2,TLSv1.3", _MEDIUM, "The TLS versions to offer.")
    .define("ssl.cipher.suites", Type.LIST, None, _MEDIUM, "The cipher suites to offer.")
    .define("ssl.client.auth", Type.STRING, "none", _MEDIUM, "Whether clients need a certificate.",
            ValidString.in_("required", "requested", "none"))
)
# fmt: on


class HttpsSockets:
    """Makes the sockets of an HTTP port's connections. Files that are replaced count for the next connection."""

    def __init__(self, original: Mapping[str, object], prefix: str) -> None:
        """``original``: a configuration as it was given; keys with ``prefix`` come before those without it.

        Raises ConfigError, which names the key.
        """
        self._values = values_with_prefix_override(_KEYS.parse(original), original, prefix, _KEYS.keys)
        self._factory = SslFactory(self._values, server=True)

    def wrap(self, sock: socket.socket) -> ssl.SSLSocket:
        """A connection's socket, before its handshake. ``sock`` cannot be used any more."""
        if self._factory.has_changed_files:
            try:
                self._factory.take_over(self._factory.replacement(self._values))
            except ConfigError as error:
                logger.error("Still using the former keys and certificates: %s", error)
        return self._factory.context.wrap_socket(sock, server_side=True, do_handshake_on_connect=False)
