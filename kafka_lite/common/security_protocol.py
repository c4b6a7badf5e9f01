"""How a listener protects its connections.

Kafka 0.10.2: clients/.../common/protocol/SecurityProtocol.java · book 2.3.1
"""

from enum import Enum


class SecurityProtocol(Enum):
    """Named as in the configuration; the value is the id on the wire (in UpdateMetadata's end points)."""

    PLAINTEXT = 0
    SSL = 1
    SASL_PLAINTEXT = 2
    SASL_SSL = 3
    TRACE = 32767  # used by Kafka's own tests; it is in the default of listener.security.protocol.map

    @property
    def id(self) -> int:
        """The id on the wire."""
        return self.value

    @staticmethod
    def for_name(name: str) -> "SecurityProtocol":
        """Look up a protocol by name, ignoring case. Raises ValueError, which lists the valid names."""
        try:
            return SecurityProtocol[name.upper()]
        except KeyError:
            valid = ", ".join(SecurityProtocol.__members__)
            raise ValueError(f"unknown security protocol {name!r}; valid: {valid}") from None

    @staticmethod
    def for_id(number: int) -> "SecurityProtocol":
        """Look up a protocol by id. Raises ValueError if there is none."""
        return SecurityProtocol(number)
