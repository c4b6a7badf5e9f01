"""The standby tasks of a thread, and the restore consumer that reads their changelogs.

Kafka 0.10.2: streams/.../processor/internals/StreamThread.java (addStandbyTasks, maybeUpdateStandbyTasks,
StandbyTaskCreator, closeNonAssignedSuspendedStandbyTasks) · book 9.1.3
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import InvalidOffsetError
from kafka_lite.consumer.consumer_record import EMPTY_RECORDS, ConsumerRecord, ConsumerRecords
from kafka_lite.streams.errors import LockError
from kafka_lite.streams.task_id import TaskId
from kafka_lite.streams.tasks.standby_task import StandbyTask

logger = logging.getLogger(__name__)

_RETRY_MS = 1000

CreateStandbyTask = Callable[[TaskId, Collection[TopicPartition]], StandbyTask | None]


class ChangelogConsumer(Protocol):
    """The part of the restore consumer that standby tasks use."""

    def assign(self, partitions: Iterable[TopicPartition], /) -> None:
        """Read these partitions."""
        ...

    def unsubscribe(self) -> None:
        """Read none."""
        ...

    def seek(self, partition: TopicPartition, offset: int, /) -> None:
        """Continue at an offset."""
        ...

    def seek_to_beginning(self, partitions: Iterable[TopicPartition], /) -> None:
        """Continue at the start."""
        ...

    def pause(self, partitions: Iterable[TopicPartition], /) -> None:
        """Fetch no more records of these partitions."""
        ...

    def resume(self, partitions: Iterable[TopicPartition], /) -> None:
        """Fetch records of these partitions again."""
        ...

    def poll(self, timeout_ms: float, /) -> ConsumerRecords:
        """The next records."""
        ...


class StandbyTasks:
    """::

        suspend   following ─▶ suspended    a rebalance begins: the restore consumer is for restoring
        release   suspended ─▶ closed       neither standby nor active here any more: checkpoint, release the lock
        take      suspended ─▶ –            it becomes active in this thread, which gets its stores
        assign    suspended ─▶ following    continue at the position of each changelog
                  new ─▶ following          lock the directory, open the stores
                  new ─▶ waiting            another thread still has the directory: try again every second
        update    following ─▶ new          a changelog no longer has the next offset: restore all from its start

    (0.10.2 waits for the lock. Nobody waits for a standby, and two instances with one directory would wait forever.)
    """

    def __init__(self, create_task: CreateStandbyTask, consumer: ChangelogConsumer, time: Time = SYSTEM_TIME) -> None:
        """``create_task`` returns an initialized task, or None if it has no stores; it raises LockError."""
        self._create_task = create_task
        self._consumer = consumer
        self._time = time
        self.following: dict[TaskId, StandbyTask] = {}
        """The tasks that follow their changelogs."""
        self._suspended: dict[TaskId, StandbyTask] = {}
        self._waiting: dict[TaskId, frozenset[TopicPartition]] = {}
        self._retry_at_ms = 0.0
        self._by_changelog: dict[TopicPartition, StandbyTask] = {}
        self._held_back: dict[TopicPartition, Sequence[ConsumerRecord]] = {}
        """Records of paused partitions, from the offset on that the active task has committed."""
        self._limits_are_new = False

    @property
    def ids(self) -> frozenset[TaskId]:
        """The tasks whose state is kept here."""
        return frozenset(self.following) | frozenset(self._suspended)

    # ── rebalances ────────────────────────────────────────────────────────────────────────────────────────────────

    def suspend(self) -> None:
        """Stop following. A no-op if that has been done."""
        self._waiting.clear()
        if self.following:
            self._consumer.unsubscribe()
            self._suspended.update(self.following)
            self.following.clear()
            self._by_changelog.clear()
            self._held_back.clear()

    def release(self, kept: Mapping[TaskId, frozenset[TopicPartition]]) -> None:
        """Close the suspended tasks that are not kept with the same partitions, to be standby or active here."""
        for task_id, task in list(self._suspended.items()):
            if kept.get(task_id) != task.partitions:
                self._close(self._suspended.pop(task_id), clean=True)

    def take(self, task_id: TaskId) -> StandbyTask | None:
        """A suspended task that becomes active; None if there is none."""
        return self._suspended.pop(task_id, None)

    def assign(self, assigned: Mapping[TaskId, frozenset[TopicPartition]]) -> None:
        """Resume suspended tasks, create new ones, and read their changelogs. Raises StreamsError."""
        new = {}
        for task_id, partitions in assigned.items():
            task = self._suspended.pop(task_id, None)
            if task is None:
                new[task_id] = partitions
            else:
                self.following[task_id] = task
        self._create(new)
        self._follow()

    def _create(self, new: Mapping[TaskId, frozenset[TopicPartition]]) -> bool:
        """Create tasks, and note those whose directories are locked. Returns whether there are new ones."""
        self._waiting = {}
        created = False
        for task_id, partitions in new.items():
            try:
                task = self._create_task(task_id, partitions)
            except LockError as error:
                logger.info("Could not create standby task %s due to %s. Will retry.", task_id, error)
                self._waiting[task_id] = partitions
                continue
            if task is not None:
                self.following[task_id] = task
                created = True
        self._retry_at_ms = self._time.hi_res_ms() + _RETRY_MS
        return created

    def _follow(self) -> None:
        """Read all changelogs from where their tasks are."""
        self._held_back.clear()
        self._by_changelog = {partition: task for task in self.following.values() for partition in task.positions}
        if not self._by_changelog:
            return
        self._consumer.assign(sorted(self._by_changelog))
        for partition, task in self._by_changelog.items():
            position = task.positions[partition]
            if position is None:
                self._consumer.seek_to_beginning([partition])
            else:
                self._consumer.seek(partition, position)

    # ── work ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def maybe_update(self) -> None:
        """Restore the records that have come. Never blocks. Raises StreamsError."""
        if self._waiting and self._time.hi_res_ms() >= self._retry_at_ms and self._create(self._waiting):
            self._follow()
        if not self._by_changelog:
            return
        if self._limits_are_new:
            self._limits_are_new = False
            self._update_held_back()
        records = self._poll()
        for partition in records.partitions:
            remaining = self._by_changelog[partition].update(partition, records.records(partition))
            if remaining:
                self._consumer.pause([partition])
                self._held_back[partition] = remaining

    def _poll(self) -> ConsumerRecords:
        """The next records. Tasks that have missed records, which retention has removed, begin again."""
        try:
            return self._consumer.poll(0)
        except InvalidOffsetError as error:
            logger.warning("Standby tasks have fallen out of their changelogs, and are created again: %s", error)
            outdated = {task.id: task for task in map(self._by_changelog.__getitem__, error.partitions)}
            for task_id, task in outdated.items():
                del self.following[task_id]
                task.forget(error.partitions, str(error))
                self._close(task, clean=False)
            self._create({**self._waiting, **{task_id: task.partitions for task_id, task in outdated.items()}})
            self._follow()
            return EMPTY_RECORDS

    def _update_held_back(self) -> None:
        for partition, records in list(self._held_back.items()):
            remaining = self._by_changelog[partition].update(partition, records)
            if remaining:
                self._held_back[partition] = remaining
            else:
                del self._held_back[partition]
                self._consumer.resume([partition])

    def commit_all(self) -> None:
        """Write the checkpoints of all tasks, and ask what the active tasks have committed."""
        for task in self.following.values():
            task.commit()
        self._limits_are_new = True

    # ── the end ───────────────────────────────────────────────────────────────────────────────────────────────────

    def close(self, clean: bool) -> None:
        """Close all tasks; with a checkpoint if ``clean``."""
        self.suspend()
        for task in self._suspended.values():
            self._close(task, clean)
        self._suspended.clear()

    @staticmethod
    def _close(task: StandbyTask, clean: bool) -> None:
        try:
            if clean:
                task.flush_state()
        except (KafkaError, OSError):
            logger.exception("Failed to flush standby task %s", task.id)
            clean = False
        try:
            task.close_state_manager(write_checkpoint=clean)
        except (KafkaError, OSError):
            logger.exception("Failed to close standby task %s", task.id)
