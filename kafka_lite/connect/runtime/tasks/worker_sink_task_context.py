"""The requests of a sink task to its worker.

Kafka 0.10.2: connect/runtime/.../connect/runtime/WorkerSinkTaskContext.java · book 8.3.7
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api.errors import IllegalWorkerStateError
from kafka_lite.connect.api.sink_task import ErrantRecordReporter, SinkTaskContext
from kafka_lite.consumer.kafka_consumer import KafkaConsumer

NO_TIMEOUT = -1


class WorkerSinkTaskContext(SinkTaskContext):
    """Requests are noted here, and the worker's thread carries them out before it polls. It is used by that thread
    only."""

    def __init__(
        self,
        consumer: KafkaConsumer,
        should_pause: Callable[[], bool],
        config: Mapping[str, str],
        reporter: ErrantRecordReporter | None = None,
    ) -> None:
        self._consumer = consumer
        self._reporter = reporter
        self._should_pause = should_pause
        self._config = config
        self._offsets: dict[TopicPartition, int] = {}
        self._timeout_ms = NO_TIMEOUT
        self.paused_partitions: set[TopicPartition] = set()
        """The partitions that the task has paused itself."""
        self.commit_requested = False

    def configs(self) -> dict[str, str]:
        """The task's configuration."""
        return dict(self._config)

    def offset(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Continue reading at these offsets."""
        self._offsets.update(offsets)

    def take_offsets(self) -> dict[TopicPartition, int]:
        """The offsets to continue at, which are forgotten."""
        taken, self._offsets = self._offsets, {}
        return taken

    def timeout(self, timeout_ms: int) -> None:
        """How long to wait before ``put`` is called again, after it raised RetriableError."""
        self._timeout_ms = timeout_ms

    def take_timeout(self) -> int:
        """The time-out, ms, which is forgotten; ``NO_TIMEOUT`` if there is none."""
        taken, self._timeout_ms = self._timeout_ms, NO_TIMEOUT
        return taken

    def assignment(self) -> set[TopicPartition]:
        """The partitions of this task."""
        return set(self._consumer.assignment)

    def pause(self, *partitions: TopicPartition) -> None:
        """Put no more records of these partitions until ``resume``. Raises IllegalWorkerStateError."""
        self.paused_partitions.update(partitions)
        if not self._should_pause():  # all of them are paused anyway
            self._change(self._consumer.pause, partitions, "pause")

    def resume(self, *partitions: TopicPartition) -> None:
        """Put the records of these partitions again. Raises IllegalWorkerStateError."""
        self.paused_partitions.difference_update(partitions)
        if not self._should_pause():
            self._change(self._consumer.resume, partitions, "resume")

    def _change(self, change: Callable[[Any], None], partitions: tuple[TopicPartition, ...], verb: str) -> None:
        try:
            change(list(partitions))
        except RuntimeError as error:
            raise IllegalWorkerStateError(
                f"SinkTasks may not {verb} partitions that are not currently assigned to them."
            ) from error

    def request_commit(self) -> None:
        """Commit offsets with the next turn."""
        self.commit_requested = True

    @property
    def errant_record_reporter(self) -> ErrantRecordReporter | None:
        """Where to report records that cannot be written; None if the connector has neither queue nor log for them."""
        return self._reporter
