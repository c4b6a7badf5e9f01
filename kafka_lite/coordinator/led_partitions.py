"""The partitions of a coordinator's topic that this broker leads, each with what has been read from its log.

Kafka 4.1: coordinator-common/.../coordinator/common/runtime/CoordinatorRuntime.java (scheduleLoadOperation,
scheduleUnloadOperation) · book 7.2.3
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Generic, NamedTuple, TypeVar

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.group_loader import batches_of
from kafka_lite.coordinator.group.offsets_log import COMMIT_POLL_MS, LOAD_RETRY_MS, OffsetsLog, uncommitted_end
from kafka_lite.record.record_batch import RecordBatch

logger = logging.getLogger(__name__)

S = TypeVar("S")


class Led(NamedTuple, Generic[S]):
    """A partition that has been loaded."""

    leader_epoch: int
    state: S


class LedPartitions(Generic[S]):
    """Loads a partition when this broker becomes its leader, and forgets it when another one does.

    ::

        not led ── schedule_load ──▶ loading ──▶ served ── unload ──▶ not led
                                        │  ▲
                                        ╰──╯ until the log is committed, and there is memory for it

    NOT_COORDINATOR and COORDINATOR_LOAD_IN_PROGRESS are what clients get in the other two states. Appends of an earlier
    leadership of this very broker would follow records that they do not know of; so loading waits for their end.
    """

    def __init__(
        self,
        topic: str,
        log: OffsetsLog,
        load_buffer_size: int,
        new_state: Callable[[int], S],
        replay: Callable[[S, RecordBatch], None],
        scheduler: Scheduler,
        time: Time,
    ) -> None:
        """``new_state`` makes the empty state of a partition, to which ``replay`` applies one batch after another."""
        self._topic = topic
        self._log = log
        self._load_buffer_size = load_buffer_size
        self._new_state = new_state
        self._replay = replay
        self._scheduler = scheduler
        self._time = time
        self._changed = threading.Condition(threading.Lock())
        self._loading: dict[int, int] = {}
        """Leader epochs of the partitions that are being read."""
        self._led: dict[int, Led[S]] = {}
        self._appending: Counter[int] = Counter()
        """How many threads are appending to each partition."""
        self._is_closed = threading.Event()

    def get(self, partition: int) -> S:
        """The state of a partition. Raises NOT_COORDINATOR or COORDINATOR_LOAD_IN_PROGRESS."""
        with self._changed:
            if partition in self._loading:
                raise Errors.COORDINATOR_LOAD_IN_PROGRESS.exception()
            led = self._led.get(partition)
        if led is None:
            raise Errors.NOT_COORDINATOR.exception()
        return led.state

    def all(self) -> dict[int, S]:
        """All partitions that are served."""
        with self._changed:
            return {partition: led.state for partition, led in self._led.items()}

    @property
    def is_loading(self) -> bool:
        """Whether any partition is being read."""
        return bool(self._loading)

    def close(self) -> None:
        """Stop loading."""
        self._is_closed.set()

    @contextlib.contextmanager
    def appending(self, partition: int, state: S) -> Iterator[bool]:
        """Whether a partition still has this state, so that its records may be appended inside of this context."""
        with self._changed:
            led = self._led.get(partition)
            is_current = led is not None and led.state is state
            self._appending[partition] += is_current
        try:
            yield is_current
        finally:
            with self._changed:
                self._appending[partition] -= is_current
                self._changed.notify_all()

    # ── coming and going ──────────────────────────────────────────────────────────────────────────────────────────

    def schedule_load(self, partition: int, leader_epoch: int) -> None:
        """Load a partition that this broker now leads, in the background.

        If this broker has led it before, and only its epoch was raised, nothing changes.
        """
        with self._changed:
            if partition in self._led or partition in self._loading:
                return
            self._loading[partition] = leader_epoch
        self._schedule(partition, leader_epoch, None, 0)

    def _schedule(self, partition: int, leader_epoch: int, end: int | None, delay_ms: int) -> None:
        self._scheduler.schedule(
            f"load-{self._topic}-{partition}", lambda: self._load(partition, leader_epoch, end), delay_ms
        )

    def _load(self, partition: int, leader_epoch: int, end: int | None) -> None:
        """Load and serve a partition once its log is committed (``uncommitted_end``, which has returned ``end``)."""
        if self._is_closed.is_set() or self._loading.get(partition) != leader_epoch:
            return
        topic_partition = TopicPartition(self._topic, partition)
        awaited = uncommitted_end(self._log, topic_partition, end)
        if awaited is not None:
            self._schedule(partition, leader_epoch, awaited, COMMIT_POLL_MS)
            return
        with self._changed:
            self._changed.wait_for(lambda: not self._appending[partition])
        start_ms = self._time.hi_res_ms()
        try:
            state = self._read(topic_partition)
        except MemoryError:
            logger.warning("No memory to load %s: trying again", topic_partition)
            self._schedule(partition, leader_epoch, awaited, LOAD_RETRY_MS)
            return
        except Exception:
            # Nothing of it is served: with a part of the records, an old leader could pass for the newest.
            logger.exception("Error loading %s", topic_partition)
            state = None
        with self._changed:
            if self._is_closed.is_set() or self._loading.get(partition) != leader_epoch:
                return
            del self._loading[partition]
            if state is not None:
                self._led[partition] = Led(leader_epoch, state)
        logger.info("Finished loading %s in %d ms", topic_partition, self._time.hi_res_ms() - start_ms)

    def _read(self, topic_partition: TopicPartition) -> S | None:
        try:
            _, _, log = self._log.get_leader_log(topic_partition)
        except ApiError as gone:  # it moved to another broker, or was deleted, before this task ran
            logger.warning("%s is not loaded: %s", topic_partition, gone)
            return None
        state = self._new_state(topic_partition.partition)
        for batch in batches_of(log, self._load_buffer_size):
            if self._is_closed.is_set():
                return None
            self._replay(state, batch)
        return state

    def unload(self, partition: int, leader_epoch: int | None) -> S | None:
        """Forget a partition that another broker now leads; returns its state, if it was served.

        None as epoch: whatever epoch it has here. An older epoch than that changes nothing.
        """
        with self._changed:
            if leader_epoch is None or self._loading.get(partition, leader_epoch) <= leader_epoch:
                self._loading.pop(partition, None)
            led = self._led.get(partition)
            if led is None or (leader_epoch is not None and led.leader_epoch > leader_epoch):
                return None
            return self._led.pop(partition).state
