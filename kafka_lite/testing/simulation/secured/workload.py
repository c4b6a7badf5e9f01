"""The simulator's workload of a secured cluster: users with rights, and strangers without.

Not in Kafka.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from kafka_lite.testing.simulation.cluster import PORT
from kafka_lite.testing.simulation.programs import Load
from kafka_lite.testing.simulation.workload import Workload
from kafka_lite.testing.simulation.world import World

SECURED_PROGRAMS: Final = "kafka_lite.testing.simulation.secured.programs:"
SASL_PORT: Final = 9094
SESSION_MS: Final = 4_000
"""How long a session lasts: clients and brokers authenticate again every few seconds, even while something is wrong."""
USERS: Final = {"broker": "of-brokers", "alice": "of-alice", "mallory": "of-mallory"}
_MODULE: Final = "org.apache.kafka.common.security.plain.PlainLoginModule"
_KNOWN: Final = " ".join(f'user_{user}="{password}"' for user, password in USERS.items())

CERTIFICATE: Final = (
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBpjCCAVigAwIBAgIBATAFBgMrZXAwIzEhMB8GA1UEAwwYYnJva2VycyBvZiB0\n"
    "aGUgc2ltdWxhdG9yMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAj\n"
    "MSEwHwYDVQQDDBhicm9rZXJzIG9mIHRoZSBzaW11bGF0b3IwKjAFBgMrZXADIQAm\n"
    "/gekFzBZX/1zKgKI8WNtevXKShOiA/WDF0YFkyu4UaOBrjCBqzAPBgNVHRMBAf8E\n"
    "BTADAQH/MB0GA1UdDgQWBBRJOQBbmDdonXGeJmDGiJPNoaRrRzAOBgNVHQ8BAf8E\n"
    "BAMCAoQwaQYDVR0RBGIwYIcECgAAAYcECgAAAocECgAAA4cECgAABIcECgAABYcE\n"
    "CgAABocECgAAB4cECgAACIcECgAACYcECgAACocECgAAC4cECgAADIcECgAADYcE\n"
    "CgAADocECgAAD4cECgAAEDAFBgMrZXADQQBjRYYGCPb6Wq0fFEaaur13JL8E0TDs\n"
    "t5tGoINOw8NyMYpDmo8zsTmPDn4PwzA3DDa5xkh3uc8XZtPMbYWIrH4A\n"
    "-----END CERTIFICATE-----\n"
)
"""That of all brokers, for the addresses of the first machines, until 2120. Its key is in the next constant: a world
has no secrets. A signature of Ed25519 has one length, whatever OpenSSL's random numbers are."""
TLS: Final[Mapping[str, str]] = {
    "ssl.keystore.type": "PEM",
    "ssl.keystore.key": (
        "-----BEGIN PRIVATE KEY-----\n"
        "MC4CAQAwBQYDK2VwBCIEIPRLKLkW3SqSjrM5BRtgWlJR76okBJgLIxTQ5L9W6GDs\n"
        "-----END PRIVATE KEY-----\n"
    ),
    "ssl.keystore.certificate.chain": CERTIFICATE,
    "ssl.truststore.type": "PEM",
    "ssl.truststore.certificates": CERTIFICATE,
}
SECURED: Final[Mapping[str, str]] = {
    "listeners": f"PLAINTEXT://{{ip}}:{PORT},SASL_SSL://{{ip}}:{SASL_PORT}",
    "security.inter.broker.protocol": "SASL_SSL",
    **TLS,
    "sasl.mechanism.inter.broker.protocol": "PLAIN",
    "sasl.enabled.mechanisms": "PLAIN",
    "listener.name.sasl_ssl.plain.sasl.jaas.config": (
        f'{_MODULE} required username="broker" password="{USERS["broker"]}" {_KNOWN};'
    ),
    "listener.name.sasl_ssl.plain.connections.max.reauth.ms": str(SESSION_MS),
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "super.users": "User:broker;User:ANONYMOUS",
}
"""Brokers and users are on one listener, with TLS and passwords; the operator is on the other, as a super user."""
RIGHTS: Final = ("WRITE TOPIC *", "READ TOPIC *", "READ GROUP *")


class SecuredWorkload(Workload):
    """Our clients are alice, who has the rights for what they do. Strangers know no password, or have no rights::

    alice    ─ TLS, SASL ─▶ brokers ◀─ TLS, SASL ─▶ brokers      records and groups
    mallory  ─ TLS, SASL ─▶ brokers                         not authorized
    nobody   ─ TLS, SASL ─▶ brokers                         not authenticated
    operator ─────────────▶ brokers
    """

    def __init__(self, world: World, properties: Mapping[str, str], brokers: int = 1) -> None:
        world.network.encrypted_ports.add(SASL_PORT)
        super().__init__(world, properties, brokers)

    @property
    def secured_bootstrap(self) -> str:
        """The addresses of the listeners with SASL."""
        return ",".join(f"{broker.machine.ip}:{SASL_PORT}" for broker in self.cluster.brokers)

    def allow_alice(self) -> None:
        """Give alice her rights, and wait until a broker has stored them."""
        self.allow("alice", RIGHTS)

    def allow(self, user: str, rights: Sequence[str]) -> None:
        """Give a user rights, as in ``RIGHTS``."""
        self._operate("allow", user, rights, module=SECURED_PROGRAMS)

    def produce(self, name: str, load: Load, **configs: object) -> None:
        """Start a producer of alice's."""
        super().produce(name, load, **{**self._keys("alice"), **configs})

    def consume(self, name: str, group: str, topic: str, **configs: object) -> None:
        """Start a consumer of alice's."""
        super().consume(name, group, topic, **{**self._keys("alice"), **configs})

    def start_strangers(self, topic: str) -> None:
        """Start those who may not write this topic, nor read it."""
        for name, keys in (("mallory", self._keys("mallory")), ("nobody", self._keys("alice", "guessed"))):
            self._start_client("stranger", name, topic, self.history, keys, module=SECURED_PROGRAMS)

    def _keys(self, user: str, password: str | None = None) -> dict[str, object]:
        password = USERS[user] if password is None else password
        return {
            "bootstrap.servers": self.secured_bootstrap,
            "security.protocol": "SASL_SSL",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.certificates": CERTIFICATE,
            "sasl.mechanism": "PLAIN",
            "sasl.jaas.config": f'{_MODULE} required username="{user}" password="{password}";',
        }
