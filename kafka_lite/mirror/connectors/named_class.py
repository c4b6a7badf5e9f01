"""A key that names a class: one of Java's, or the user's own.

Kafka 2.4: connect/mirror/.../connect/mirror/MirrorConnectorConfig.java (getConfiguredInstance) · book 8.1.1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kafka_lite.common.new_instance import find_class

JAVA = "org.apache.kafka.connect.mirror"


@dataclass(frozen=True)
class NamedClass:
    """A key whose value is a class. It is the key's validator, too: a class that cannot be loaded is refused."""

    key: str
    kind: type[Any]
    javas: Mapping[str, type[Any]]
    """Java's names -> the classes here."""

    def find(self, name: str) -> type[Any]:
        """The class. Raises ConfigError if there is none of this name, or if it is not a subclass of ``kind``."""
        return self.javas.get(name) or find_class(self.key, self.kind, name)

    def new(self, values: Mapping[str, Any], props: Mapping[str, str]) -> Any:
        """An object of the class that ``values`` names, given all properties. Raises what the user's class does."""
        return self.find(values[self.key])(props)

    # ── validator ─────────────────────────────────────────────────────────────────────────────────────────────────

    def ensure_valid(self, name: str, value: Any) -> None:  # noqa: ARG002  a Validator's argument; it is ``key``
        """Load the class. Raises ConfigError."""
        if value is not None:
            self.find(value)

    def __str__(self) -> str:
        return f"{', '.join(self.javas)}, or package.module.Class of a {self.kind.__name__} of yours"


def javas(*classes: type[Any]) -> dict[str, type[Any]]:
    """Java's names of classes whose simple names are the same here."""
    return {f"{JAVA}.{each.__name__}": each for each in classes}
