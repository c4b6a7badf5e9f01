"""The keys, users and configurations of a secured test cluster.

Kafka 0.10.2: core/src/test/.../api/SaslSetup.scala, utils/JaasTestUtils.scala,
clients/src/test/.../test/TestSslUtils.java · book 2.3.1
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from kafka_lite.admin.user_scram_credentials import Upsertion, alter
from kafka_lite.clients.admin_client import ADMIN_CONFIG
from kafka_lite.network.channel_builder import ClientChannelBuilder
from kafka_lite.security.channel_builders import client_channel_builder
from kafka_lite.security.scram.scram_formatter import ScramFormatter
from kafka_lite.security.scram.scram_mechanism import ScramMechanism
from kafka_lite.testing.any_broker import HOST
from kafka_lite.testing.security.cluster_security import ADMIN, ClusterSecurity
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

if TYPE_CHECKING:
    from kafka_lite.testing.security.certificate_authority import Credential

CLIENTS = "CLIENTS"
"""The name of the listener for clients."""
BROKER = "broker"
"""The user that brokers are, to each other."""
ITERATIONS = 4096
NO_USERS: Final[Mapping[str, str]] = MappingProxyType({})
_HOSTS = ("localhost", HOST)
_MODULES = {"PLAIN": "plain.PlainLoginModule"}
_SCRAM_MODULE = "scram.ScramLoginModule"


class SecuredCluster:
    """Made once for a cluster: brokers and clients find here what they need to accept each other.

    Brokers talk to each other as ``User:broker``, by PLAIN on listeners of their own, which a test does not see.
    """

    def __init__(self, security: ClusterSecurity) -> None:
        """Raises ImportError if there are no certificates without another package."""
        self.security = security
        self._broker_password = secrets.token_hex(8)
        if security.has_tls:
            from kafka_lite.testing.security.certificate_authority import CertificateAuthority

            self.authority: CertificateAuthority | None = CertificateAuthority()
            self._own = self.authority.issue("localhost", _HOSTS)
        else:
            self.authority = None
        self._credential_of = cache(self._issue)

    # ── for the brokers ───────────────────────────────────────────────────────────────────────────────────────────

    def broker_properties(self, inner_listeners: Iterable[str]) -> dict[str, str]:
        """Keys of ``server.properties`` for the listener of clients and for those between brokers."""
        inner = list(inner_listeners)
        protocols = {CLIENTS: self.security.protocol} | dict.fromkeys(inner, "SASL_PLAINTEXT")
        properties = {
            "listener.security.protocol.map": ",".join(f"{name}:{protocol}" for name, protocol in protocols.items()),
            "sasl.mechanism.inter.broker.protocol": "PLAIN",
            "sasl.enabled.mechanisms": "PLAIN",
        }
        users = {BROKER: self._broker_password}
        for name in inner:
            key = f"listener.name.{name.lower()}.plain.sasl.jaas.config"
            properties[key] = _jaas("PLAIN", BROKER, self._broker_password, users)
        return properties | self._tls_of_clients() | self._sasl_of_clients() | self._authorizer()

    def _tls_of_clients(self) -> dict[str, str]:
        if self.authority is None:
            return {}
        own = {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.key": self._own.key,
            "ssl.keystore.certificate.chain": self._own.certificate,
            "ssl.truststore.type": "PEM",
            "ssl.truststore.certificates": self.authority.certificate,
            "ssl.client.auth": "required" if self.security.client_certificates else "none",
            "ssl.principal.mapping.rules": "RULE:^CN=([^,]+).*$/$1/,DEFAULT",
        }
        return {f"listener.name.{CLIENTS.lower()}.{key}": value for key, value in own.items()}

    def _sasl_of_clients(self) -> dict[str, str]:
        if not self.security.has_sasl:
            return {}
        listener, mechanism = f"listener.name.{CLIENTS.lower()}", self.security.mechanism
        properties = {f"{listener}.sasl.enabled.mechanisms": mechanism}
        if mechanism == "PLAIN":
            passwords = self.security.passwords
            properties[f"{listener}.plain.sasl.jaas.config"] = _jaas(mechanism, "", "", passwords)
        return properties

    def _authorizer(self) -> dict[str, str]:
        if not self.security.acls:
            return {}
        return {
            "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
            "super.users": f"User:{BROKER};User:{ADMIN}",
        }

    def create_users(self, zookeeper_connect: str) -> None:
        """Write the credentials of SCRAM to ZooKeeper, before the first broker starts."""
        if not self.security.has_sasl or self.security.mechanism == "PLAIN":
            return
        mechanism = ScramMechanism.for_mechanism_name(self.security.mechanism)
        assert mechanism is not None
        formatter = ScramFormatter(mechanism)
        changes = []
        for user, password in self.security.passwords.items():
            salt = secrets.token_bytes(16)
            salted = formatter.salted_password(password, salt, ITERATIONS)
            changes.append(Upsertion(user, mechanism.type, ITERATIONS, salt, salted))
        zk_client = KafkaZkClient(zookeeper_connect)
        try:
            zk_client.start(create_chroot=True)
            zk_client.create_persistent_paths()
            alter(zk_client, [], changes)
        finally:
            zk_client.close()

    # ── for the clients ───────────────────────────────────────────────────────────────────────────────────────────

    def client_configs(self, user: str, password: str | None = None) -> dict[str, str]:
        """Kafka's client properties for a user: those of our clients, of Java's, and of ``--command-config``.

        ``password``: another one than the user's, which the broker refuses. Raises ValueError for an unknown user.
        """
        security = self.security
        configs = {"security.protocol": security.protocol}
        if self.authority is not None:
            configs |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": self.authority.certificate}
            if security.client_certificates:
                own = self._credential_of(self._known(user))
                configs |= {"ssl.keystore.type": "PEM", "ssl.keystore.key": own.key}
                configs["ssl.keystore.certificate.chain"] = own.certificate
        if security.has_sasl:
            configs["sasl.mechanism"] = security.mechanism
            configs["sasl.jaas.config"] = _jaas(security.mechanism, user, self._password(user, password))
        return configs

    def librdkafka_configs(self, user: str, password: str | None = None) -> dict[str, str]:
        """The same for librdkafka: confluent-kafka, and most clients of other languages."""
        security = self.security
        configs = {"security.protocol": security.protocol}
        if self.authority is not None:
            configs["ssl.ca.pem"] = self.authority.certificate
            if security.client_certificates:
                own = self._credential_of(self._known(user))
                configs |= {"ssl.key.pem": own.key, "ssl.certificate.pem": own.certificate}
        if security.has_sasl:
            configs |= {"sasl.mechanism": security.mechanism, "sasl.username": user}
            configs["sasl.password"] = self._password(user, password)
        return configs

    @cached_property
    def channel_builder(self) -> ClientChannelBuilder | None:
        """The connections of the cluster's own client, which is ``admin``."""
        configs = {"bootstrap.servers": f"{HOST}:1", **self.client_configs(ADMIN)}
        return client_channel_builder(ADMIN_CONFIG.parse(configs))

    def _known(self, user: str) -> str:
        if user not in self.security.passwords:
            raise ValueError(f"there is no user {user!r} in this cluster: {', '.join(self.security.passwords)}")
        return user

    def _password(self, user: str, password: str | None) -> str:
        return self.security.passwords[self._known(user)] if password is None else password

    def _issue(self, user: str) -> Credential:
        assert self.authority is not None
        return self.authority.issue(user)


def _jaas(mechanism: str, user: str, password: str, users: Mapping[str, str] = NO_USERS) -> str:
    module = _MODULES.get(mechanism, _SCRAM_MODULE)
    options = {"username": user, "password": password} if user else {}
    options |= {f"user_{name}": value for name, value in users.items()}
    text = " ".join(f'{name}="{value}"' for name, value in options.items())
    return f"org.apache.kafka.common.security.{module} required {text};"
