"""The leader's changes of ISRs: written to ZooKeeper one after the other, propagated to the controller in batches.

Kafka 0.10.2: core/.../utils/ReplicationUtils.scala (updateLeaderAndIsr), server/ReplicaManager.scala
(recordIsrChange, maybePropagateIsrChanges) · book 6.2.2, 7.1.3
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Collection
from functools import partial
from typing import Protocol

from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.zookeeper.data import LeaderIsrAndControllerEpoch

logger = logging.getLogger(__name__)

PROPAGATION_CHECK_MS = 2_500
PROPAGATION_BLACKOUT_MS = 5_000
PROPAGATION_INTERVAL_MS = 60_000
WRITE_RETRY_MS = 1_000


class IsrStore(Protocol):
    """The znodes that a leader writes."""

    def update_partition_state(self, partition: TopicPartition, state: LeaderIsrAndControllerEpoch) -> int | None:
        """Write leader and ISR if the znode still has their version. Returns the new version, or None."""
        ...

    def propagate_isr_changes(self, partitions: Collection[TopicPartition]) -> None:
        """Notify the controller."""
        ...


class IsrChanges:
    """Writes ISRs, and notifies the controller of them in batches.

    A broker that restarts changes the ISRs of thousands of partitions within seconds. So changes are collected until
    there has been none for five seconds, but for at most a minute.

    With a scheduler the writes are made in one of its threads::

        network thread: a follower catches up ─┐
        scheduler: a follower lags ────────────┴─▶ submit ─▶ queue ─▶ scheduler ("isr-update") ─▶ ZooKeeper

    The thread that asks holds the lock of a partition and may be one of the network: neither must wait for ZooKeeper.
    One thread at a time writes, so that a slow ZooKeeper leaves the scheduler its other threads.
    """

    def __init__(self, store: IsrStore, time: Time, scheduler: Scheduler | None = None) -> None:
        """Without a ``scheduler``, as in recorded runs, the thread that asks writes."""
        self._store = store
        self._scheduler = scheduler
        self._writes: deque[tuple[Callable[[], bool], Callable[[], None]]] = deque()
        self._is_writing = False
        self._time = time
        self._lock = threading.Lock()
        self._pending: set[TopicPartition] = set()
        self._last_change_ms = self._last_propagation_ms = time.hi_res_ms()

    def update(self, topic_partition: TopicPartition, state: LeaderIsrAndControllerEpoch) -> int | None:
        """Write an ISR; see ``UpdateIsr``."""
        version = self._store.update_partition_state(topic_partition, state)
        if version is not None:
            with self._lock:
                self._pending.add(topic_partition)
                self._last_change_ms = self._time.hi_res_ms()
        return version

    def submit(self, write: Callable[[], bool], then: Callable[[], None]) -> bool:
        """Call ``write`` now and return what it returns; or soon, in a thread of the scheduler, and return False.

        In the latter case ``then`` is called if ``write`` has returned true.
        """
        if self._scheduler is None:
            return write()
        self._enqueue(self._scheduler, write, then)
        return False

    def _enqueue(self, scheduler: Scheduler, write: Callable[[], bool], then: Callable[[], None]) -> None:
        with self._lock:
            self._writes.append((write, then))
            if self._is_writing:
                return
            self._is_writing = True
        scheduler.schedule("isr-update", partial(self._write_all, scheduler))

    def _write_all(self, scheduler: Scheduler) -> None:
        while True:
            with self._lock:
                if not self._writes:
                    self._is_writing = False
                    return
                write, then = self._writes.popleft()
            try:
                if write():
                    then()
            except Exception:
                # The others must not suffer. This one is repeated until it is known what ZooKeeper has.
                logger.exception("Error while writing an ISR, which will be repeated")
                scheduler.schedule("isr-update", partial(self._enqueue, scheduler, write, then), WRITE_RETRY_MS)

    def maybe_propagate(self) -> None:
        """Notify the controller if a batch is due. Runs every ``PROPAGATION_CHECK_MS``."""
        now_ms = self._time.hi_res_ms()
        with self._lock:
            is_quiet = self._last_change_ms + PROPAGATION_BLACKOUT_MS < now_ms
            is_overdue = self._last_propagation_ms + PROPAGATION_INTERVAL_MS < now_ms
            if not self._pending or not (is_quiet or is_overdue):
                return
            changed, self._pending = self._pending, set()
            self._last_propagation_ms = now_ms
        try:
            self._store.propagate_isr_changes(sorted(changed))
        except Exception:
            with self._lock:
                self._pending |= changed
            raise
