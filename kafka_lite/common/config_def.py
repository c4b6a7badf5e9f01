"""Declares each configuration key once: name, type, default, valid values, importance, documentation.

Kafka 0.10.2: clients/.../common/config/ConfigDef.java (ConfigKey, Validator, Range, ValidString, ValidList,
Importance), AbstractConfig.java, types/Password.java · book 1.4.1
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final, Protocol

from kafka_lite.common.config_value import ConfigValue, Recommender, Width
from kafka_lite.common.errors import ApiError, Errors


class Type(Enum):
    """The type of a parsed value; the comments give the Python type."""

    BOOLEAN = "boolean"  # bool
    STRING = "string"  # str
    INT = "int"  # int, 32 bits
    SHORT = "short"  # int, 16 bits
    LONG = "long"  # int, 64 bits
    DOUBLE = "double"  # float
    LIST = "list"  # list[str], comma separated in a file
    CLASS = "class"  # str: a class name; the code that uses it loads the class
    PASSWORD = "password"  # Password


class Importance(Enum):
    """How likely users are to need the key."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Password:
    """A secret that is hidden in logs; read it through ``value``."""

    HIDDEN: Final = "[hidden]"

    def __init__(self, value: str) -> None:
        self.value = value

    def __repr__(self) -> str:
        return self.HIDDEN

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Password) and other.value == self.value

    def __hash__(self) -> int:
        return hash(self.value)


class ConfigError(ApiError):
    """An invalid value. The message names the key, the value and what would be valid.

    It is an ``ApiError`` with INVALID_CONFIG, so creating a topic with such a value returns Kafka's error code.
    """

    def __init__(self, name: str, value: object, message: str) -> None:
        super().__init__(Errors.INVALID_CONFIG, f"Invalid value {value} for configuration {name}: {message}")
        self.name = name
        self.value = value


class MissingConfigError(ConfigError):
    """A required key without a value."""

    def __init__(self, name: str, doc: str) -> None:
        super().__init__(name, None, doc)
        self.args = (f"Missing required configuration {name}, which has no default. {doc}",)


class _NoDefault:
    """The type of ``NO_DEFAULT``."""

    def __repr__(self) -> str:
        return "NO_DEFAULT"


NO_DEFAULT: Final = _NoDefault()
"""In place of a default: the key is required."""


# ---------------------------------------------------------------------------------------------------------- validators


class Validator(Protocol):
    """Checks a parsed value; its ``str`` describes the valid values in the documentation."""

    def ensure_valid(self, name: str, value: Any) -> None:
        """Raise ConfigError if ``value`` is not valid. ``None`` (not set) is always valid."""
        ...


@dataclass(frozen=True)
class Range:
    """A number with an inclusive minimum and an optional inclusive maximum."""

    minimum: float
    maximum: float | None = None

    @staticmethod
    def at_least(minimum: float) -> Range:
        """Any number from ``minimum`` up."""
        return Range(minimum)

    @staticmethod
    def between(minimum: float, maximum: float) -> Range:
        """Any number from ``minimum`` to ``maximum``."""
        return Range(minimum, maximum)

    def ensure_valid(self, name: str, value: Any) -> None:
        """Check both bounds."""
        if value is None:
            return
        if value < self.minimum:
            raise ConfigError(name, value, f"Value must be at least {self.minimum}")
        if self.maximum is not None and value > self.maximum:
            raise ConfigError(name, value, f"Value must be no more than {self.maximum}")

    def __str__(self) -> str:
        return f"[{self.minimum},...]" if self.maximum is None else f"[{self.minimum},...,{self.maximum}]"


@dataclass(frozen=True)
class ValidString:
    """A string from a fixed set."""

    valid: tuple[str, ...]

    @staticmethod
    def in_(*valid: str) -> ValidString:
        """One of these."""
        return ValidString(valid)

    def ensure_valid(self, name: str, value: Any) -> None:
        """Check that the value is in the set."""
        if value is not None and value not in self.valid:
            raise ConfigError(name, value, f"String must be one of: {', '.join(self.valid)}")

    def __str__(self) -> str:
        return f"[{', '.join(self.valid)}]"


@dataclass(frozen=True)
class ValidList:
    """A list whose entries all come from a fixed set."""

    valid: tuple[str, ...]

    @staticmethod
    def in_(*valid: str) -> ValidList:
        """A list of any of these."""
        return ValidList(valid)

    def ensure_valid(self, name: str, value: Any) -> None:
        """Check every entry."""
        for entry in value or ():
            ValidString(self.valid).ensure_valid(name, entry)

    def __str__(self) -> str:
        return f"[{', '.join(self.valid)}]"


