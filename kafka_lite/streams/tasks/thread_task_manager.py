"""The tasks of a stream thread with ``processing.guarantee=exactly_once_v2``, which commit together.

Kafka 2.6 (KIP-447): streams/.../processor/internals/TaskManager.java (handleLostAll), TaskExecutor.java
(commitOffsetsOrTransaction) · book 9.1.3
"""

from __future__ import annotations

import logging
from collections.abc import Collection

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.streams.metrics.stream_thread_metrics import StreamThreadMetrics
from kafka_lite.streams.tasks.standby_tasks import StandbyTasks
from kafka_lite.streams.tasks.stream_task import StreamTask
from kafka_lite.streams.tasks.task_manager import CreateTask, TaskManager
from kafka_lite.streams.tasks.thread_producer import ThreadProducer

logger = logging.getLogger(__name__)


class ThreadTaskManager(TaskManager):
    """The thread's transaction has the results, the changes of stores and the offsets of all its tasks.

    So all tasks commit together. If that fails, all of them are closed, and their stores are rebuilt.
    """

    def __init__(
        self,
        create_task: CreateTask,
        standbys: StandbyTasks,
        producer: ThreadProducer,
        time: Time = SYSTEM_TIME,
        metrics: StreamThreadMetrics | None = None,
    ) -> None:
        super().__init__(create_task, standbys, time, metrics)
        self._producer = producer

    def suspend(self, commit: bool) -> None:
        """Suspend all tasks, or close them if their transaction is not committed; then it is aborted."""
        try:
            super().suspend(commit)
        finally:
            self._begin_again()

    def close_migrated(self, task_id: str) -> None:  # noqa: ARG002
        """Close all tasks, and abort their transaction."""
        tasks = list(self.active.values())
        self.prev_tasks = frozenset(self.active)
        self.active.clear()
        self._by_partition.clear()
        self._on_all(tasks, lambda task: task.close_topology(flush=False), "close")
        self._close_state(tasks, write_checkpoint=False)
        self._producer.reset()

    def _begin_again(self) -> None:
        if self._producer.in_transaction:
            self._producer.reset()

    # ── work ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def commit_all(self) -> None:
        """Commit all tasks in one transaction.

        Raises TaskMigratedError, TaskCorruptedError; then all of them have to be closed.
        """
        self._commit_together()
        self.standbys.commit_all()

    def _commit(self, task: StreamTask) -> None:  # noqa: ARG002
        """If one task requests a commit, all are committed."""
        self._commit_together()

    def _commit_together(self) -> None:
        start_ms = self._time.hi_res_ms()
        tasks = list(self.active.values())
        for task in tasks:
            task.flush_state()
        self._commit_transaction(tasks)
        self._metrics.commit.record(self._time.hi_res_ms() - start_ms)

    def _commit_offsets(self, tasks: Collection[StreamTask]) -> None:
        try:
            self._commit_transaction(tasks)
        except KafkaError as error:  # it must not stop the rebalance: their next owners process the records again
            logger.warning("Failed to commit %s: %s", ", ".join(str(task.id) for task in tasks), error)

    def _commit_transaction(self, tasks: Collection[StreamTask]) -> None:
        uncommitted = [task for task in tasks if task.has_uncommitted]
        if uncommitted:
            self._producer.commit_transaction(
                {partition: offset for task in uncommitted for partition, offset in task.committable_offsets().items()}
            )
        for task in tasks:
            task.committed()

    # ── the end ───────────────────────────────────────────────────────────────────────────────────────────────────

    def close(self, clean: bool) -> None:
        """Close all tasks. If ``clean`` and nothing fails, commit them before; otherwise abort their transaction."""
        super().close(clean)
        self._producer.abort_transaction()
