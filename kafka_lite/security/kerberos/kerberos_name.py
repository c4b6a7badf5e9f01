"""The name of a user or a service in Kerberos.

::

    alice@EXAMPLE.COM                        a user: service name and realm
    kafka/broker1.example.com@EXAMPLE.COM    a service: service name, host name, realm
    alice                                    a name that has been shortened already

Kafka 0.10.2: clients/.../common/security/kerberos/KerberosName.java · book 2.3.2
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAME_PARSER = re.compile(r"([^/@]*)(?:/([^/@]*))?@([^/@]*)")


@dataclass(frozen=True)
class KerberosName:
    """A principal's name in its parts, of which Kafka takes at most three."""

    service_name: str
    host_name: str | None = None
    realm: str | None = None

    @classmethod
    def parse(cls, principal_name: str) -> KerberosName:
        """The parts of a name. Raises ValueError for one with more parts."""
        match = _NAME_PARSER.fullmatch(principal_name)
        if match is not None:
            return cls(match[1], match[2], match[3])
        if "@" in principal_name:
            raise ValueError(f"Malformed Kerberos name: {principal_name}")
        return cls(principal_name)

    def __str__(self) -> str:
        host = "" if self.host_name is None else f"/{self.host_name}"
        return self.service_name + host + ("" if self.realm is None else f"@{self.realm}")
