"""The tasks of a thread: created, suspended, resumed and closed as the group rebalances.

Kafka 0.10.2: streams/.../processor/internals/StreamThread.java (addStreamTasks, suspendTasksAndState,
shutdownTasksAndState, TaskCreator, commitAll) · book 9.1.3
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Collection, Iterable, Mapping

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import CommitFailedError
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.streams.errors import LockError, StreamsError, TaskCorruptedError, TaskMigratedError
from kafka_lite.streams.metrics.stream_thread_metrics import StreamThreadMetrics
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.tasks.standby_task import StandbyTask
from kafka_lite.streams.tasks.standby_tasks import StandbyTasks
from kafka_lite.streams.tasks.stream_task import StreamTask

logger = logging.getLogger(__name__)

_FIRST_BACKOFF_MS = 50
_MAX_BACKOFF_MS = 1000

CreateTask = Callable[[TaskId, Collection[TopicPartition], StandbyTask | None], StreamTask]


class TaskManager:
    """A task that the thread keeps across a rebalance is only suspended: its stores stay open.

    ::

        revoked     active ─▶ suspended      close processors · flush · commit
        assigned    suspended ─▶ active      the same partitions again: initialize the processors
                    suspended ─▶ closed      the task has moved: checkpoint, release the lock
                    new ─▶ active            lock the directory, restore the stores
                    standby ─▶ active        restore what its stores do not have yet
        lost        active ─▶ closed         others have the partitions already: no flush, no commit, no checkpoint

    A task that could not be committed is closed at once as well: it may be lost. If it returns, its state is rebuilt.
    """

    def __init__(
        self,
        create_task: CreateTask,
        standbys: StandbyTasks,
        time: Time = SYSTEM_TIME,
        metrics: StreamThreadMetrics | None = None,
    ) -> None:
        """``create_task`` makes an initialized task, of the standby task if there is one.

        It raises LockError while another thread has the task's directory.
        """
        self._metrics = metrics or StreamThreadMetrics(Metrics(time=time), "", time)
        self._create_task = create_task
        self._time = time
        self.standbys = standbys
        self.active: dict[TaskId, StreamTask] = {}
        self._suspended: dict[TaskId, StreamTask] = {}
        self._by_partition: dict[TopicPartition, StreamTask] = {}
        self.prev_tasks: frozenset[TaskId] = frozenset()
        """The active tasks before the rebalance."""

    def task_of(self, partition: TopicPartition) -> StreamTask:
        """The active task that reads a partition. Raises KeyError."""
        return self._by_partition[partition]

    # ── rebalances ────────────────────────────────────────────────────────────────────────────────────────────────

    def suspend(self, commit: bool) -> None:
        """Suspend all tasks. With ``commit``, commit what the active ones have processed.

        Without it the partitions belong to other members already, and the tasks are closed: their stores lack what
        those members have changed, which their caches must not overwrite in the changelogs. Raises StreamsError if a
        task could not be suspended, after all others are.
        """
        self.standbys.suspend()
        tasks = list(self.active.values())
        failure = self._on_all(tasks, lambda task: task.close_topology(flush=commit), "close")
        flush = StreamTask.flush_state if commit else StreamTask.flush_sent
        failure = self._on_all(tasks, flush, "flush state") or failure
        if failure is None and commit:
            # A task whose commit fails is processed again by its next owner. It must not stop the rebalance.
            self._commit_offsets(tasks)
        self.prev_tasks = frozenset(self.active)
        for task_id, task in self.active.items():
            if task.has_uncommitted or not commit:
                self._close_dirty(task)
            else:
                self._suspended[task_id] = task
        self.active.clear()
        self._by_partition.clear()
        if failure is not None:
            raise StreamsError("failed to suspend stream tasks") from failure

    def close_suspended(self) -> None:
        """Close the suspended tasks, with checkpoints. If one returns, it restores what others have changed."""
        tasks = list(self._suspended.values())
        self._suspended.clear()
        self._close_state(tasks, write_checkpoint=True)

    def assign(
        self,
        assigned: Mapping[TaskId, frozenset[TopicPartition]],
        standby: Mapping[TaskId, frozenset[TopicPartition]] | None = None,
    ) -> None:
        """Resume suspended tasks that are assigned again, close the others, and create new tasks: active ones first.

        Raises StreamsError, and what the processors raise.
        """
        self.standbys.suspend()  # nothing was revoked from a thread that had standby tasks only
        self.standbys.release({**(standby or {}), **assigned})
        for task_id, task in list(self._suspended.items()):
            if assigned.get(task_id) != task.partitions:
                del self._suspended[task_id]
                self._close_state([task], write_checkpoint=True)
        new = {}
        for task_id, partitions in assigned.items():
            if task_id in self._suspended:
                task = self._suspended.pop(task_id)
                task.initialize_topology()
                self._activate(task)
            else:
                new[task_id] = partitions
        self._create(new)
        self.standbys.assign(standby or {})

    def _create(self, new: dict[TaskId, frozenset[TopicPartition]]) -> None:
        """Create tasks; wait for the locks of those that another thread still closes.

        A task whose stores turn out to be outdated is created once more, with empty stores.
        """
        backoff_ms = _FIRST_BACKOFF_MS
        while new:
            for task_id, partitions in list(new.items()):
                try:
                    self._activate(self._create_task(task_id, partitions, self.standbys.take(task_id)))
                    self._metrics.task_created.record()
                    del new[task_id]
                except (LockError, TaskCorruptedError) as error:
                    logger.warning("Could not create task %s due to %s. Will retry.", task_id, error)
            if new:
                self._time.sleep(backoff_ms)
                backoff_ms = min(2 * backoff_ms, _MAX_BACKOFF_MS)

    def _activate(self, task: StreamTask) -> None:
        self.active[task.id] = task
        self._by_partition.update(dict.fromkeys(task.partitions, task))

    def close_migrated(self, task_id: str) -> None:
        """Close the task that raised TaskMigratedError. A no-op if it is closed already."""
        for active in [task for task in self.active.values() if str(task.id) == task_id]:
            del self.active[active.id]
            for partition in active.partitions:
                self._by_partition.pop(partition, None)
            self._on_all([active], lambda task: task.close_topology(flush=False), "close")
            self._close_dirty(active)

    def _close_dirty(self, task: StreamTask) -> None:
        self._close_state([task], write_checkpoint=False)

    def _close_state(self, tasks: Collection[StreamTask], write_checkpoint: bool) -> None:
        """The last step of every task. A checkpoint is never written for one that is dirty."""
        self._on_all(
            tasks,
            lambda task: task.close_state_manager(write_checkpoint=write_checkpoint and not task.is_dirty),
            "close state manager",
        )
        for _ in tasks:
            self._metrics.task_closed.record()

    # ── work ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def process(self, max_records: int = 1, max_ms: float = math.inf) -> int:
        """Let each task process records: up to ``max_records``, or only one once the time is up.

        After each record comes what is due then: punctuations, and a commit that was requested. Returns how many
        records wait for their turn; those of a task that waits for another partition do not count.
        """
        deadline_ms = self._time.hi_res_ms() + max_ms
        for task in self.active.values():
            self._process(task, max_records, deadline_ms)
        return sum(task.num_buffered for task in self.active.values() if not task.is_idle)

    @property
    def num_buffered(self) -> int:
        """How many records wait in all tasks."""
        return sum(task.num_buffered for task in self.active.values())

    def update_lags(self) -> None:
        """The consumer has polled: tasks need not wait for partitions that are known to have no records."""
        for task in self.active.values():
            task.update_lags()

    def _process(self, task: StreamTask, max_records: int, deadline_ms: float) -> None:
        metrics, now_ms = self._metrics, self._time.hi_res_ms
        start_ms = now_ms()
        has_more = True
        while has_more:
            has_more = task.process(start_ms)
            processed_ms = now_ms()
            if has_more:
                metrics.process.add(start_ms, processed_ms)
            start_ms = processed_ms
            if task.maybe_punctuate():
                start_ms = now_ms()
                metrics.punctuate.record(start_ms - processed_ms)
            if task.commit_needed:
                self._commit(task)
                start_ms = now_ms()
            max_records -= 1
            has_more = has_more and max_records > 0 and start_ms < deadline_ms

    @property
    def requires_poll(self) -> bool:
        """Whether a task has room for more records."""
        return not self.active or any(task.requires_poll for task in self.active.values())

    def commit_all(self) -> None:
        """Commit all tasks."""
        for task in self.active.values():
            self._commit(task)
        self.standbys.commit_all()

    def _commit(self, task: StreamTask) -> None:
        start_ms = self._time.hi_res_ms()
        try:
            task.commit()
        except CommitFailedError as error:
            # The group has rebalanced without this thread. The next poll notices it.
            logger.warning("Failed to commit StreamTask %s state: %s", task.id, error)
        self._metrics.commit.record(self._time.hi_res_ms() - start_ms)

    def _commit_offsets(self, tasks: Collection[StreamTask]) -> None:
        """Commit what flushed tasks have processed. A task that fails stays dirty."""
        self._on_all(tasks, StreamTask.commit_offsets, "commit consumer offsets")

    # ── the end ───────────────────────────────────────────────────────────────────────────────────────────────────

    def close(self, clean: bool) -> None:
        """Close all tasks. If ``clean`` and nothing fails, checkpoint them and commit what they have processed."""
        active, all_tasks = list(self.active.values()), [*self.active.values(), *self._suspended.values()]
        failure = self._on_all(active, lambda task: task.close_topology(flush=clean), "close")
        if clean:  # after an error caches must not pass anything on
            failure = self._on_all(active, StreamTask.flush_state, "flush state") or failure
        is_clean = clean and failure is None
        if is_clean:
            self._commit_offsets(active)
        self._close_state(all_tasks, write_checkpoint=is_clean)
        self.standbys.close(clean)
        self.active.clear()
        self._suspended.clear()
        self._by_partition.clear()

    @staticmethod
    def _on_all(tasks: Iterable[StreamTask], action: Callable[[StreamTask], None], what: str) -> Exception | None:
        """Returns the first error, after the action was tried on every task."""
        first: Exception | None = None
        for task in tasks:
            try:
                action(task)
            except TaskMigratedError as error:
                logger.warning("%s", error)  # its new owner processes the records again
            except (KafkaError, OSError) as error:
                logger.exception("Failed while executing StreamTask %s due to %s", task.id, what)
                first = first or error
        return first
