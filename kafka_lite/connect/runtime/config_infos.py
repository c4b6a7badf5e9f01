"""The result of the validation of a connector's configuration.

Kafka 0.10.2: connect/runtime/.../connect/runtime/rest/entities/ConfigInfos.java, ConfigInfo.java, ConfigKeyInfo.java,
ConfigValueInfo.java; runtime/AbstractHerder.java (generateResult) · book 8.3.4
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_lite.common.config_def import ConfigKey, format_value
from kafka_lite.common.config_value import ConfigValue


@dataclass(frozen=True)
class ConfigInfo:
    """A key's definition, None for one that is not defined, and its value."""

    definition: ConfigKey | None
    value: ConfigValue

    def to_json(self) -> dict[str, Any]:
        """As REST clients read it. (A definition's position is written as ``order``, and read as
        ``order_in_group``.)"""
        return {"definition": None if self.definition is None else _key_json(self.definition), "value": self._value()}

    def _value(self) -> dict[str, Any]:
        return {
            "name": self.value.name,
            "value": format_value(self.value.value),
            "recommended_values": [format_value(value) for value in self.value.recommended_values],
            "errors": list(self.value.error_messages),
            "visible": self.value.visible,
        }


def _key_json(key: ConfigKey) -> dict[str, Any]:
    return {
        "name": key.name,
        "type": key.type.name,
        "required": not key.has_default,
        "default_value": format_value(key.default) if key.has_default else "",
        "importance": key.importance.name,
        "documentation": key.doc,
        "group": key.group,
        "width": key.width.name,
        "display_name": key.display_name,
        "dependents": list(key.dependents),
        "order": key.order_in_group,
    }


@dataclass(frozen=True)
class ConfigInfos:
    """All keys of a connector."""

    name: str
    """The connector's class, as it was given."""
    groups: Sequence[str]
    configs: Sequence[ConfigInfo]

    @property
    def errors(self) -> list[str]:
        """All errors, of undefined keys, too."""
        return [message for info in self.configs for message in info.value.error_messages]

    @property
    def error_count(self) -> int:
        """How many errors the defined keys have."""
        return sum(len(info.value.error_messages) for info in self.configs if info.definition is not None)

    def to_json(self) -> dict[str, Any]:
        """As REST clients read it."""
        return {
            "name": self.name,
            "error_count": self.error_count,
            "groups": list(self.groups),
            "configs": [info.to_json() for info in self.configs],
        }


def config_infos(
    name: str, keys: Mapping[str, ConfigKey], values: Iterable[ConfigValue], groups: Iterable[str]
) -> ConfigInfos:
    """Put definitions and values together. If two values have one name, the last one counts: the connector's own."""
    by_name = {value.name: value for value in values}
    undefined = [value for value in by_name.values() if value.name not in keys]
    for value in undefined:
        value.error_messages.append(f"Configuration is not defined: {value.name}")
    infos = [ConfigInfo(None, value) for value in undefined]
    infos += [ConfigInfo(key, by_name.get(key.name, ConfigValue(key.name))) for key in keys.values()]
    return ConfigInfos(name, list(dict.fromkeys(groups)), infos)
