"""Aggregates the records of a stream by key and session.

Kafka 0.10.2: streams/.../kstream/internals/KStreamSessionWindowAggregate.java · book 9.2.4
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_lite.streams.errors import ProcessorStateError
from kafka_lite.streams.kstream.internals.dropping_processor import DroppingProcessor
from kafka_lite.streams.kstream.internals.ktable_processors import KTableProcessorSupplier, KTableValueGetter
from kafka_lite.streams.kstream.internals.tuple_forwarder import TupleForwarder
from kafka_lite.streams.kstream.session_windows import SessionWindows
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.processor.processor_context import ProcessorContext
from kafka_lite.streams.state.session_store import SessionStore
from kafka_lite.streams.windowed import SessionWindow, Windowed


def session_store(context: ProcessorContext, name: str) -> SessionStore[Any, Any]:
    """A store of the current processor. Raises TypeError if it is not a session store."""
    store = context.get_state_store(name)
    if not isinstance(store, SessionStore):
        raise TypeError(f"store {name} is a {type(store).__name__}, not a SessionStore")
    return store


class KStreamSessionWindowAggregate(KTableProcessorSupplier):
    """Adds each record to its session. A record between two sessions merges them: both are deleted, and a new one put.

    The table's changes are deletions of sessions, and new sessions.
    """

    def __init__(
        self,
        store_name: str,
        windows: SessionWindows,
        initializer: Callable[[], Any],
        aggregator: Callable[[Any, Any, Any], Any],
        merger: Callable[[Any, Any, Any], Any],
    ) -> None:
        """``merger(key, aggregate, other aggregate)`` gives the aggregate of two sessions that become one."""
        self.store_name = store_name
        self.store_names = (store_name,)
        self.windows = windows
        self.initializer = initializer
        self.aggregator = aggregator
        self.merger = merger

    def __call__(self) -> Processor[Any, Any]:
        """A new processor."""
        return _KStreamSessionWindowAggregateProcessor(self)

    def value_getter(self, context: ProcessorContext) -> KTableValueGetter:
        """Look the aggregate of a session up: None, or that of the session that is in the store at its end.

        The getter raises ProcessorStateError, with the store, the key and the end, if there are several at that time.
        """
        store = session_store(context, self.store_name)

        def value_of(session: Windowed[Any]) -> Any:
            end = session.window.end
            values = [value for _, value in store.find_sessions(session.key, end, end)]
            if len(values) > 1:
                raise ProcessorStateError(
                    f"Store {store.name} has {len(values)} sessions of key {session.key} at {end}"
                )
            return values[0] if values else None

        return value_of


class _KStreamSessionWindowAggregateProcessor(DroppingProcessor):
    _store: SessionStore[Any, Any]

    def __init__(self, supplier: KStreamSessionWindowAggregate) -> None:
        self._supplier = supplier

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self._store = session_store(context, self._supplier.store_name)
        self._forwarder = TupleForwarder(self._store, context, self._supplier.send_old_values)

    def process(self, key: Any, value: Any) -> None:
        """Merge the record with the sessions that are near: at most the gap before or after it.

        The aggregate is the initializer's value, merged with that of each near session, oldest first, and then the
        record is added. Unless the new session is a single moment, the near ones are first removed from the store, and
        forwarded as deletions, with their aggregates as old values. Then the new session is put, and forwarded without
        an old value. A record without a key is dropped.
        """
        if key is None:
            self.skip_record("null key")
            return
        supplier, timestamp = self._supplier, self.context.timestamp
        gap = supplier.windows.inactivity_gap_ms
        start = end = timestamp
        aggregate = supplier.initializer()
        near = list(self._store.find_sessions(key, timestamp - gap, timestamp + gap))
        for session, other in near:
            aggregate = supplier.merger(key, aggregate, other)
            start, end = min(start, session.window.start), max(end, session.window.end)
        aggregate = supplier.aggregator(key, value, aggregate)
        if start < end:  # otherwise the session in the store, if there is one, has the same key
            for session, other in near:
                self._store.remove(session)
                self._forwarder.maybe_forward(session, None, other)
        merged = Windowed(key, SessionWindow(start, end))
        self._store.put(merged, aggregate)
        self._forwarder.maybe_forward(merged, aggregate, None)
