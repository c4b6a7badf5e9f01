"""A change that a table forwards: the new value of a key, and the old one if a later node needs it.

Kafka 0.10.2: streams/.../kstream/internals/Change.java, ChangedSerializer.java, ChangedDeserializer.java · book 9.2.2
"""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar

from kafka_lite.common.serdes import Serde
from kafka_lite.common.serialization import Deserializer, Serializer
from kafka_lite.streams.errors import StreamsError
from kafka_lite.streams.processor.internals.topology.needs_default_serde import NeedsDefaultSerde

V = TypeVar("V")


class Change(NamedTuple, Generic[V]):
    """A change of one key. A value is None if there is none; the old one is None, too, if not asked for."""

    new_value: V | None
    old_value: V | None

    def __str__(self) -> str:
        return f"({self.new_value}<-{self.old_value})"


class ChangedSerializer(Serializer[Change[Any]], NeedsDefaultSerde):
    """A change on its way through a repartition topic, where the two values have different keys::

    bytes of the value · 1 byte: 1 for a new value (to be added), 0 for an old one (to be subtracted)
    """

    def __init__(self, inner: Serializer[Any] | None) -> None:
        """``inner`` serializes the values; None: the default serializer."""
        self._inner = inner

    def use_default(self, serde: Serde[Any]) -> None:
        """Use the default serializer, unless another one was given."""
        self._inner = self._inner or serde.serializer

    def serialize(self, topic: str, data: Change[Any] | None) -> bytes | None:
        """Serialize a change with one value. Raises StreamsError if it has both, or none."""
        if data is None:
            return None
        new, old = data
        if (new is None) == (old is None):
            both = f"Both old and new values are not null ({old} : {new})"
            what = "Both old and new values are null" if new is None else both
            raise StreamsError(f"{what} in ChangeSerializer, which is not allowed.")
        assert self._inner is not None, "not initialized"
        raw = self._inner.serialize(topic, old if new is None else new)
        return None if raw is None else raw + (b"\0" if new is None else b"\1")


class ChangedDeserializer(Deserializer[Change[Any]], NeedsDefaultSerde):
    """The inverse of :class:`ChangedSerializer`."""

    def __init__(self, inner: Deserializer[Any] | None) -> None:
        """``inner`` deserializes the values; None: the default deserializer."""
        self._inner = inner

    def use_default(self, serde: Serde[Any]) -> None:
        """Use the default deserializer, unless another one was given."""
        self._inner = self._inner or serde.deserializer

    def deserialize(self, topic: str, data: bytes | None) -> Change[Any] | None:
        """Deserialize a change."""
        if data is None:
            return None
        assert self._inner is not None, "not initialized"
        value = self._inner.deserialize(topic, data[:-1])
        return Change(value, None) if data[-1] else Change(None, value)
