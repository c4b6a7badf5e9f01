"""Aggregates the values of a table by group: values leave a group as well as enter it.

Kafka 0.10.2: streams/.../kstream/internals/KTableAggregate.java, KTableReduce.java · book 9.2.2
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_lite.streams.errors import StreamsError
from kafka_lite.streams.kstream.internals.change import Change
from kafka_lite.streams.kstream.internals.ktable_processors import StoredTable, StoreProcessor
from kafka_lite.streams.processor.processor import Processor


class KTableAggregate(StoredTable):
    """Begins with the initializer's value; subtracts old values from it, and adds new ones."""

    def __init__(
        self,
        store_name: str,
        initializer: Callable[[], Any],
        adder: Callable[[Any, Any, Any], Any],
        subtractor: Callable[[Any, Any, Any], Any],
    ) -> None:
        super().__init__(store_name)
        self.initializer = initializer
        self.adder = adder
        self.subtractor = subtractor

    def __call__(self) -> Processor[Any, Any]:
        """A new processor."""
        return _KTableAggregateProcessor(self)


class _KTableAggregateProcessor(StoreProcessor):
    def __init__(self, supplier: KTableAggregate) -> None:
        super().__init__(supplier.store_name, supplier.send_old_values)
        self._supplier = supplier

    def process(self, key: Any, value: Change[Any]) -> None:
        if key is None:
            raise StreamsError(
                f"Record key for KTable aggregate operator with state {self.store_name} should not be null."
            )
        supplier, old = self._supplier, self.store.get(key)
        new = supplier.initializer() if old is None else old
        if value.old_value is not None:
            new = supplier.subtractor(key, value.old_value, new)
        if value.new_value is not None:
            new = supplier.adder(key, value.new_value, new)
        self.put(key, new, old)


class KTableReduce(StoredTable):
    """Begins with the first value; combines it with new values, and takes old ones out of it."""

    def __init__(
        self, store_name: str, adder: Callable[[Any, Any], Any], subtractor: Callable[[Any, Any], Any]
    ) -> None:
        super().__init__(store_name)
        self.adder = adder
        self.subtractor = subtractor

    def __call__(self) -> Processor[Any, Any]:
        """A new processor."""
        return _KTableReduceProcessor(self)


class _KTableReduceProcessor(StoreProcessor):
    def __init__(self, supplier: KTableReduce) -> None:
        super().__init__(supplier.store_name, supplier.send_old_values)
        self._supplier = supplier

    def process(self, key: Any, value: Change[Any]) -> None:
        if key is None:
            raise StreamsError(
                f"Record key for KTable reduce operator with state {self.store_name} should not be null."
            )
        supplier = self._supplier
        new = old = self.store.get(key)
        if value.new_value is not None:
            new = value.new_value if new is None else supplier.adder(new, value.new_value)
        if value.old_value is not None:
            new = supplier.subtractor(new, value.old_value)
        self.put(key, new, old)
