"""All partitions of this broker: appends, fetches, in-sync replicas.

Kafka 0.10.2: core/.../server/ReplicaManager.scala · book 6.2.1
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final

from kafka_lite.cluster.isr_writes import IsrChange
from kafka_lite.cluster.partition import Partition
from kafka_lite.cluster.replica import Replica
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.purgatory.delayed_operation import DelayedOperationPurgatory
from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.sendable import Buffer
from kafka_lite.common.time import Time
from kafka_lite.common.topic_names import is_internal
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.log import Log
from kafka_lite.log.log_manager import LogManager
from kafka_lite.log.producers.verification_state_entry import VerificationGuard
from kafka_lite.log.validation.prepared_records import MIN_PREPARED_BYTES, PreparedRecords, prepare
from kafka_lite.log.validation.record_validation_error import RecordValidationError
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.server.delayed_fetch import DelayedFetch, DelayedFetchPurgatory
from kafka_lite.server.delayed_produce import DelayedProduce
from kafka_lite.server.fetch_params import FetchParams, FetchPartition, LogReadResult, unknown_last
from kafka_lite.server.high_watermark_checkpoints import HighWatermarkCheckpoints
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.metrics.replica_manager_metrics import ReplicaManagerMetrics
from kafka_lite.server.missing_logs import MissingLogs
from kafka_lite.server.produce_status import PartitionResponse, ProducePartitionStatus, check_acks
from kafka_lite.server.quotas.quota_factory import QuotaManagers
from kafka_lite.server.reading.log_reader import LogReader
from kafka_lite.server.reading.read_replica_finder import ReadReplicaFinder
from kafka_lite.server.reading.replica_selector import CLASS_NAME as SELECTOR_CLASS
from kafka_lite.server.reading.replica_selector import load_replica_selector
from kafka_lite.server.replication.isr_changes import PROPAGATION_CHECK_MS, IsrChanges
from kafka_lite.server.replication.replica_alter_log_dirs import ReplicaAlterLogDirsManager
from kafka_lite.server.replication.replica_fetcher_manager import ReplicaFetcherManager
from kafka_lite.zookeeper.data import LeaderIsrAndControllerEpoch

logger = logging.getLogger(__name__)

_NO_ERROR: Final = Errors.NONE  # looked up once: Python 3.11 takes as long as a call for that

NO_GUARDS: Final[Mapping[TopicPartition, VerificationGuard]] = MappingProxyType({})

ProduceCallback = Callable[[dict[TopicPartition, PartitionResponse]], None]
FetchCallback = Callable[[list[tuple[TopicPartition, LogReadResult]]], None]


class ReplicaManager:
    """Connects the request handlers with the partitions and their logs.

    Reads and appends of different partitions run in parallel. ``ReplicaStateChanges`` executes the controller's
    requests, one at a time: it alone calls ``host``, ``stop_hosting`` and ``mark_offline``.
    """

    def __init__(
        self,
        config: KafkaConfig,
        log_manager: LogManager,
        scheduler: Scheduler,
        time: Time,
        running_time: Time,
        registry: MetricsRegistry,
        isr_changes: IsrChanges,
        quotas: QuotaManagers,
        metadata_cache: MetadataCache,
    ) -> None:
        """``running_time`` is for the purgatories, whose threads need a clock that advances by itself."""
        self.config = config
        self._metadata_cache = metadata_cache
        self.quotas = quotas
        self.log_manager = log_manager
        self._scheduler = scheduler
        self._time = time
        self._partitions: dict[TopicPartition, Partition] = {}
        self._offline: frozenset[TopicPartition] = frozenset()
        self.missing_logs = MissingLogs()
        self.high_watermark_checkpoints = HighWatermarkCheckpoints(
            log_manager, scheduler, config.replica_high_watermark_checkpoint_interval_ms, lambda: self.partitions
        )
        self.delayed_produce_purgatory: DelayedOperationPurgatory[DelayedProduce] = DelayedOperationPurgatory(
            "Produce",
            broker_id=config.broker_id,
            purge_interval=config.producer_purgatory_purge_interval_requests,
            time=running_time,
        )
        self.partition_listeners: list[Callable[[TopicPartition], None]] = []
        """Called when a partition's high watermark has moved, or its leader is another one."""
        self.delayed_fetch_purgatory = DelayedFetchPurgatory(
            broker_id=config.broker_id,
            purge_interval=config.fetch_purgatory_purge_interval_requests,
            time=running_time,
        )
        self._isr_changes = isr_changes
        self.fetchers = self._new_fetchers(registry, running_time)
        self.log_dir_moves = self._new_log_dir_moves(running_time)
        self._log_reader = self._new_log_reader()
        self.metrics = ReplicaManagerMetrics(registry, time, lambda: self.partitions, config.transaction_max_timeout_ms)
        self.metrics.measure_purgatories(self.delayed_produce_purgatory, self.delayed_fetch_purgatory)
        self.broker_topic_stats = self.metrics.measure_topics(lambda tp: tp in self._partitions)

    def _new_fetchers(self, registry: MetricsRegistry, time: Time) -> ReplicaFetcherManager:
        return ReplicaFetcherManager(
            self.config.replica_fetch_config(),
            self.config.num_replica_fetchers,
            self.get_partition,
            self.log_manager,
            registry=registry,
            time=time,
            quota=self.quotas.follower,
            on_high_watermark=self.complete_delayed_requests,
        )

    def _new_log_dir_moves(self, time: Time) -> ReplicaAlterLogDirsManager:
        return ReplicaAlterLogDirsManager(
            self.log_manager,
            self.get_partition,
            self.is_offline,
            self.complete_delayed_requests,
            time,
            self.quotas.alter_log_dirs,
        )

    def _new_log_reader(self) -> LogReader:
        selector = load_replica_selector(self.config.values[SELECTOR_CLASS], self.config.original)
        finder = None if selector is None else ReadReplicaFinder(selector, self._metadata_cache, self._time)
        return LogReader(
            self.get_leader_log, self.get_local_log, self.quotas.leader, self.complete_delayed_requests, finder
        )

    def startup(self) -> None:
        """Read the high watermarks of the last run; start watching the ISRs."""
        self.high_watermark_checkpoints.read()
        period_ms, propagate = self.config.replica_lag_time_max_ms / 2, self._isr_changes.maybe_propagate
        self._scheduler.schedule("isr-expiration", self.maybe_shrink_isrs, period_ms, period_ms)
        self._scheduler.schedule("isr-change-propagation", propagate, PROPAGATION_CHECK_MS, PROPAGATION_CHECK_MS)

    # ── partitions ────────────────────────────────────────────────────────────────────────────────────────────────

    def get_partition(self, topic_partition: TopicPartition) -> Partition | None:
        """The partition, if this broker holds a replica of it."""
        return self._partitions.get(topic_partition)

    def new_partition(self, topic_partition: TopicPartition, log_for: Callable[[TopicPartition], Log]) -> Partition:
        """A partition that this broker does not host yet; ``log_for`` creates or finds its log."""
        return Partition(
            topic_partition,
            self.config.broker_id,
            log_for,
            self.high_watermark_checkpoints.high_watermark,
            self._update_isr,
            self._time,
            self._submit_isr_write,
        )

    def host(self, partition: Partition) -> None:
        """Serve a partition from now on."""
        self._partitions[partition.topic_partition] = partition

    def stop_hosting(self, topic_partition: TopicPartition) -> None:
        """Do not serve a partition any more, if this broker has it."""
        self._partitions.pop(topic_partition, None)

    def mark_offline(self, topic_partitions: Iterable[TopicPartition]) -> None:
        """Do not serve these partitions until the broker restarts: their disk has failed."""
        lost = frozenset(topic_partitions)
        self._offline |= lost
        for topic_partition in lost:
            self.stop_hosting(topic_partition)

    def is_offline(self, topic_partition: TopicPartition) -> bool:
        """Whether the partition is marked offline."""
        return topic_partition in self._offline

    def has_been_told_of(self, topic_partition: TopicPartition) -> bool:
        """Whether the controller has assigned the partition to this broker, even if its log is missing or offline."""
        known = topic_partition in self._partitions or topic_partition in self._offline
        return known or self.missing_logs.reason(topic_partition) is not None

    @property
    def partitions(self) -> list[Partition]:
        """All partitions of which this broker holds a replica."""
        return list(self._partitions.values())

    def get_leader_partition(self, topic_partition: TopicPartition) -> Partition:
        """The partition, which this broker must lead.

        Raises UNKNOWN_TOPIC_OR_PARTITION if no broker is known to have it, NOT_LEADER_OR_FOLLOWER if only others have
        it or another one leads, KAFKA_STORAGE_ERROR if the disk of the replica has failed or has no space for its log.
        """
        partition = self._partitions.get(topic_partition)
        if partition is None:
            reason = self.missing_logs.reason(topic_partition)
            if reason is not None:
                raise Errors.KAFKA_STORAGE_ERROR.exception(reason)
            if topic_partition in self._offline:
                raise Errors.KAFKA_STORAGE_ERROR.exception(f"the disk with {topic_partition} has failed")
            if self._metadata_cache.get_partition_info(topic_partition) is not None:
                raise Errors.NOT_LEADER_OR_FOLLOWER.exception(f"other brokers have {topic_partition}")
            raise Errors.UNKNOWN_TOPIC_OR_PARTITION.exception(f"{topic_partition} is not on this broker")
        if partition.leader_replica_if_local is None:
            raise Errors.NOT_LEADER_OR_FOLLOWER.exception(f"this broker does not lead {topic_partition}")
        return partition

    def get_leader_log(self, topic_partition: TopicPartition, leader_epoch: int = -1) -> tuple[Partition, Replica, Log]:
        """A partition that this broker leads, its local replica and that replica's log.

        ``leader_epoch`` is the client's epoch (-1: unknown). Raises the errors of ``get_leader_partition``,
        FENCED_LEADER_EPOCH and UNKNOWN_LEADER_EPOCH.
        """
        partition = self.get_leader_partition(topic_partition)
        error = partition.check_leader_epoch(leader_epoch)
        if error is not _NO_ERROR:
            raise error.exception()
        leader = partition.leader_replica_if_local
        if leader is None:  # lost since get_leader_partition
            raise Errors.NOT_LEADER_OR_FOLLOWER.exception(f"this broker does not lead {topic_partition}")
        log = leader.log
        if log is None:
            raise Errors.KAFKA_STORAGE_ERROR.exception(f"the log of {topic_partition} is offline")
        return partition, leader, log

    def get_local_log(self, topic_partition: TopicPartition, leader_epoch: int = -1) -> tuple[Partition, Replica, Log]:
        """Like ``get_leader_log``, but a follower's log will do as well."""
        partition = self._partitions.get(topic_partition)
        replica = partition.get_replica() if partition is not None else None
        if partition is None or replica is None or replica.log is None:
            return self.get_leader_log(topic_partition, leader_epoch)  # which says what is wrong
        error = partition.check_leader_epoch(leader_epoch)
        if error is not _NO_ERROR:
            raise error.exception()
        return partition, replica, replica.log

    # ── produce ───────────────────────────────────────────────────────────────────────────────────────────────────

    def append_records(
        self,
        timeout_ms: int,
        required_acks: int,
        internal_topics_allowed: bool,
        entries: Mapping[TopicPartition, Buffer],
        respond: ProduceCallback,
        origin: AppendOrigin = AppendOrigin.CLIENT,
        verification_guards: Mapping[TopicPartition, VerificationGuard] = NO_GUARDS,
    ) -> None:
        """Append to the local logs. ``respond`` is called once: now, or when acks=all is satisfied or timed out.

        The first batch of a transaction in a partition needs a guard (see ``TransactionVerification``).
        """
        if required_acks not in (-1, 0, 1):
            respond({tp: PartitionResponse(Errors.INVALID_REQUIRED_ACKS) for tp in entries})
            return
        statuses: dict[TopicPartition, ProducePartitionStatus] = {}
        for tp, records in entries.items():
            guard = verification_guards.get(tp)
            statuses[tp] = self._append_to_local_log(tp, records, required_acks, internal_topics_allowed, origin, guard)
        self.broker_topic_stats.produced(entries, statuses)
        # Without other replicas in sync everything is committed by now.
        if required_acks == -1 and not check_acks(statuses, self.get_leader_partition):
            expired = self.metrics.produce_expired
            delayed = DelayedProduce(timeout_ms, statuses, self.get_leader_partition, respond, expired)
            self.delayed_produce_purgatory.try_complete_else_watch(delayed, list(statuses))
        else:
            respond({tp: status.response for tp, status in statuses.items()})

    def _append_to_local_log(
        self,
        topic_partition: TopicPartition,
        records: Buffer,
        required_acks: int,
        internal_topics_allowed: bool,
        origin: AppendOrigin,
        guard: VerificationGuard | None,
    ) -> ProducePartitionStatus:
        try:
            if is_internal(topic_partition.topic) and not internal_topics_allowed:
                raise Errors.INVALID_TOPIC_EXCEPTION.exception(
                    f"clients may not write to the internal topic {topic_partition.topic}"
                )
            partition = self.get_leader_partition(topic_partition)
            ready = self._prepared(records, partition, origin) if len(records) > MIN_PREPARED_BYTES else records
            info, high_watermark_moved = partition.append_records_to_leader(ready, required_acks, origin, guard)
        except ApiError as failure:
            logger.debug("Append to %s rejected: %s", topic_partition, failure)
            response = PartitionResponse(failure.error, error_message=str(failure))
            if isinstance(failure, RecordValidationError):
                response.record_errors = failure.record_errors
            return ProducePartitionStatus(-1, response)
        except Exception:
            # The client must learn of any error, and the other partitions of the request must not suffer.
            logger.exception("Error processing append operation on partition %s", topic_partition)
            return ProducePartitionStatus(-1, PartitionResponse(Errors.UNKNOWN_SERVER_ERROR))
        if high_watermark_moved:
            self.complete_delayed_requests(topic_partition)
        else:
            # Consumers must wait for the followers. Followers need not wait: the log has grown.
            self.delayed_fetch_purgatory.check_and_complete(topic_partition)
        response = PartitionResponse(_NO_ERROR, info.first_offset, info.log_append_time, info.log_start_offset)
        return ProducePartitionStatus(info.last_offset + 1, response, acks_pending=required_acks == -1)

    def _prepared(self, records: Buffer, partition: Partition, origin: AppendOrigin) -> Buffer | PreparedRecords:
        """Records that take long to validate are validated before the locks of the partition and its log are taken.

        The partition's followers and other producers would wait for the locks.
        """
        log = partition.log
        return records if log is None else prepare(records, log.config, self._time.milliseconds(), origin)

    def complete_delayed_requests(self, topic_partition: TopicPartition) -> None:
        """Complete requests that wait for the high watermark, which has moved, or for another leader."""
        self.delayed_fetch_purgatory.check_and_complete(topic_partition)
        self.delayed_produce_purgatory.check_and_complete(topic_partition)
        for listener in self.partition_listeners:
            listener(topic_partition)

    # ── fetch ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def fetch_messages(
        self,
        params: FetchParams,
        fetch_infos: list[tuple[TopicPartition, FetchPartition]],
        respond: FetchCallback,
    ) -> None:
        """Read, and respond at once if there is enough, there is an error, or the client does not want to wait."""
        results = self.read_from_local_logs(params, fetch_infos)
        read_bytes, has_news = 0, False
        for _, result in results:
            read_bytes += result.size_in_bytes
            has_news = has_news or result.is_news
        if params.max_wait_ms <= 0 or not fetch_infos or read_bytes >= params.min_bytes or has_news:
            respond(unknown_last(results) if has_news else results)
            return
        fetched_at = {
            tp: (asked, result.fetch_offset_metadata)
            for (tp, asked), (_, result) in zip(fetch_infos, results, strict=True)
            if result.fetch_offset_metadata is not None
        }
        delayed = DelayedFetch(
            params,
            fetched_at,
            self.get_partition,
            lambda: self.read_from_local_logs(params, fetch_infos),
            respond,
            self.metrics.fetch_expired,
            lambda partition: self._log_reader.should_leader_throttle(params, partition),
        )
        self.delayed_fetch_purgatory.try_complete_else_watch(delayed, list(fetched_at))

    def read_from_local_logs(
        self, params: FetchParams, fetch_infos: list[tuple[TopicPartition, FetchPartition]]
    ) -> list[tuple[TopicPartition, LogReadResult]]:
        """Read one partition after the other, up to ``max_bytes`` in total.

        The first message of the first partition that has one is returned whole, whatever its size, so that a consumer
        with small limits still makes progress (KIP-74). Old versions of the request do not have this guarantee.
        """
        results = []
        left_bytes = params.max_bytes
        min_one_message = not params.hard_max_bytes
        for topic_partition, asked in fetch_infos:
            result = self._log_reader.read(params, topic_partition, asked, left_bytes, min_one_message)
            self.broker_topic_stats.read(topic_partition, result.error)
            size = result.size_in_bytes
            min_one_message = min_one_message and size == 0
            left_bytes = max(0, left_bytes - size)
            results.append((topic_partition, result))
        return results

    # ── in-sync replicas ──────────────────────────────────────────────────────────────────────────────────────────

    def maybe_shrink_isrs(self) -> None:
        """Drop followers that have lagged for longer than ``replica.lag.time.max.ms`` from the ISRs."""
        for partition in self.partitions:
            if partition.maybe_shrink_isr(self.config.replica_lag_time_max_ms):
                self.complete_delayed_requests(partition.topic_partition)

    def _update_isr(
        self, topic_partition: TopicPartition, state: LeaderIsrAndControllerEpoch, change: IsrChange
    ) -> int | None:
        """Write an ISR, and count the change."""
        version = self._isr_changes.update(topic_partition, state)
        if version is not None:
            self.metrics.isr_changed(change)
        return version

    def _submit_isr_write(self, topic_partition: TopicPartition, write: Callable[[], bool]) -> bool:
        """Have an ISR written. A shrink may commit records, which the thread that asks for it does not see any more."""

        def after() -> None:
            partition = self._partitions.get(topic_partition)
            if partition is not None and partition.maybe_increment_high_watermark():
                self.complete_delayed_requests(topic_partition)

        return self._isr_changes.submit(write, after)

    # ── records that are deleted on request ───────────────────────────────────────────────────────────────────────

    def delete_records(self, topic_partition: TopicPartition, before_offset: int) -> int:
        """Move the log start offset up (-1: to the high watermark) and return it.

        Raises INVALID_TOPIC_EXCEPTION for internal topics, and the errors of ``get_leader_log`` and of the partition.
        """
        if is_internal(topic_partition.topic):
            message = f"{topic_partition.topic} is an internal topic; its records cannot be deleted"
            raise Errors.INVALID_TOPIC_EXCEPTION.exception(message)
        return self.delete_internal_records(topic_partition, before_offset)

    def delete_internal_records(self, topic_partition: TopicPartition, before_offset: int) -> int:
        """The same for a coordinator, which may delete the records of its own topic."""
        partition, _, _ = self.get_leader_log(topic_partition)
        return partition.delete_records_on_leader(before_offset)

    def shutdown(self) -> None:
        """Write the high watermarks for the next start. Waiting clients notice when their connections close."""
        self.fetchers.close_all_fetchers()
        self.log_dir_moves.shutdown()
        self.delayed_fetch_purgatory.shutdown()
        self.delayed_produce_purgatory.shutdown()
        self.high_watermark_checkpoints.shutdown()
