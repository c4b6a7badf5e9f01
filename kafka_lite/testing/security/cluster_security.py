"""How the clients of a test cluster are to be encrypted, authenticated and authorized.

Kafka 0.10.2: core/src/test/.../api/SaslSetup.scala, IntegrationTestHarness.scala (securityProtocol) · book 2.3.1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ADMIN = "admin"
"""A user that every secured cluster has, and that may do everything."""
PROTOCOLS = ("SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_EXAMPLE = 'Cluster(security=ClusterSecurity("SASL_SSL", users={"alice": "a password"}))'


@dataclass(frozen=True)
class ClusterSecurity:
    """Demands of the listener for a cluster's clients::

        Cluster(security="SSL")
        Cluster(security=ClusterSecurity("SASL_SSL", mechanism="PLAIN", users={"alice": "a password"}, acls=True))

    Raises ValueError and TypeError, which say what to give instead.
    """

    protocol: str = "SASL_SSL"
    """SSL, SASL_PLAINTEXT or SASL_SSL."""
    mechanism: str = "SCRAM-SHA-512"
    """That of SASL: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512."""
    users: Mapping[str, str] = field(default_factory=lambda: {"alice": "alice-secret", "bob": "bob-secret"})
    """User -> password. There is also ``admin``, who may do everything."""
    client_certificates: bool = False
    """Whether a client needs a certificate. With SSL it names the user."""
    acls: bool = False
    """Whether users need a permission for what they do."""

    def __post_init__(self) -> None:
        if self.protocol not in PROTOCOLS:
            raise ValueError(f"security={self.protocol!r}: one of {', '.join(PROTOCOLS)}")
        if self.mechanism not in MECHANISMS:
            raise ValueError(f"mechanism={self.mechanism!r}: one of {', '.join(MECHANISMS)}")
        if not isinstance(self.users, Mapping):
            raise TypeError(f"users={self.users!r}: users with their passwords, as in {_EXAMPLE}")
        for user, password in self.users.items():
            if not user or {'"', "\\"} & {*user, *password}:
                raise ValueError(f"users: {user!r} and its password must not be empty or have quotes or backslashes")
        if self.client_certificates and not self.has_tls:
            raise ValueError(f"client_certificates=True: {self.protocol} has none; take SSL or SASL_SSL")
        if self.acls and not (self.has_sasl or self.client_certificates):
            raise ValueError("acls=True: with SSL, only client_certificates=True tells who a client is")

    @classmethod
    def of(cls, wanted: ClusterSecurity | str) -> ClusterSecurity:
        """``security`` as ``Cluster`` takes it: a protocol with all defaults, or what it says in full."""
        if isinstance(wanted, cls):
            return wanted
        if isinstance(wanted, str):
            return cls(wanted)
        raise TypeError(f"security={wanted!r}: a protocol such as 'SASL_SSL', or {_EXAMPLE}")

    @property
    def has_sasl(self) -> bool:
        """Whether users have passwords."""
        return self.protocol != "SSL"

    @property
    def has_tls(self) -> bool:
        """Whether connections are encrypted."""
        return self.protocol != "SASL_PLAINTEXT"

    @property
    def passwords(self) -> dict[str, str]:
        """The passwords of all users, with that of ``admin``."""
        return {ADMIN: "admin-secret", **self.users}
