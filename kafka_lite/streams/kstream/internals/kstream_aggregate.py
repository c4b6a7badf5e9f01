"""Aggregates the records of a stream by key.

Kafka 0.10.2: streams/.../kstream/internals/KStreamAggregate.java, KStreamReduce.java · book 9.2.2
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_lite.streams.kstream.internals.ktable_processors import StoredTable, StoreProcessor
from kafka_lite.streams.processor.processor import Processor


class KStreamAggregate(StoredTable):
    """Begins with the initializer's value, and adds each record's value to it."""

    def __init__(
        self, store_name: str, initializer: Callable[[], Any], aggregator: Callable[[Any, Any, Any], Any]
    ) -> None:
        super().__init__(store_name)
        self.initializer = initializer
        self.aggregator = aggregator

    def __call__(self) -> Processor[Any, Any]:
        """A new processor."""
        return _KStreamAggregateProcessor(self)


class _KStreamAggregateProcessor(StoreProcessor):
    def __init__(self, supplier: KStreamAggregate) -> None:
        super().__init__(supplier.store_name, supplier.send_old_values)
        self._supplier = supplier

    def process(self, key: Any, value: Any) -> None:
        if key is None:
            self.skip_record("null key")
            return
        old = self.store.get(key)
        new = self._supplier.initializer() if old is None else old
        if value is not None:
            new = self._supplier.aggregator(key, value, new)
        self.put(key, new, old)


class KStreamReduce(StoredTable):
    """Begins with the first value, and combines it with each following one."""

    def __init__(self, store_name: str, reducer: Callable[[Any, Any], Any]) -> None:
        super().__init__(store_name)
        self.reducer = reducer

    def __call__(self) -> Processor[Any, Any]:
        """A new processor."""
        return _KStreamReduceProcessor(self)


class _KStreamReduceProcessor(StoreProcessor):
    def __init__(self, supplier: KStreamReduce) -> None:
        super().__init__(supplier.store_name, supplier.send_old_values)
        self._supplier = supplier

    def process(self, key: Any, value: Any) -> None:
        if key is None:
            self.skip_record("null key")
            return
        new = old = self.store.get(key)
        if value is not None:
            new = value if old is None else self._supplier.reducer(old, value)
        self.put(key, new, old)
