"""The common base of the typed stores around a store of bytes: serdes, filled in when the store is opened.

Kafka 0.10.2: streams/.../state/StateSerdes.java, internals/MeteredKeyValueStore.java, RocksDBWindowStore.java
· book 9.1.4
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Generic, TypeVar

from kafka_lite.common.serdes import Serde
from kafka_lite.streams.processor.internals.changelog_topics import store_changelog_topic
from kafka_lite.streams.processor.state_store import StateStore, StateStoreContext
from kafka_lite.streams.state.cached_state_store import CachedStateStore, CacheFlushListener
from kafka_lite.streams.state.wrapped_state_store import WrappedStateStore

S = TypeVar("S", bound=StateStore)
K = TypeVar("K")
V = TypeVar("V")


class TypedStore(WrappedStateStore[S], CachedStateStore, Generic[S, K, V]):
    """Serializes keys and values, and passes everything else on to the inner store, of type S."""

    def __init__(self, inner: S, key_serde: Serde[K] | None, value_serde: Serde[V] | None) -> None:
        """Serdes that are not given are the application's defaults."""
        super().__init__(inner)
        self._key_serde = key_serde
        self._value_serde = value_serde
        self._topic = ""

    def init(self, context: StateStoreContext, root: StateStore) -> None:
        """Open the inner store. Serializers get the changelog as their topic, whether there is one or not."""
        self._topic = store_changelog_topic(context.application_id, self.name)
        self._key_serde = self._key_serde or context.key_serde
        self._value_serde = self._value_serde or context.value_serde
        super().init(context, root)

    def set_flush_listener(self, listener: CacheFlushListener) -> bool:
        """Call ``listener`` with the key of :meth:`typed_key`, and with values of the store's type."""
        inner: object = self._inner
        return isinstance(inner, CachedStateStore) and inner.set_flush_listener(
            lambda key, new, old: listener(self.typed_key(key), self.value(new), self.value(old))
        )

    @abstractmethod
    def typed_key(self, binary: bytes) -> Any:
        """The typed key for a binary key of the inner store."""

    def record_key(self, raw: bytes) -> K:
        """The record's key of bytes."""
        assert self._key_serde is not None, "not initialized"
        key = self._key_serde.deserializer.deserialize(self._topic, raw)
        assert key is not None, "only None has no bytes"
        return key

    def raw_key(self, key: K) -> bytes:
        """The bytes of a record's key. Raises TypeError for None."""
        assert self._key_serde is not None, "not initialized"
        raw = self._key_serde.serializer.serialize(self._topic, key)
        if raw is None:
            raise TypeError(f"store {self.name}: a key cannot be None")
        return raw

    def raw_value(self, value: V | None) -> bytes | None:
        """The bytes of a value."""
        assert self._value_serde is not None, "not initialized"
        return self._value_serde.serializer.serialize(self._topic, value)

    def value(self, raw: bytes | None) -> V | None:
        """The value of bytes; of None, it is usually None."""
        assert self._value_serde is not None, "not initialized"
        return self._value_serde.deserializer.deserialize(self._topic, raw)

    def stored_value(self, raw: bytes) -> V:
        """The value of an entry, which has one."""
        value = self.value(raw)
        assert value is not None, "only None has no bytes"
        return value
