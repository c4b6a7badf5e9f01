"""The result of checking one key of a configuration, for a person who fills in a form.

Kafka 0.10.2: clients/.../common/config/ConfigValue.java, ConfigDef.java (Width, Recommender) · book 8.3.2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol


class Width(Enum):
    """How wide a form's field for the value should be."""

    NONE = "none"
    SHORT = "short"
    MEDIUM = "medium"
    LONG = "long"


class Recommender(Protocol):
    """Says which values make sense, given the values of the other keys."""

    def valid_values(self, name: str, parsed_config: Mapping[str, Any]) -> Sequence[Any]:
        """The values to choose from; none if any value makes sense. Raises ConfigError."""
        ...

    def visible(self, name: str, parsed_config: Mapping[str, Any]) -> bool:
        """Whether the key matters, given the values of the others."""
        ...


@dataclass
class ConfigValue:
    """A key's value, what is wrong with it, and what could be in its place."""

    name: str
    value: Any = None
    """Parsed; None if it is missing or not valid."""
    recommended_values: list[Any] = field(default_factory=list)
    error_messages: list[str] = field(default_factory=list)
    visible: bool = True
