"""How a listener protects its connections.

Kafka 0.10.2: clients/.../common/protocol/SecurityProtocol.java · book 2.3.1
"""

from enum import Enum


class SecurityProtocol(Enum):
    """Name in the configuration; the value is the id on the wire (UpdateMetadata's end points)."""

    PLAINTEXT = 0
    SSL = 1
    SASL_PLAINTEXT = 2
    SASL_SSL = 3
    TRACE = 32767  # Kafka's own tests used it; it is in the default of listener.security.protocol.map

    @property
    def id(self) -> int:
        """The id on the wire."""
        return self.value

    @staticmethod
    def for_name(name: str) -> "SecurityProtocol":
        """The protocol of a name in any case; raises ValueError that lists the valid ones."""
        try:
            return SecurityProtocol[name.upper()]
        except KeyError:
            valid = ", ".join(SecurityProtocol.__members__)
            raise ValueError(f"no security protocol {name!r}: one of {valid} is needed") from None

    @staticmethod
    def for_id(number: int) -> "SecurityProtocol":
        """The protocol of an id; raises ValueError."""
        return SecurityProtocol(number)
