"""Joins two streams: each record is kept for a while, and meets those of the other stream that are near in time.

Kafka 0.10.2: streams/.../kstream/internals/KStreamJoinWindow.java, KStreamKStreamJoin.java · book 9.2.3
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_lite.streams.errors import TopologyBuilderError
from kafka_lite.streams.kstream.internals.dropping_processor import DroppingProcessor
from kafka_lite.streams.kstream.internals.kstream_window_aggregate import window_store
from kafka_lite.streams.kstream.join_windows import JoinWindows
from kafka_lite.streams.processor.processor_context import ProcessorContext
from kafka_lite.streams.state.window_store import WindowStore


def ensure_kept_long_enough(store_name: str, windows: JoinWindows) -> None:
    """Raise TopologyBuilderError if records expire before all that they could meet have come."""
    if windows.size_ms + 1 > windows.maintain_ms:
        raise TopologyBuilderError(
            f"The retention period of the join window {store_name} must be no smaller than its window size: "
            f"{windows.maintain_ms} < {windows.size_ms + 1}"
        )


class KStreamJoinWindow(DroppingProcessor):
    """Passes each record of one stream on to be joined, and then keeps it for those of the other stream."""

    _store: WindowStore[Any, Any]

    def __init__(self, store_name: str) -> None:
        self._store_name = store_name

    def init(self, context: ProcessorContext) -> None:
        """Find the store."""
        super().init(context)
        self._store = window_store(context, self._store_name)

    def process(self, key: Any, value: Any) -> None:
        """Pass the record on and keep it, or drop it if it has no key."""
        if key is None:
            self.skip_record("null key or value")
            return
        self.context.forward(key, value)
        self._store.put(key, value)


class KStreamKStreamJoin(DroppingProcessor):
    """Joins each record of one stream with all of the other stream that have its key and are near in time.

    Each join has two of them. With ``outer``, a record that meets none is joined with None, at once: if a record of
    the other stream comes later, both results have been sent.
    """

    _other: WindowStore[Any, Any]

    def __init__(
        self, other_store: str, before_ms: int, after_ms: int, joiner: Callable[[Any, Any], Any], outer: bool
    ) -> None:
        """``joiner(value, other value)``."""
        self._other_store = other_store
        self._before_ms = before_ms
        self._after_ms = after_ms
        self._joiner = joiner
        self._outer = outer

    def init(self, context: ProcessorContext) -> None:
        """Find the store of the other stream."""
        super().init(context)
        self._other = window_store(context, self._other_store)

    def process(self, key: Any, value: Any) -> None:
        """Join a record. One without a key or a value is dropped."""
        if key is None or value is None:
            self.skip_record("null key or value")
            return
        context, joiner, timestamp = self.context, self._joiner, self.context.timestamp
        time_from, time_to = max(0, timestamp - self._before_ms), max(0, timestamp + self._after_ms)
        alone = self._outer
        for _, other in self._other.fetch(key, time_from, time_to):
            alone = False
            context.forward(key, joiner(value, other))
        if alone:
            context.forward(key, joiner(value, None))
