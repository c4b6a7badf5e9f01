"""The bytes of windowed keys, and the partition they belong to.

Kafka 0.10.2: streams/.../kstream/internals/WindowedSerializer.java, WindowedDeserializer.java,
WindowedStreamPartitioner.java, SessionKeySerde.java · book 9.2.4
"""

from __future__ import annotations

from collections.abc import Mapping
from struct import Struct
from typing import Any, Generic, TypeVar

from kafka_lite.common.murmur2 import murmur2, to_positive
from kafka_lite.common.serdes import Serde
from kafka_lite.common.serialization import Deserializer, SerializationError, Serializer
from kafka_lite.streams.kstream.windowed_inner import (
    NoInnerDeserializer,
    NoInnerSerializer,
    inner_deserializer,
    inner_serializer,
)
from kafka_lite.streams.windowed import SessionWindow, UnlimitedWindow, Windowed

K = TypeVar("K")

_START = Struct(">q")
_END_AND_START = Struct(">qq")


class WindowedSerializer(Serializer[Windowed[K]]):
    """A key and the start of its window::

        bytes of the key · 8 bytes: start of the window in ms

    Only an application that knows the size of the windows knows where they end.
    """

    def __init__(self, inner: Serializer[K] | None = None) -> None:
        """``inner`` serializes the keys; by default, what ``configure`` finds."""
        self._inner: Serializer[K] = NoInnerSerializer() if inner is None else inner

    def configure(self, configs: Mapping[str, object], is_key: bool) -> None:
        """Without an inner serializer: take the one that the configuration names. Raises ConfigError."""
        if isinstance(self._inner, NoInnerSerializer):
            self._inner = inner_serializer(configs, is_key)

    def serialize(self, topic: str, data: Windowed[K] | None) -> bytes | None:
        """Serialize a windowed key. Raises SerializationError for something else."""
        if data is None:
            return None
        return self.serialize_base_key(topic, data) + _START.pack(data.window.start)

    def serialize_base_key(self, topic: str, data: Windowed[K]) -> bytes:
        """The bytes of the key alone."""
        if not isinstance(data, Windowed):
            raise SerializationError(f"{topic}: a {type(data).__name__} is not a Windowed key")
        raw = self._inner.serialize(topic, data.key)
        if raw is None:
            raise SerializationError(f"{topic}: a windowed key cannot be None")
        return raw


class WindowedDeserializer(Deserializer[Windowed[K]]):
    """The inverse of :class:`WindowedSerializer`. The windows are unlimited ones, since their ends are unknown."""

    def __init__(self, inner: Deserializer[K] | None = None) -> None:
        """``inner`` deserializes the keys; by default, what ``configure`` finds."""
        self._inner: Deserializer[K] = NoInnerDeserializer() if inner is None else inner

    def configure(self, configs: Mapping[str, object], is_key: bool) -> None:
        """Without an inner deserializer: take the one that the configuration names. Raises ConfigError."""
        if isinstance(self._inner, NoInnerDeserializer):
            self._inner = inner_deserializer(configs, is_key)

    def deserialize(self, topic: str, data: bytes | None) -> Windowed[K] | None:
        """Deserialize a windowed key. Raises SerializationError if the bytes are too few for a start."""
        if data is None:
            return None
        end = len(data) - _START.size
        if end < 0:
            raise SerializationError(f"{topic}: {len(data)} bytes are too few for a windowed key")
        return Windowed(self.deserialize_base_key(topic, data[:end]), UnlimitedWindow(_START.unpack_from(data, end)[0]))

    def deserialize_base_key(self, topic: str, raw: bytes) -> K:
        """The key alone, from its bytes. Raises SerializationError if they mean ``None``."""
        key = self._inner.deserialize(topic, raw)
        if key is None:
            raise SerializationError(f"{topic}: a windowed key cannot be None")
        return key


class WindowedSerde(Serde[Windowed[K]]):
    """The serde of windowed keys, for topics with the results of windowed aggregations."""

    def __init__(self, inner: Serde[K] | None = None) -> None:
        """``inner`` is the serde of the keys; by default, the configuration names it (see ``windowed_inner``)."""
        super().__init__(
            WindowedSerializer(None if inner is None else inner.serializer),
            WindowedDeserializer(None if inner is None else inner.deserializer),
        )


class SessionKeySerializer(Serializer[Windowed[K]]):
    """A key and its session::

    bytes of the key · 8 bytes: end in ms · 8 bytes: start in ms
    """

    def __init__(self, inner: Serializer[K] | None = None) -> None:
        """``inner`` serializes the keys; by default, what ``configure`` finds."""
        self._inner = WindowedSerializer(inner)

    def configure(self, configs: Mapping[str, object], is_key: bool) -> None:
        """Without an inner serializer: take the one that the configuration names. Raises ConfigError."""
        self._inner.configure(configs, is_key)

    def serialize(self, topic: str, data: Windowed[K] | None) -> bytes | None:
        """Serialize the key of a session. Raises SerializationError for something else."""
        if data is None:
            return None
        return self._inner.serialize_base_key(topic, data) + _END_AND_START.pack(data.window.end, data.window.start)


class SessionKeyDeserializer(Deserializer[Windowed[K]]):
    """The inverse of :class:`SessionKeySerializer`."""

    def __init__(self, inner: Deserializer[K] | None = None) -> None:
        """``inner`` deserializes the keys; by default, what ``configure`` finds."""
        self._inner = WindowedDeserializer(inner)

    def configure(self, configs: Mapping[str, object], is_key: bool) -> None:
        """Without an inner deserializer: take the one that the configuration names. Raises ConfigError."""
        self._inner.configure(configs, is_key)

    def deserialize(self, topic: str, data: bytes | None) -> Windowed[K] | None:
        """Deserialize the key of a session. Raises SerializationError if the bytes are too few for its bounds."""
        if not data:
            return None
        size = len(data) - _END_AND_START.size
        if size < 0:
            raise SerializationError(f"{topic}: {len(data)} bytes are too few for the key of a session")
        end, start = _END_AND_START.unpack_from(data, size)
        return Windowed(self._inner.deserialize_base_key(topic, data[:size]), SessionWindow(start, end))


class SessionKeySerde(Serde[Windowed[K]]):
    """The serde of the keys of sessions, for topics with the results of aggregations by session.

    Without a partitioner, the sessions of a key are in different partitions.
    """

    def __init__(self, inner: Serde[K] | None = None) -> None:
        """``inner`` is the serde of the keys; by default, the configuration names it (see ``windowed_inner``)."""
        super().__init__(
            SessionKeySerializer(None if inner is None else inner.serializer),
            SessionKeyDeserializer(None if inner is None else inner.deserializer),
        )


class WindowedStreamPartitioner(Generic[K]):
    """All windows of a key go to one partition: that of the key."""

    def __init__(self, topic: str, serializer: WindowedSerializer[K]) -> None:
        self._topic = topic
        self._serializer = serializer

    def __call__(self, key: Windowed[K], value: Any, num_partitions: int, /) -> int:  # noqa: ARG002
        """The partition of the key, by the hash that producers use."""
        return to_positive(murmur2(self._serializer.serialize_base_key(self._topic, key))) % num_partitions
