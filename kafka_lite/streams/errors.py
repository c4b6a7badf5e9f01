"""The errors of Streams.

Kafka 0.10.2: streams/.../streams/errors · book 9.1
"""

from __future__ import annotations

from collections.abc import Iterable

from kafka_lite.common.errors import KafkaError


class StreamsError(KafkaError):
    """The base class of the errors of Streams. Kafka: StreamsException."""


class TopologyBuilderError(StreamsError):
    """A topology that cannot be built: a name declared twice, an unknown parent, a topic with two sources."""

    def __init__(self, message: str) -> None:
        super().__init__(f"Invalid topology building: {message}")


class TaskIdFormatError(StreamsError):
    """A text that is not a task id such as ``0_1``."""

    def __init__(self, text: str) -> None:
        super().__init__(f"Task id cannot be parsed correctly from {text}")


class InvalidStateStoreError(StreamsError):
    """A store was used after it was closed."""


class MissingSourceTopicError(StreamsError):
    """A topic that the topology reads does not exist, or was deleted. Kafka 2.7: MissingSourceTopicException."""

    def __init__(self, topics: Iterable[str]) -> None:
        super().__init__(
            f"The source topics {', '.join(sorted(topics))} are missing. Create all source topics before the start"
        )


class TaskAssignmentError(StreamsError):
    """Tasks that cannot be assigned, or assignment data that cannot be read."""


class ProcessorStateError(StreamsError):
    """A state directory, store or changelog that cannot be used."""


class TaskMigratedError(StreamsError):
    """Another thread has the task by now. Kafka 1.0: TaskMigratedException."""

    def __init__(
        self,
        task_id: str,
        why: str = "a newer producer has its transactional.id, so another thread owns the task",
    ) -> None:
        super().__init__(f"task [{task_id}] has migrated: {why}")
        self.task_id = task_id


class TaskCorruptedError(StreamsError):
    """The stores of a task are ahead of what was committed, or their changelogs no longer have the offsets of the
    checkpoint: they are rebuilt. Kafka 2.6: TaskCorruptedException."""

    def __init__(self, task_id: str, why: str) -> None:
        super().__init__(f"task [{task_id}] has stores that must be rebuilt: {why}")
        self.task_id = task_id


class LockError(StreamsError):
    """The state directory of a task, or of the global stores, is locked by another thread or process."""
