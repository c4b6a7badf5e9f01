"""The processors of tables: the source with its store, and those without.

Kafka 0.10.2: streams/.../kstream/internals/KTableProcessorSupplier.java, KTableValueGetter.java, KTableSource.java,
KTableFilter.java, KTableMapValues.java, KTableRepartitionMap.java · book 9.2.2
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from kafka_lite.streams.errors import StreamsError
from kafka_lite.streams.kstream.internals.change import Change
from kafka_lite.streams.kstream.internals.dropping_processor import DroppingProcessor
from kafka_lite.streams.kstream.internals.tuple_forwarder import TupleForwarder
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.processor.processor_context import ProcessorContext
from kafka_lite.streams.state.key_value_store import KeyValueStore

KTableValueGetter = Callable[[Any], Any]
"""Returns the current value of a key in a table, or None."""


class KTableProcessorSupplier(ABC):
    """Makes the processor of a table for each task.

    Whether changes carry old values is decided later than the table is declared: by what is made of it.
    """

    send_old_values = False
    store_names: tuple[str, ...]
    """The stores from which the table's values can be computed."""

    def enable_sending_old_values(self) -> None:
        """Let changes carry the old value, too."""
        self.send_old_values = True

    @abstractmethod
    def __call__(self) -> Processor[Any, Any]:
        """A new processor."""

    @abstractmethod
    def value_getter(self, context: ProcessorContext) -> KTableValueGetter:
        """Look values up, for a processor that may use the stores. Raises TopologyBuilderError if it may not."""


class StoredTable(KTableProcessorSupplier):
    """A table whose values are in a key-value store."""

    def __init__(self, store_name: str) -> None:
        self.store_name = store_name
        self.store_names = (store_name,)

    def value_getter(self, context: ProcessorContext) -> KTableValueGetter:
        """Look values up in the store."""
        return key_value_store(context, self.store_name).get


def key_value_store(context: ProcessorContext, name: str) -> KeyValueStore[Any, Any]:
    """A store of the current processor. Raises TypeError if it is not a key-value store."""
    store = context.get_state_store(name)
    if not isinstance(store, KeyValueStore):
        raise TypeError(f"store {name} is a {type(store).__name__}, not a KeyValueStore")
    return store


class StoreProcessor(DroppingProcessor):
    """The base of processors with a key-value store that passes on its changes."""

    store: KeyValueStore[Any, Any]

    def __init__(self, store_name: str, send_old_values: bool) -> None:
        self.store_name = store_name
        self.send_old_values = send_old_values

    def init(self, context: ProcessorContext) -> None:
        """Find the store. Raises TypeError if it is not a key-value store."""
        super().init(context)
        self.store = key_value_store(context, self.store_name)
        self._forwarder = TupleForwarder(self.store, context, self.send_old_values)

    def put(self, key: Any, new: Any, old: Any) -> None:
        """Store the new value, and pass the change on: now, or when it leaves the store's cache."""
        self.store.put(key, new)
        self._forwarder.maybe_forward(key, new, old)


class KTableSource(StoredTable):
    """Puts the records of a topic into a store: the newest value of each key, or none after a tombstone."""

    def __call__(self) -> Processor[Any, Any]:
        """A new processor."""
        return _KTableSourceProcessor(self.store_name, self.send_old_values)


class _KTableSourceProcessor(StoreProcessor):
    def process(self, key: Any, value: Any) -> None:
        if key is None:  # a table has no place for it
            self.skip_record("null key")
            return
        self.put(key, value, self.store.get(key))


class KTableFilter(KTableProcessorSupplier):
    """Treats a value that does not satisfy the predicate as deleted."""

    def __init__(
        self, parent: KTableProcessorSupplier, predicate: Callable[[Any, Any], bool], negate: bool = False
    ) -> None:
        self._parent = parent
        self.store_names = parent.store_names
        self._predicate = predicate
        self._negate = negate

    def enable_sending_old_values(self) -> None:
        """The old value is the parent's, filtered."""
        self._parent.enable_sending_old_values()
        super().enable_sending_old_values()

    def value_of(self, key: Any, value: Any) -> Any:
        """The value, or None."""
        return value if value is not None and bool(self._predicate(key, value)) != self._negate else None

    def value_getter(self, context: ProcessorContext) -> KTableValueGetter:
        """Look the parent's value up, and filter it."""
        of_parent = self._parent.value_getter(context)
        return lambda key: self.value_of(key, of_parent(key))

    def __call__(self) -> Processor[Any, Any]:
        """A new processor."""
        return _KTableFilterProcessor(self)


class _KTableFilterProcessor(Processor[Any, "Change[Any]"]):
    def __init__(self, supplier: KTableFilter) -> None:
        self._supplier = supplier

    def process(self, key: Any, value: Change[Any]) -> None:
        supplier = self._supplier
        new = supplier.value_of(key, value.new_value)
        old = supplier.value_of(key, value.old_value) if supplier.send_old_values else None
        if not (supplier.send_old_values and new is None and old is None):  # it was not in the table, and is not
            self.context.forward(key, Change(new, old))


class KTableMapValues(KTableProcessorSupplier):
    """Maps each value to a new one. A deleted key stays deleted."""

    def __init__(self, parent: KTableProcessorSupplier, mapper: Callable[[Any], Any]) -> None:
        self._parent = parent
        self.store_names = parent.store_names
        self._mapper = mapper

    def enable_sending_old_values(self) -> None:
        """The old value is the parent's, mapped."""
        self._parent.enable_sending_old_values()
        super().enable_sending_old_values()

    def value_of(self, value: Any) -> Any:
        """The new value, or None."""
        return None if value is None else self._mapper(value)

    def value_getter(self, context: ProcessorContext) -> KTableValueGetter:
        """Look the parent's value up, and map it."""
        of_parent = self._parent.value_getter(context)
        return lambda key: self.value_of(of_parent(key))

    def __call__(self) -> Processor[Any, Any]:
        """A new processor."""
        return _KTableMapValuesProcessor(self)


class _KTableMapValuesProcessor(Processor[Any, "Change[Any]"]):
    def __init__(self, supplier: KTableMapValues) -> None:
        self._supplier = supplier

    def process(self, key: Any, value: Change[Any]) -> None:
        supplier = self._supplier
        old = supplier.value_of(value.old_value) if supplier.send_old_values else None
        self.context.forward(key, Change(supplier.value_of(value.new_value), old))


class KTableRepartitionMap(Processor[Any, "Change[Any]"]):
    """Regroups a table: subtracts the old value from its group, then adds the new value to its own.

    These are two records, since the groups may be in different partitions.
    """

    def __init__(self, selector: Callable[[Any, Any], tuple[Any, Any] | None]) -> None:
        self._selector = selector

    def process(self, key: Any, value: Change[Any]) -> None:
        """Forward the value to subtract, and the value to add. Raises StreamsError for a record without a key."""
        if key is None:
            raise StreamsError("Record key for the grouping KTable should not be null.")
        old, new = self._pair(key, value.old_value), self._pair(key, value.new_value)
        if old is not None:
            self.context.forward(old[0], Change(None, old[1]))
        if new is not None:
            self.context.forward(new[0], Change(new[1], None))

    def _pair(self, key: Any, value: Any) -> tuple[Any, Any] | None:
        """The group and the value in it; None if it belongs to no group."""
        pair = None if value is None else self._selector(key, value)
        return None if pair is None or pair[0] is None or pair[1] is None else pair
