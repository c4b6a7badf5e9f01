"""The configuration of the keys inside windowed ones.

Kafka 0.10.2: streams/.../kstream/internals/WindowedSerializer.java, WindowedDeserializer.java (configure);
Kafka 2.0: streams/.../streams/StreamsConfig.java · book 9.2.4

====================================  =======  ========================================================================
``key.serializer.inner.class``        0.10.2   a serializer; with ``value.`` for windowed values, without it for both
``key.deserializer.inner.class``      0.10.2   the same for deserializers
``default.windowed.key.serde.inner``  2.0      a serde; with ``value.`` for windowed values. (2.0 knows only this name)
====================================  =======  ========================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.new_instance import new_instance
from kafka_lite.common.serdes import Serde
from kafka_lite.common.serialization import Deserializer, SerializationError, Serializer

INNER_CLASS_KEYS = frozenset(
    f"{of}{what}.inner.class" for of in ("key.", "value.", "") for what in ("serializer", "deserializer")
)
"""The names of 0.10.2."""
WINDOWED_KEY_SERDE_INNER, WINDOWED_VALUE_SERDE_INNER = (f"default.windowed.{of}.serde.inner" for of in ("key", "value"))


class NoInnerSerializer(Serializer[Any]):
    """Stands for the inner serializer until ``configure``."""

    def serialize(self, topic: str, data: Any) -> NoReturn:  # noqa: ARG002
        """Raises SerializationError."""
        raise SerializationError(f"{topic}: {_MISSING}")


class NoInnerDeserializer(Deserializer[Any]):
    """Stands for the inner deserializer until ``configure``."""

    def deserialize(self, topic: str, data: bytes | None) -> NoReturn:  # noqa: ARG002
        """Raises SerializationError."""
        raise SerializationError(f"{topic}: {_MISSING}")


_MISSING = "a windowed serde has neither got an inner one nor been configured"


def inner_serializer(configs: Mapping[str, object], is_key: bool) -> Serializer[Any]:
    """The serializer that is named in a configuration. Raises ConfigError if there is none, or no such class."""
    inner = _named("serializer", Serializer, configs, is_key) or _named_serde(configs, is_key).serializer
    inner.configure(configs, is_key)
    return inner


def inner_deserializer(configs: Mapping[str, object], is_key: bool) -> Deserializer[Any]:
    """The deserializer that is named in a configuration. Raises ConfigError if there is none, or no such class."""
    inner = _named("deserializer", Deserializer, configs, is_key) or _named_serde(configs, is_key).deserializer
    inner.configure(configs, is_key)
    return inner


def _named(what: str, kind: type[Any], configs: Mapping[str, object], is_key: bool) -> Any:
    for key in (f"{'key' if is_key else 'value'}.{what}.inner.class", f"{what}.inner.class"):
        if configs.get(key):
            return new_instance(key, kind, str(configs[key]))
    return None


def _named_serde(configs: Mapping[str, object], is_key: bool) -> Serde[Any]:
    key = WINDOWED_KEY_SERDE_INNER if is_key else WINDOWED_VALUE_SERDE_INNER
    name = configs.get(key)
    if not name:
        raise ConfigError(key, name, "a windowed serde needs the class of the serde that is inside")
    serde: Serde[Any] = new_instance(key, Serde, str(name))
    return serde
