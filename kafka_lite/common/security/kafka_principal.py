"""The identity of a client: a type and a name, ``User:alice``.

Kafka 0.10.2: clients/.../common/security/auth/KafkaPrincipal.java; since 1.0 common/utils/SecurityUtils.java parses it
· book 2.3.2
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

USER_TYPE: Final = "User"


@dataclass(frozen=True)
class KafkaPrincipal:
    """A type and a name. Written ``type:name``; only the first colon separates, so that a name may have more."""

    principal_type: str
    name: str
    token_authenticated: bool = field(default=False, compare=False)
    """Whether a delegation token proved it. Such a principal may not ask for further tokens."""

    @classmethod
    def parse(cls, text: str) -> KafkaPrincipal:
        """Read ``type:name``. Raises ValueError, which says what the form is."""
        principal_type, colon, name = text.partition(":")
        if not colon:
            raise ValueError(f"{text!r} is not a principal: write principalType:principalName, such as User:alice")
        return cls(principal_type, name)

    def __str__(self) -> str:
        return f"{self.principal_type}:{self.name}"


ANONYMOUS: Final = KafkaPrincipal(USER_TYPE, "ANONYMOUS")
"""The principal of a connection that proved nothing: PLAINTEXT, or TLS without a client certificate."""
