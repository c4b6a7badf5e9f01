"""Aggregates the records of a stream by key and window.

Kafka 0.10.2: streams/.../kstream/internals/KStreamWindowAggregate.java, KStreamWindowReduce.java · book 9.2.4
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_lite.streams.kstream.internals.dropping_processor import DroppingProcessor
from kafka_lite.streams.kstream.internals.ktable_processors import KTableProcessorSupplier, KTableValueGetter
from kafka_lite.streams.kstream.internals.tuple_forwarder import TupleForwarder
from kafka_lite.streams.kstream.windows import Windows
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.processor.processor_context import ProcessorContext
from kafka_lite.streams.state.window_store import WindowStore
from kafka_lite.streams.windowed import Windowed


class WindowedTable(KTableProcessorSupplier):
    """A table whose values are in a window store, each under the start of its window."""

    def __init__(self, store_name: str, windows: Windows) -> None:
        self.store_name = store_name
        self.store_names = (store_name,)
        self.windows = windows

    def windowed_key(self, key_and_start: tuple[Any, int]) -> Windowed[Any]:
        """The windowed key of a key in the store."""
        key, start = key_and_start
        return Windowed(key, self.windows.windows_for(start)[start])

    def value_getter(self, context: ProcessorContext) -> KTableValueGetter:
        """Look the value of a windowed key up in the store."""
        store = window_store(context, self.store_name)

        def value_of(windowed: Windowed[Any]) -> Any:
            start = windowed.window.start
            return next((value for _, value in store.fetch(windowed.key, start, start)), None)

        return value_of


def window_store(context: ProcessorContext, name: str) -> WindowStore[Any, Any]:
    """A store of the current processor. Raises TypeError if it is not a window store."""
    store = context.get_state_store(name)
    if not isinstance(store, WindowStore):
        raise TypeError(f"store {name} is a {type(store).__name__}, not a WindowStore")
    return store


class KStreamWindowAggregate(WindowedTable):
    """In each window of a record: begins with the initializer's value, and adds each record's value to it.

    Windows that are in the store come first, then new ones; both in order of time. (In 0.10.2 the order of new ones
    depends on the hashes of their starts.)
    """

    def __init__(
        self,
        store_name: str,
        windows: Windows,
        initializer: Callable[[], Any],
        aggregator: Callable[[Any, Any, Any], Any],
    ) -> None:
        super().__init__(store_name, windows)
        self.initializer = initializer
        self.aggregator = aggregator

    def __call__(self) -> Processor[Any, Any]:
        """A new processor."""
        return _KStreamWindowAggregateProcessor(self, self._aggregated)

    def _aggregated(self, key: Any, value: Any, old: Any) -> tuple[Any, Any]:
        return self.aggregator(key, value, self.initializer() if old is None else old), old


class KStreamWindowReduce(WindowedTable):
    """In each window of a record: begins with the first value, and combines it with each following one."""

    def __init__(self, store_name: str, windows: Windows, reducer: Callable[[Any, Any], Any]) -> None:
        super().__init__(store_name, windows)
        self.reducer = reducer

    def __call__(self) -> Processor[Any, Any]:
        """A new processor."""
        return _KStreamWindowAggregateProcessor(self, self._reduced)

    def _reduced(self, _key: Any, value: Any, old: Any) -> tuple[Any, Any]:
        return (value if old is None else self.reducer(old, value)), old


class _KStreamWindowAggregateProcessor(DroppingProcessor):
    _store: WindowStore[Any, Any]

    def __init__(self, supplier: WindowedTable, combine: Callable[[Any, Any, Any], tuple[Any, Any]]) -> None:
        """``combine(key, value, aggregate)`` returns the new aggregate and the old one; None if there is none."""
        self._supplier = supplier
        self._combine = combine

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self._store = window_store(context, self._supplier.store_name)
        self._forwarder = TupleForwarder(
            self._store, context, self._supplier.send_old_values, self._supplier.windowed_key
        )

    def process(self, key: Any, value: Any) -> None:
        """Change the aggregate of each window of the record: first those in the store, then new ones.

        A record without a key, or one that belongs to no window, is dropped.
        """
        windows = self._supplier.windows.windows_for(self.context.timestamp)
        if key is None:
            self.skip_record("null key")
        if key is None or not windows:
            return
        for start, old in self._store.fetch(key, min(windows), max(windows)):
            window = windows.pop(start, None)
            if window is not None:
                self._put(Windowed(key, window), value, old)
        for window in windows.values():
            self._put(Windowed(key, window), value, None)

    def _put(self, windowed: Windowed[Any], value: Any, aggregate: Any) -> None:
        new, old = self._combine(windowed.key, value, aggregate)
        self._store.put(windowed.key, new, windowed.window.start)
        self._forwarder.maybe_forward(windowed, new, old)
