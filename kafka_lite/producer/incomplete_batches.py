"""The batches that have neither been acknowledged nor failed: a flush waits for them, and their memory is not free.

Kafka 0.10.2: clients/.../producer/internals/RecordAccumulator.java (IncompleteRecordBatches); since 0.11
IncompleteBatches.java · book 2.1.1
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence

from kafka_lite.common.time import Time
from kafka_lite.producer.producer_batch import ProducerBatch


class IncompleteBatches:
    """From the first record of a batch until its memory is released, in the order of creation."""

    def __init__(self, time: Time) -> None:
        self._time = time
        self._lock = threading.Lock()
        self._batches: dict[ProducerBatch, None] = {}

    def add(self, batch: ProducerBatch) -> None:
        """A batch has been created."""
        with self._lock:
            self._batches[batch] = None

    def remove(self, batch: ProducerBatch) -> bool:
        """The batch has completed; false if it had completed before."""
        with self._lock:
            return self._batches.pop(batch, batch) is None

    def split(self, batch: ProducerBatch, parts: Sequence[ProducerBatch]) -> None:
        """The parts stand for the batch from now on."""
        with self._lock:
            self._batches |= dict.fromkeys(parts)
            del self._batches[batch]

    def all(self) -> list[ProducerBatch]:
        """A copy."""
        with self._lock:
            return list(self._batches)

    def __bool__(self) -> bool:
        return bool(self._batches)

    def await_all(self, timeout_ms: float | None) -> bool:
        """Wait until the batches that exist now have completed; false after ``timeout_ms``."""
        deadline_ms = math.inf if timeout_ms is None else self._time.hi_res_ms() + timeout_ms
        awaited = self.all()
        for batch in awaited:
            if not self._await(batch, deadline_ms):
                return False
        were_split = any(not batch.is_done for batch in awaited)
        return not were_split or self._await_parts(deadline_ms)

    def _await_parts(self, deadline_ms: float) -> bool:
        """Wait for the parts of split batches."""
        while True:
            parts = [batch for batch in self.all() if batch.is_part]
            if not parts:
                return True
            if not self._await(parts[0], deadline_ms):
                return False

    def _await(self, batch: ProducerBatch, deadline_ms: float) -> bool:
        left_ms = deadline_ms - self._time.hi_res_ms()
        return batch.result.wait(None if left_ms == math.inf else max(0.0, left_ms))
