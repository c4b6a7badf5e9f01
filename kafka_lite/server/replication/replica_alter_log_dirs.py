"""Moves replicas between the log directories of this broker.

Kafka 1.1: core/.../server/ReplicaAlterLogDirsManager.scala, ReplicaAlterLogDirsThread.scala, ReplicaManager.scala
(alterReplicaLogDirs), KIP-113; 0.10 moves no logs · book 6.2.1
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from kafka_lite.cluster.partition import Partition
from kafka_lite.common.bounded_log import BoundedLog
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log_manager import LogManager
from kafka_lite.log.managing.future_logs import copy_next
from kafka_lite.server.quotas.replication_quota_manager import ReplicaQuota

logger = logging.getLogger(__name__)

RETRY_MS = 100
"""How long to wait before a copy that nearly caught up, or that failed, is continued."""

PartitionOf = Callable[[TopicPartition], Partition | None]


class ReplicaAlterLogDirsThread(ShutdownableThread):
    """Copies logs into other directories, a megabyte of each in turn, and lets complete copies replace them.

    Kafka has a fetcher thread that asks its own broker for the records. Here the thread reads the log itself.
    """

    def __init__(
        self,
        log_manager: LogManager,
        partition_of: PartitionOf,
        on_moved: Callable[[TopicPartition], None],
        time: Time,
        quota: ReplicaQuota,
    ) -> None:
        super().__init__("ReplicaAlterLogDirsThread")
        self._log_manager = log_manager
        self._partition_of = partition_of
        self._on_moved = on_moved
        self._time = time
        self._quota = quota
        self._woken = threading.Condition()

    def do_work(self) -> None:
        """Copy the next part of each log; wait if there is nothing to copy, or the quota is used up."""
        progress = False
        for copy in self._log_manager.future_logs.all():
            try:
                progress |= self._continue(copy.topic_partition)
            except (ApiError, ValueError, MemoryError) as error:  # ValueError: a file was closed meanwhile
                if self.is_running:
                    logger.warning("Cannot copy the log of %s at the moment: %r", copy.topic_partition, error)
        if not progress:
            with self._woken:
                if self.is_running:
                    self._time.wait(self._woken, RETRY_MS)

    def _continue(self, topic_partition: TopicPartition) -> bool:
        """Returns whether something was copied, or the move is complete."""
        manager = self._log_manager
        partition = self._partition_of(topic_partition)
        with manager.future_logs.lock:
            current, future = partition.log if partition is not None else None, manager.future_logs.get(topic_partition)
            if partition is None or current is None or future is None:
                return False  # its log is on a failed disk, or the controller has not yet assigned it to this broker
            if self._quota.is_quota_exceeded:
                return False
            if copied_bytes := copy_next(current, future):
                self._quota.record(copied_bytes)
                return True
        future.flush()  # before the other files are deleted, and without the lock
        with manager.future_logs.lock:
            moved = partition.maybe_replace_log(lambda: manager.replace_current_with_future_log(topic_partition))
        if moved:
            self._on_moved(topic_partition)
        return moved

    def wake_up(self) -> None:
        """End a wait."""
        with self._woken:
            self._woken.notify_all()


class ReplicaAlterLogDirsManager:
    """Starts moves, and the thread that copies with the first of them."""

    def __init__(
        self,
        log_manager: LogManager,
        partition_of: PartitionOf,
        is_offline: Callable[[TopicPartition], bool],
        on_moved: Callable[[TopicPartition], None],
        time: Time,
        quota: ReplicaQuota,
    ) -> None:
        """``on_moved`` is called after a log was replaced: its readers have positions in the old one."""
        self._log_manager = log_manager
        self._partition_of = partition_of
        self._is_offline = is_offline
        self._on_moved = on_moved
        self._time = time
        self._quota = quota
        self._lock = threading.Lock()
        self._thread: ReplicaAlterLogDirsThread | None = None
        self._is_shut_down = False

    def alter(self, path: str, topic_partitions: Iterable[TopicPartition]) -> dict[TopicPartition, Errors]:
        """Move the logs of partitions to the directory ``path``; returns before they are there.

        Errors: LOG_DIR_NOT_FOUND; KAFKA_STORAGE_ERROR if either directory is offline; REPLICA_NOT_AVAILABLE if this
        broker has no replica yet. Its log will then be created in that directory.
        """
        results = {}
        with BoundedLog(logger) as log:
            for topic_partition in topic_partitions:
                try:
                    self._alter(topic_partition, self._log_manager.dirs.find(path))
                    results[topic_partition] = Errors.NONE
                except ApiError as failure:
                    log.log(logging.INFO, "Cannot move %s to %s: %s", topic_partition, path, failure)
                    results[topic_partition] = failure.error
        return results

    def _alter(self, topic_partition: TopicPartition, directory: Path) -> None:
        manager = self._log_manager
        if self._is_offline(topic_partition):
            raise Errors.KAFKA_STORAGE_ERROR.exception(f"the disk with {topic_partition} has failed")
        partition = self._partition_of(topic_partition)
        current = partition.log if partition is not None else None
        if current is None:
            manager.dirs.prefer(topic_partition, directory)
            raise Errors.REPLICA_NOT_AVAILABLE.exception(f"{topic_partition} is not on this broker")
        with self._lock, manager.future_logs.lock:
            copy = manager.future_logs.get(topic_partition)
            if copy is not None and copy.dir.parent != directory:
                manager.remove_future_log(topic_partition)
                copy = None
            if copy is None and current.dir.parent != directory:
                manager.create_future_log(topic_partition, directory)
                logger.info("Moving the log of %s from %s to %s", topic_partition, current.parent_dir, directory)
        self.start_if_needed()

    def start_if_needed(self) -> None:
        """Start the thread if logs are to be copied, for instance those that a restart has interrupted."""
        with self._lock:
            if self._thread is None and self._log_manager.future_logs.all() and not self._is_shut_down:
                self._thread = ReplicaAlterLogDirsThread(
                    self._log_manager, self._partition_of, self._on_moved, self._time, self._quota
                )
                self._thread.start()
            elif self._thread is not None:
                self._thread.wake_up()

    def shutdown(self) -> None:
        """End the thread. The copies continue after the next start."""
        with self._lock:
            self._is_shut_down = True
        if self._thread is not None:
            self._thread.shutdown()
