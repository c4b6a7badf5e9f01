"""Joins a stream with a global table.

Kafka 0.10.2: streams/.../kstream/internals/KStreamGlobalKTableJoin.java, KStreamKTableJoinProcessor.java · book 9.2.3
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_lite.streams.kstream.internals.dropping_processor import DroppingProcessor
from kafka_lite.streams.kstream.internals.ktable_processors import key_value_store
from kafka_lite.streams.processor.processor_context import ProcessorContext
from kafka_lite.streams.state.key_value_store import KeyValueStore


class KStreamGlobalKTableJoin(DroppingProcessor):
    """Joins each record with the value that the table has for a key that a function makes of the record.

    Records without a key or a value are dropped; without ``left``, so are those whose key is not in the table.
    """

    _store: KeyValueStore[Any, Any]

    def __init__(
        self,
        store_name: str,
        key_mapper: Callable[[Any, Any], Any],
        joiner: Callable[[Any, Any], Any],
        left: bool,
    ) -> None:
        self._store_name = store_name
        self._key_mapper = key_mapper
        self._joiner = joiner
        self._left = left

    def init(self, context: ProcessorContext) -> None:
        """Find the table's store."""
        super().init(context)
        self._store = key_value_store(context, self._store_name)

    def process(self, key: Any, value: Any) -> None:
        """Join a record. A key of None is in no table."""
        if key is None or value is None:
            self.skip_record("null join key or value")
            return
        mapped = self._key_mapper(key, value)
        other = None if mapped is None else self._store.get(mapped)
        if self._left or other is not None:
            self.context.forward(key, self._joiner(value, other))
