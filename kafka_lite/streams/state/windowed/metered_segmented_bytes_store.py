"""A store of segments whose operations are measured.

Kafka 0.10.2: streams/.../state/internals/MeteredSegmentedBytesStore.java · book 9.2.4
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_lite.metrics.recording_level import RecordingLevel
from kafka_lite.metrics.sensor import Sensor
from kafka_lite.streams.processor.state_store import StateStore, StateStoreContext
from kafka_lite.streams.state.windowed.segmented_bytes_store import SegmentedBytesStore
from kafka_lite.streams.state.wrapped_state_store import WrappedStateStore

_OPERATIONS = ("put", "fetch", "flush", "get", "restore")


class MeteredSegmentedBytesStore(WrappedStateStore[SegmentedBytesStore], SegmentedBytesStore):
    """As ``MeteredKeyValueStore``, for windows and sessions. (0.10.2 measures ``remove``, too: here it is a put.)"""

    def __init__(self, inner: SegmentedBytesStore, metric_scope: str) -> None:
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

    def put(self, key: bytes, value: bytes | None) -> None:
        """Set or delete the value of a binary key."""
        if not self._is_recording:
            self._inner.put(key, value)
        else:
            self._metrics.measure_latency_ns(lambda: self._inner.put(key, value), self._sensors["put"])

    def get(self, key: bytes) -> bytes | None:
        """The value of a binary key, or None."""
        if not self._is_recording:
            return self._inner.get(key)
        return self._metrics.measure_latency_ns(lambda: self._inner.get(key), self._sensors["get"])

    def fetch(self, key: bytes, time_from: int, time_to: int) -> Iterator[tuple[bytes, bytes]]:
        """The entries of a record's key in a range of time. The measured time is that of the call."""
        if not self._is_recording:
            return self._inner.fetch(key, time_from, time_to)
        return self._metrics.measure_latency_ns(
            lambda: self._inner.fetch(key, time_from, time_to), self._sensors["fetch"]
        )

    def flush(self) -> None:
        """Flush the inner store."""
        self._metrics.measure_latency_ns(self._inner.flush, self._sensors["flush"])
