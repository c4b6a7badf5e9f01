"""A thread of an application: a member of its group, with the tasks that it was assigned.

Kafka 0.10.2: streams/.../processor/internals/StreamThread.java · book 9.1.3
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Mapping
from uuid import UUID

from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import InvalidOffsetError
from kafka_lite.consumer.consumer_rebalance_listener import ConsumerRebalanceListener
from kafka_lite.consumer.consumer_record import EMPTY_RECORDS, ConsumerRecords
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.streams.assignment.internal_topic_manager import InternalTopicManager
from kafka_lite.streams.assignment.stream_partition_assignor import StreamsAssignorContext
from kafka_lite.streams.assignment.streams_kafka_client import StreamsKafkaClient
from kafka_lite.streams.errors import InvalidStateStoreError, StreamsError, TaskCorruptedError, TaskMigratedError
from kafka_lite.streams.kafka_client_supplier import KafkaClientSupplier
from kafka_lite.streams.metrics.stream_thread_metrics import StreamThreadMetrics
from kafka_lite.streams.processor.state_store import StateStore
from kafka_lite.streams.processor.topology_builder import AutoOffsetReset, TopologyBuilder
from kafka_lite.streams.record_cache.thread_cache import ThreadCache
from kafka_lite.streams.state.host_info import HostInfo
from kafka_lite.streams.streams_config import StreamsConfig
from kafka_lite.streams.tasks.standby_tasks import StandbyTasks
from kafka_lite.streams.tasks.state_directory import StateDirectory
from kafka_lite.streams.tasks.task_creators import (
    ActiveTaskCreator,
    StandbyTaskCreator,
    TaskParts,
)
from kafka_lite.streams.tasks.task_manager import TaskManager
from kafka_lite.streams.tasks.thread_producer import ThreadProducer
from kafka_lite.streams.tasks.thread_task_manager import ThreadTaskManager
from kafka_lite.streams.threads.stream_thread_state import VALID_PREVIOUS_STATES, StreamThreadState

logger = logging.getLogger(__name__)

RECORDS_PER_TURN = 50
"""So many records each task may process between two polls."""

ThreadStateListener = Callable[["StreamThread", StreamThreadState, StreamThreadState], None]
"""Called in the thread with itself, the new and the old state."""


class StreamThread(ShutdownableThread):
    """A consumer of the group, a consumer for restoring, a producer, and the tasks that share them.

    One turn of its loop::

        poll ─▶ add the records to their tasks ─▶ each task: process records · punctuate · commit if requested
         ▲                                                                                  │
         └─ commit all every commit.interval.ms · update standby tasks · delete directories of moved tasks ◀─┘

    It polls only if a task has room for records, and waits in it (``poll.ms``) only if no record can be processed. A
    turn processes up to fifty records of each task, or for ``poll.ms``, since a poll takes as long as several records.
    (0.10.2 polls after each record; later Kafka also processes many of a task between two polls.)

    With ``processing.guarantee=exactly_once`` (Kafka 0.11) each task has a transactional producer of its own, with
    ``exactly_once_v2`` (Kafka 2.6) the thread has one for all of its tasks.
    """

    def __init__(
        self,
        name: str,
        builder: TopologyBuilder,
        config: StreamsConfig,
        client_id: str,
        process_id: UUID,
        on_state_change: ThreadStateListener,
        on_error: Callable[[threading.Thread, Exception], None],
        time: Time,
        global_stores: Mapping[str, StateStore],
        cache_size_bytes: int,
        on_hosts: Callable[[Mapping[HostInfo, frozenset[TopicPartition]]], None],
        metrics: Metrics,
        clients: KafkaClientSupplier,
    ) -> None:
        """Create the clients. Raises ConfigError. ``on_error`` is called in the thread when it dies of an error.

        ``cache_size_bytes`` limits the record caches of all its tasks together.
        """
        super().__init__(name)
        self._builder, self._config, self._time = builder, config, time
        self._on_state_change, self._on_error = on_state_change, on_error
        self._state_lock = threading.Lock()
        self._state = StreamThreadState.CREATED
        self._directory = StateDirectory(config.application_id, config["state.dir"], time)
        self._thread_client_id = f"{client_id}-{name}"
        self._metrics = StreamThreadMetrics(metrics, self._thread_client_id, time)
        self._cache = ThreadCache(self._thread_client_id, cache_size_bytes, self._metrics)
        self._context = self._new_context(client_id, process_id, on_hosts)
        self._create_clients(clients, process_id, global_stores)
        self._rebalance_error: Exception | None = None
        self._generation = self._context.generation
        """The generation of the group that the tasks are from."""
        self._records_wait = False
        self._poll_ms, self._commit_interval_ms = config["poll.ms"], config["commit.interval.ms"]
        self._last_commit_ms = time.hi_res_ms()
        self._cleanup_delay_ms = config["state.cleanup.delay.ms"]
        self._last_clean_ms: float | None = None
        """None during rebalances: tasks whose directories look unused may be about to come back."""
        self._is_subscribed = False
        self._clean_run = True

    def _create_clients(
        self, clients: KafkaClientSupplier, process_id: UUID, global_stores: Mapping[str, StateStore]
    ) -> None:
        """Create the clients, and what makes tasks with them. Raises ConfigError."""
        config, client_id = self._config, self._thread_client_id
        has_resets = self._builder.has_offset_resets
        self._consumer = clients.get_consumer(config.consumer_configs(client_id, self._context, has_resets))
        self._restore_consumer = clients.get_restore_consumer(config.restore_consumer_configs(client_id))
        self._ends_consumer: KafkaConsumer | None = None
        if config.is_exactly_once_v2:
            self._ends_consumer = clients.get_restore_consumer(config.ends_consumer_configs(client_id))
        self._producer = self._new_producer(clients, process_id)  # last: it starts a thread
        parts = TaskParts(
            self.name,
            self._builder,
            config,
            self._directory,
            self._consumer,
            self._restore_consumer,
            self._ends_consumer,
            self._metrics,
            self._cache,
            global_stores,
            self._time,
        )
        active = ActiveTaskCreator(parts, clients, client_id, self._producer)
        self._tasks = self._new_task_manager(active, StandbyTaskCreator(parts))

    def _new_producer(self, clients: KafkaClientSupplier, process_id: UUID) -> KafkaProducer | ThreadProducer | None:
        """The producer of all tasks; None with ``exactly_once``."""
        if not self._config.is_exactly_once:
            return clients.get_producer(self._config.producer_configs(self._thread_client_id))
        if not self._config.is_exactly_once_v2:
            return None
        configs = self._config.thread_producer_configs(self._thread_client_id, process_id, self.name)
        return ThreadProducer(lambda: clients.get_producer(configs), self.name, lambda: self._consumer.group_metadata())

    def _new_task_manager(self, active: ActiveTaskCreator, standby: StandbyTaskCreator) -> TaskManager:
        standbys = StandbyTasks(standby.create, self._restore_consumer, self._time)
        if isinstance(self._producer, ThreadProducer):
            return ThreadTaskManager(active.create, standbys, self._producer, self._time, self._metrics)
        return TaskManager(active.create, standbys, self._time, self._metrics)

    def _new_context(
        self, client_id: str, process_id: UUID, on_hosts: Callable[[Mapping[HostInfo, frozenset[TopicPartition]]], None]
    ) -> StreamsAssignorContext:
        config = self._config
        retention_ms = config["windowstore.changelog.additional.retention.ms"]
        client = StreamsKafkaClient(config.admin_configs(client_id), retention_ms)
        return StreamsAssignorContext(
            self._builder,
            process_id,
            config.partition_grouper(),
            InternalTopicManager(client, config["replication.factor"], self._time),
            prev_tasks=lambda: self._tasks.prev_tasks,
            cached_tasks=lambda: self._directory.cached_tasks() | self._tasks.standbys.ids,
            num_standby_replicas=config["num.standby.replicas"],
            user_end_point=config["application.server"] or None,
            on_hosts=on_hosts,
        )

    def stores_of(self, name: str) -> list[StateStore]:
        """For queries of other threads: the stores of a name in the active tasks.

        Raises InvalidStateStoreError while the thread rebalances, or after its end.
        """
        if self._state is not StreamThreadState.RUNNING:
            raise InvalidStateStoreError(
                f"the state store, {name}, is currently unavailable: stream-thread [{self.name}] is {self._state.name}"
            )
        stores = (task.store(name) for task in list(self._tasks.active.values()))
        return [store for store in stores if store is not None]

    # ── states ────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def state(self) -> StreamThreadState:
        """The current state."""
        return self._state

    def _set_state(self, state: StreamThreadState) -> None:
        """Raises RuntimeError for a change that is not in the table. A thread that ends only gets DEAD."""
        with self._state_lock:
            old = self._state
            if old in (StreamThreadState.PENDING_SHUTDOWN, StreamThreadState.DEAD) and state != StreamThreadState.DEAD:
                return
            if old not in VALID_PREVIOUS_STATES[state]:
                raise RuntimeError(f"stream-thread [{self.name}] Unexpected state transition from {old} to {state}")
            logger.info("stream-thread [%s] State transition from %s to %s", self.name, old.name, state.name)
            self._state = state
        self._on_state_change(self, state, old)

    # ── the loop ──────────────────────────────────────────────────────────────────────────────────────────────────

    def run(self) -> None:
        """Run the loop. An error ends the thread; it is passed to ``on_error`` after everything is closed.

        A shutdown is noticed after the current ``poll.ms``: a wakeup might interrupt the commit instead.
        """
        failure: Exception | None = None
        try:
            while self.is_running:
                try:
                    self.do_work()
                except (TaskMigratedError, TaskCorruptedError) as error:
                    self._rejoin_without(error)
        except Exception as error:
            # An error of Streams that has no cause says all: topics that do not exist, for example.
            trace = not isinstance(error, StreamsError) or error.__cause__ is not None
            text = "stream-thread [%s] Streams application error during processing: %s"
            logger.error(text, self.name, error, exc_info=trace)
            self._clean_run = False
            failure = error
        finally:
            self._stopping.set()
            self.on_exit()
        if failure is not None:
            self._on_error(self, failure)

    def _rejoin_without(self, error: TaskMigratedError | TaskCorruptedError) -> None:
        """Drop a task that another thread has by now: the group has rebalanced without this thread.

        With ``exactly_once_v2``, all tasks are dropped, since their transaction is aborted.
        """
        logger.warning("stream-thread [%s] Rejoining the group: %s", self.name, error)
        self._tasks.close_migrated(error.task_id)
        self._consumer.unsubscribe()
        self._consumer.subscribe(self._builder.source_topic_pattern(), _Rebalances(self))

    def do_work(self) -> None:
        """One turn of the loop."""
        if not self._is_subscribed:
            self._set_state(StreamThreadState.RUNNING)
            self._consumer.subscribe(self._builder.source_topic_pattern(), _Rebalances(self))
            self._is_subscribed = True
        if not self._records_wait or self._tasks.requires_poll:
            self._add_records(self._poll())
            self._tasks.update_lags()
            self._tasks.standbys.maybe_update()
            self._records_wait = self._tasks.num_buffered > 0
        if self._records_wait:
            self._records_wait = self._tasks.process(RECORDS_PER_TURN, self._poll_ms) > 0
        now_ms = self._time.hi_res_ms()
        self._maybe_commit(now_ms)
        self._maybe_clean(now_ms)

    def _poll(self) -> ConsumerRecords:
        """The next records. Raises StreamsError if a rebalance has failed."""
        start_ms = self._time.hi_res_ms()
        try:
            records = self._consumer.poll(0 if self._records_wait else self._poll_ms)
        except InvalidOffsetError as error:
            self._reset_invalid_offsets(error)
            records = EMPTY_RECORDS
        if self._rebalance_error is not None:
            raise StreamsError(f"stream-thread [{self.name}] Failed to rebalance") from self._rebalance_error
        if not self._records_wait:  # as Kafka: only where it may wait
            now_ms = self._time.hi_res_ms()
            self._metrics.poll.record(now_ms - start_ms)
            self._metrics.process.record(now_ms)
        return records

    def _add_records(self, records: ConsumerRecords) -> None:
        for partition in records.partitions:
            polled = records.records(partition)
            added = self._tasks.task_of(partition).add_records(partition, polled)
            if added < len(polled):
                self._metrics.skipped_records.record(len(polled) - added)

    def _maybe_commit(self, now_ms: float) -> None:
        interval_ms = self._commit_interval_ms
        if 0 <= interval_ms < now_ms - self._last_commit_ms:
            logger.debug("stream-thread [%s] Committing all tasks after %d ms", self.name, interval_ms)
            self._tasks.commit_all()
            # Not now_ms: commits that take longer than the interval would leave time for one record between two.
            self._last_commit_ms = self._time.hi_res_ms()

    def _maybe_clean(self, now_ms: float) -> None:
        if self._last_clean_ms is not None and now_ms - self._last_clean_ms > self._cleanup_delay_ms:
            self._directory.clean_removed_tasks()
            self._last_clean_ms = now_ms

    def _reset_invalid_offsets(self, error: InvalidOffsetError) -> None:
        """Begin where the source says, or else ``auto.offset.reset``. Raises StreamsError if neither does."""
        original = self._config.auto_offset_reset
        for partition in error.partitions:
            reset = self._builder.reset_of(partition.topic)
            policy = reset.value if reset is not None else original
            if policy == AutoOffsetReset.EARLIEST.value:
                self._consumer.seek_to_beginning([partition])
            elif policy == AutoOffsetReset.LATEST.value:
                self._consumer.seek_to_end([partition])
            else:
                raise StreamsError(
                    f"No valid committed offset found for input topic {partition.topic} (partition "
                    f"{partition.partition}) and no valid reset policy configured. You need to set configuration "
                    'parameter "auto.offset.reset" or specify a topic specific reset policy'
                ) from error

    # ── rebalances ────────────────────────────────────────────────────────────────────────────────────────────────

    def partitions_revoked(self, lost: bool) -> None:
        """Suspend all tasks. ``lost``: the partitions belong to other members already, so nothing can be committed."""
        self._last_clean_ms = None
        with self._kept_error():
            self._set_state(StreamThreadState.PARTITIONS_REVOKED)
            self._tasks.suspend(commit=not lost)

    def partitions_assigned(self) -> None:
        """Make the assigned tasks ready."""
        with self._kept_error():
            self._set_state(StreamThreadState.ASSIGNING_PARTITIONS)
            if self._context.generation not in (self._generation, self._generation + 1):
                self._tasks.close_suspended()  # in a generation between, other members may have had their partitions
            self._generation = self._context.generation
            self._tasks.assign(self._context.active_tasks, self._context.standby_tasks)
            self._last_clean_ms = self._time.hi_res_ms()
            self._set_state(StreamThreadState.RUNNING)

    def _kept_error(self) -> _KeptError:
        return _KeptError(self._keep_error)

    def _keep_error(self, error: Exception) -> None:
        self._rebalance_error = error

    # ── the end ───────────────────────────────────────────────────────────────────────────────────────────────────

    def on_exit(self) -> None:
        """Close the tasks, then the clients."""
        self._set_state(StreamThreadState.PENDING_SHUTDOWN)
        self._tasks.close(clean=self._clean_run)
        for client in (self._producer, self._consumer, self._restore_consumer, self._ends_consumer):
            try:
                if client is not None:
                    client.close()
            except Exception:
                logger.exception("stream-thread [%s] Failed to close a client", self.name)
        self._metrics.close()
        self._set_state(StreamThreadState.DEAD)

    def close_unstarted(self) -> None:
        """Close the clients of a thread that was never started."""
        self._stopping.set()
        self.on_exit()


class _KeptError:
    """Keeps an error of the rebalance listener for the thread, and passes it on to the consumer."""

    def __init__(self, keep: Callable[[Exception], None]) -> None:
        self._keep = keep

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, Exception):
            self._keep(error)


class _Rebalances(ConsumerRebalanceListener):
    """Tells the thread of rebalances."""

    def __init__(self, thread: StreamThread) -> None:
        self._thread = thread

    def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:  # noqa: ARG002
        self._thread.partitions_revoked(lost=False)

    def on_partitions_lost(self, partitions: Collection[TopicPartition]) -> None:  # noqa: ARG002
        self._thread.partitions_revoked(lost=True)

    def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:  # noqa: ARG002
        self._thread.partitions_assigned()
