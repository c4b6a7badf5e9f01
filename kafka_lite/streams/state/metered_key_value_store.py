"""A key-value store whose operations are measured.

Kafka 0.10.2: streams/.../state/internals/MeteredKeyValueStore.java · book 9.1.4
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_lite.metrics.recording_level import RecordingLevel
from kafka_lite.metrics.sensor import Sensor
from kafka_lite.streams.processor.state_store import StateStore, StateStoreContext
from kafka_lite.streams.state.key_value_store import KeyValueStore
from kafka_lite.streams.state.wrapped_state_store import WrappedStateStore

_OPERATIONS = ("put", "put-if-absent", "get", "delete", "all", "range", "flush", "restore")


class MeteredKeyValueStore(WrappedStateStore[KeyValueStore[bytes, bytes]], KeyValueStore[bytes, bytes]):
    """The group ``stream-SCOPE-metrics`` has the latency and the rate of each operation, at the level DEBUG.

    It lies below the cache: what the cache saves is not counted. The time of ``all`` and ``range`` is that of the call;
    their entries are read later.
    """

    def __init__(self, inner: KeyValueStore[bytes, bytes], metric_scope: str) -> None:
        super().__init__(inner)
        self._scope = metric_scope
        self._sensors: dict[str, Sensor] = {}
        self._is_recording = False

    def init(self, context: StateStoreContext, root: StateStore) -> None:
        """Open the inner store, which restores itself."""
        self._metrics = metrics = context.metrics
        self._sensors = {
            operation: metrics.add_latency_and_throughput_sensor(
                self._scope, self.name, operation, RecordingLevel.DEBUG
            )
            for operation in _OPERATIONS
        }
        self._is_recording = self._sensors["get"].should_record()
        metrics.measure_latency_ns(lambda: self._inner.init(context, root), self._sensors["restore"])

    def get(self, key: bytes) -> bytes | None:
        """The value of a key, or None."""
        if not self._is_recording:
            return self._inner.get(key)
        return self._metrics.measure_latency_ns(lambda: self._inner.get(key), self._sensors["get"])

    def put(self, key: bytes, value: bytes | None) -> None:
        """Set or delete the value of a key."""
        if not self._is_recording:
            self._inner.put(key, value)
        else:
            self._metrics.measure_latency_ns(lambda: self._inner.put(key, value), self._sensors["put"])

    def put_if_absent(self, key: bytes, value: bytes | None) -> bytes | None:
        """Set the value of a key that has none. Returns the value that it had."""
        return self._metrics.measure_latency_ns(
            lambda: self._inner.put_if_absent(key, value), self._sensors["put-if-absent"]
        )

    def delete(self, key: bytes) -> bytes | None:
        """Delete a key. Returns the value that it had."""
        return self._metrics.measure_latency_ns(lambda: self._inner.delete(key), self._sensors["delete"])

    def range(self, first: bytes, last: bytes) -> Iterator[tuple[bytes, bytes]]:
        """The entries from ``first`` to ``last``, both included."""
        return self._metrics.measure_latency_ns(lambda: self._inner.range(first, last), self._sensors["range"])

    def all(self) -> Iterator[tuple[bytes, bytes]]:
        """All entries."""
        return self._metrics.measure_latency_ns(self._inner.all, self._sensors["all"])

    def approximate_num_entries(self) -> int:
        """The inner store's number."""
        return self._inner.approximate_num_entries()

    def flush(self) -> None:
        """Flush the inner store."""
        self._metrics.measure_latency_ns(self._inner.flush, self._sensors["flush"])