@dataclass(frozen=True)
class Check:
    """Any other rule: a predicate, and a description of the values it accepts."""

    accepts: Callable[[Any], bool]
    valid_values: str

    def ensure_valid(self, name: str, value: Any) -> None:
        """Apply the predicate."""
        if value is not None and not self.accepts(value):
            raise ConfigError(name, value, f"Value must be {self.valid_values}")

    def __str__(self) -> str:
        return self.valid_values


NON_EMPTY = Check(lambda value: bool(value), "non-empty")
"""A string or list that is not empty."""


# -------------------------------------------------------------------------------------------------------------- values


def _parse_boolean(text: str) -> bool:
    match text.lower():
        case "true":
            return True
        case "false":
            return False
    raise ValueError("Expected value to be either true or false")


def _integer_parser(kind: Type, bits: int) -> Callable[[str], int]:
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1

    def parse(text: str) -> int:
        # int() alone would also accept "1_000" and non-ASCII digits, which Kafka rejects.
        number = int(text) if text.lstrip("+-").isdecimal() and text.isascii() else None
        if number is None or not low <= number <= high:
            raise ValueError(f"Not a number of type {kind.name}: must be an integer from {low} to {high}")
        return number

    return parse


def _parse_double(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise ValueError("Not a number of type DOUBLE: must be a decimal number such as 0.5")
    return number


def _parse_list(text: str) -> list[str]:
    return [entry.strip() for entry in text.split(",")] if text else []


_PARSERS: dict[Type, Callable[[str], Any]] = {
    Type.BOOLEAN: _parse_boolean,
    Type.STRING: str,
    Type.SHORT: _integer_parser(Type.SHORT, 16),
    Type.INT: _integer_parser(Type.INT, 32),
    Type.LONG: _integer_parser(Type.LONG, 64),
    Type.DOUBLE: _parse_double,
    Type.LIST: _parse_list,
    Type.CLASS: str,
    Type.PASSWORD: Password,
}

_PARSED_TYPES: dict[Type, tuple[type, ...]] = {
    Type.BOOLEAN: (bool,),
    Type.DOUBLE: (float, int),
    Type.LIST: (list, tuple),
    Type.PASSWORD: (Password,),
}


def parse_value(name: str, kind: Type, value: object) -> Any:
    """Convert text (as in a file), or an object that already has the right type, to a value of type ``kind``.

    ``None`` stays ``None``. Raises ConfigError, which names ``name``.
    """
    if value is None:
        return None
    if isinstance(value, _PARSED_TYPES.get(kind, ())) and not (kind is Type.DOUBLE and isinstance(value, bool)):
        return list(value) if isinstance(value, tuple) else value
    try:
        return _PARSERS[kind](str(value).strip())
    except ValueError as error:
        raise ConfigError(name, value, str(error)) from None


def format_value(value: Any) -> str | None:
    """Format a parsed value the way Kafka displays it and writes it to ZooKeeper; secrets stay hidden."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(value)
    return str(value)


# ---------------------------------------------------------------------------------------------------------- definition


@dataclass(frozen=True)
class ConfigKey:
    """The definition of one key."""

    name: str
    type: Type
    default: Any  # parsed, or NO_DEFAULT
    importance: Importance
    doc: str
    validator: Validator | None = None
    group: str | None = None  # the rest is for a form: the heading under which the key stands, and where
    order_in_group: int = -1
    width: Width = Width.NONE
    display_name: str = ""
    dependents: tuple[str, ...] = ()  # keys whose values or visibility depend on this one's
    recommender: Recommender | None = None

    @property
    def has_default(self) -> bool:
        """False for a required key."""
        return self.default is not NO_DEFAULT

    @property
    def is_sensitive(self) -> bool:
        """Whether the value must be hidden."""
        return self.type is Type.PASSWORD

    def parse(self, value: object) -> Any:
        """Convert the value to the key's type and validate it. Raises ConfigError."""
        parsed = parse_value(self.name, self.type, value)
        if self.validator is not None:
            self.validator.ensure_valid(self.name, parsed)
        return parsed

    @property
    def default_text(self) -> str:
        """The default as the documentation shows it."""
        if not self.has_default:
            return "(required)"
        text = format_value(self.default)
        return "null" if text is None else text or '""'


def configs_of(client: str, configs: object) -> dict[str, object]:
    """Return a copy of the configuration that a client was given. Raises TypeError if it is not a mapping."""
    if not isinstance(configs, Mapping):
        kind = "None" if configs is None else f"a {type(configs).__name__}"
        example = {"bootstrap.servers": "localhost:9092"}
        raise TypeError(f"{client} takes its configuration as a dict, such as {example}, not {kind}")
    return dict(configs)


class ConfigDef:
    """A set of keys, declared by a chain of ``define`` calls."""

    def __init__(self) -> None:
        self.keys: dict[str, ConfigKey] = {}

    def define(
        self,
        name: str,
        kind: Type,
        default: object,
        importance: Importance,
        doc: str,
        validator: Validator | None = None,
        *,
        group: str | None = None,
        order_in_group: int = -1,
        width: Width = Width.NONE,
        display_name: str | None = None,
        dependents: Sequence[str] = (),
        recommender: Recommender | None = None,
    ) -> ConfigDef:
        """Add a key and return this definition; its default is validated, too. What has to be named is for forms."""
        if not isinstance(kind, Type):  # but that of a schema, whose names are the same
            raise TypeError(f"configuration {name} has type {kind!r}: it must be a {__name__}.Type, as Type.STRING")
        if name in self.keys:
            raise ValueError(f"configuration {name} is defined twice")
        form = (group, order_in_group, width, display_name or name, tuple(dependents), recommender)
        key = ConfigKey(name, kind, default, importance, doc, validator, *form)
        if key.has_default:
            key = replace(key, default=key.parse(default))
        self.keys[name] = key
        return self

    def include(self, other: ConfigDef) -> ConfigDef:
        """Add all keys of another definition and return this one."""
        for key in other:
            if key.name in self.keys:
                raise ValueError(f"configuration {key.name} is defined twice")
            self.keys[key.name] = key
        return self

    def parse(self, values: Mapping[str, object]) -> dict[str, Any]:
        """Return every key with its value or default; unknown keys in ``values`` are left out.

        Raises ConfigError at the first invalid value and MissingConfigError if a required key has none.
        """
        return {key.name: self._parse_key(key, values) for key in self.keys.values()}

    @staticmethod
    def _parse_key(key: ConfigKey, values: Mapping[str, object]) -> Any:
        if key.name in values:
            return key.parse(values[key.name])
        if not key.has_default:
            raise MissingConfigError(key.name, key.doc)
        return list(key.default) if isinstance(key.default, list) else key.default

    def validate(self, values: Mapping[str, object]) -> list[ConfigValue]:
        """Check all keys at once, for a form: errors are collected, not raised, with Kafka's texts.

        Each key has its value, its errors, and what its recommender says. Unknown keys in ``values`` are left out.
        """
        checked = {key.name: _checked(key, values) for key in self}
        parsed = {name: value.value for name, value in checked.items()}
        for key in self:
            for dependent in key.dependents:
                if dependent not in checked:
                    problem = f"{dependent} is referred in the dependents, but not defined."
                    checked[dependent] = ConfigValue(dependent, error_messages=[problem], visible=False)
            if key.recommender is not None:
                _recommend(key.recommender, checked[key.name], parsed)
        return list(checked.values())

    def groups(self) -> list[str]:
        """The groups of the keys, each once, in the order of their first keys."""
        return list(dict.fromkeys(key.group for key in self if key.group is not None))

    def unused(self, values: Mapping[str, object]) -> list[str]:
        """The undefined keys in ``values``, sorted, so that the caller can warn about them."""
        return sorted(set(values) - set(self.keys))

    def meant_by(self, unknown: str) -> str:
        """A question whether a similar key was meant, to append to a warning; empty if there is none."""
        import difflib  # only for a warning

        return "".join(f" Did you mean '{close}'?" for close in difflib.get_close_matches(unknown, self.keys, n=1))

    def __contains__(self, name: object) -> bool:
        return name in self.keys

    def __iter__(self) -> Iterator[ConfigKey]:
        return iter(self.keys.values())


def _checked(key: ConfigKey, values: Mapping[str, object]) -> ConfigValue:
    """One key by itself."""
    found = ConfigValue(key.name)
    if key.name in values:
        try:
            found.value = parse_value(key.name, key.type, values[key.name])
        except ConfigError as error:
            found.error_messages.append(str(error))
    elif key.has_default:
        found.value = key.default
    else:
        found.error_messages.append(f'Missing required configuration "{key.name}" which has no default value.')
    if key.validator is not None and found.value is not None:
        try:
            key.validator.ensure_valid(key.name, found.value)
        except ConfigError as error:
            found.error_messages.append(str(error))
    return found


def _recommend(recommender: Recommender, value: ConfigValue, parsed: Mapping[str, Any]) -> None:
    try:
        value.recommended_values = list(recommender.valid_values(value.name, parsed))
        value.visible = recommender.visible(value.name, parsed)
    except ConfigError as error:
        value.error_messages.append(str(error))
