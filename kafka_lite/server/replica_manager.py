"""All partitions of this broker: appends, fetches, and the controller's orders.

Kafka 0.10.2: core/.../server/ReplicaManager.scala · book 6.2.1
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

from kafka_lite.cluster.partition import Partition, PartitionState
from kafka_lite.cluster.replica import Replica
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.purgatory.delayed_operation import DelayedOperationPurgatory
from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.sendable import Buffer
from kafka_lite.common.state_change_logger import bracketed, state_change_logger
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_names import is_internal
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.initializing_logs import InitializingLogs
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_manager import LogManager
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.log.log_validator import RecordValidationError
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.protocol.messages.api_04_leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
)
from kafka_lite.protocol.messages.api_05_stop_replica import (
    StopReplicaPartitionError,
    StopReplicaRequest,
    StopReplicaResponse,
)
from kafka_lite.protocol.messages.api_06_update_metadata import UpdateMetadataRequest
from kafka_lite.server.delayed_fetch import DelayedFetch
from kafka_lite.server.delayed_produce import DelayedProduce
from kafka_lite.server.fetch_params import FetchParams, FetchPartition, LogReadResult
from kafka_lite.server.high_watermark_checkpoints import HighWatermarkCheckpoints
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.missing_logs import MissingLogs
from kafka_lite.server.produce_status import PartitionResponse, ProducePartitionStatus, check_acks
from kafka_lite.server.replica_manager_metrics import ReplicaManagerMetrics

logger = logging.getLogger(__name__)

_NO_ERROR: Final = Errors.NONE  # looked up once: Python 3.11 takes as long as a call for that

ProduceCallback = Callable[[dict[TopicPartition, PartitionResponse]], None]
FetchCallback = Callable[[list[tuple[TopicPartition, LogReadResult]]], None]
OnLeadershipChange = Callable[[list[Partition], list[Partition]], None]


class ReplicaManager:
    """Where request handlers, the controller's orders and the logs meet.

    Reads and appends of different partitions run in parallel. Only the controller's orders are carried out one at a
    time (``_state_change_lock``).
    """

    def __init__(
        self,
        config: KafkaConfig,
        log_manager: LogManager,
        topic_config: Callable[[str], LogConfig],
        scheduler: Scheduler,
        time: Time,
        running_time: Time = SYSTEM_TIME,  # for the purgatories, whose threads need a clock that advances by itself
        registry: MetricsRegistry | None = None,  # without it the metrics are not shown
    ) -> None:
        self.config = config
        self.log_manager = log_manager
        self.controller_epoch = 0
        self._initializing_logs = InitializingLogs(log_manager, topic_config)
        self._scheduler = scheduler
        self._time = time
        self._partitions: dict[TopicPartition, Partition] = {}
        self._offline: frozenset[TopicPartition] = frozenset()
        self.missing_logs = MissingLogs()
        self.takes_orders = True
        """Whether the controller's orders are still carried out: until the broker begins to stop."""
        self._state_change_lock = threading.RLock()
        self.high_watermark_checkpoints = HighWatermarkCheckpoints(
            log_manager, scheduler, config.replica_high_watermark_checkpoint_interval_ms, lambda: self.partitions
        )
        self.delayed_produce_purgatory: DelayedOperationPurgatory[DelayedProduce] = DelayedOperationPurgatory(
            "Produce",
            broker_id=config.broker_id,
            purge_interval=config.producer_purgatory_purge_interval_requests,
            time=running_time,
        )
        self.delayed_fetch_purgatory: DelayedOperationPurgatory[DelayedFetch] = DelayedOperationPurgatory(
            "Fetch",
            broker_id=config.broker_id,
            purge_interval=config.fetch_purgatory_purge_interval_requests,
            time=running_time,
        )
        self.metrics = ReplicaManagerMetrics(registry or MetricsRegistry(), time, lambda: self.partitions)
        self.metrics.measure_purgatories(self.delayed_produce_purgatory, self.delayed_fetch_purgatory)
        self.broker_topic_stats = self.metrics.measure_topics(lambda tp: tp in self._partitions)

    # ── partitions ────────────────────────────────────────────────────────────────────────────────────────────────

    def startup(self) -> None:
        """Read the high watermarks that the last run left."""
        self.high_watermark_checkpoints.read()

    def get_partition(self, topic_partition: TopicPartition) -> Partition | None:
        """The partition, if this broker holds a replica of it."""
        return self._partitions.get(topic_partition)

    def has_been_told_of(self, topic_partition: TopicPartition) -> bool:
        """Whether the controller has given the partition to this broker, even if its log is missing or offline."""
        known = topic_partition in self._partitions or topic_partition in self._offline
        return known or self.missing_logs.reason(topic_partition) is not None

    @property
    def partitions(self) -> list[Partition]:
        """All partitions of which this broker holds a replica."""
        return list(self._partitions.values())

    def get_leader_partition(self, topic_partition: TopicPartition) -> Partition:
        """The partition, which this broker must lead.

        Raises UNKNOWN_TOPIC_OR_PARTITION without a replica here, NOT_LEADER_OR_FOLLOWER if another broker leads,
        KAFKA_STORAGE_ERROR if the disk of the replica has failed, or has no room for its log.
        """
        partition = self._partitions.get(topic_partition)
        if partition is None:
            reason = self.missing_logs.reason(topic_partition)
            if reason is not None:
                raise Errors.KAFKA_STORAGE_ERROR.exception(reason)
            if topic_partition in self._offline:
                raise Errors.KAFKA_STORAGE_ERROR.exception(f"the disk with {topic_partition} has failed")
            raise Errors.UNKNOWN_TOPIC_OR_PARTITION.exception(f"{topic_partition} is not on this broker")
        if partition.leader_replica_if_local is None:
            raise Errors.NOT_LEADER_OR_FOLLOWER.exception(f"this broker does not lead {topic_partition}")
        return partition

    def get_leader_log(self, topic_partition: TopicPartition, leader_epoch: int = -1) -> tuple[Partition, Replica, Log]:
        """A partition that this broker leads, its local replica and that replica's log.

        ``leader_epoch`` is the epoch that the client knows (-1: it knows none). Raises what ``get_leader_partition``
        raises, FENCED_LEADER_EPOCH and UNKNOWN_LEADER_EPOCH.
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

    # ── produce ───────────────────────────────────────────────────────────────────────────────────────────────────

    def append_records(
        self,
        timeout_ms: int,
        required_acks: int,
        internal_topics_allowed: bool,
        entries: Mapping[TopicPartition, Buffer],
        respond: ProduceCallback,
    ) -> None:
        """Append to the local logs. ``respond`` is called once: now, or when acks=all is satisfied or timed out."""
        if required_acks not in (-1, 0, 1):
            respond({tp: PartitionResponse(Errors.INVALID_REQUIRED_ACKS) for tp in entries})
            return
        statuses: dict[TopicPartition, ProducePartitionStatus] = {}
        for tp, records in entries.items():
            statuses[tp] = self._append_to_local_log(tp, records, required_acks, internal_topics_allowed)
        self.broker_topic_stats.produced(entries, statuses)
        # Without other replicas in sync everything is committed by now.
        if required_acks == -1 and not check_acks(statuses, self.get_leader_partition):
            expired = self.metrics.produce_expired
            delayed = DelayedProduce(timeout_ms, statuses, self.get_leader_partition, respond, expired)
            self.delayed_produce_purgatory.try_complete_else_watch(delayed, list(statuses))
        else:
            respond({tp: status.response for tp, status in statuses.items()})

    def _append_to_local_log(
        self, topic_partition: TopicPartition, records: Buffer, required_acks: int, internal_topics_allowed: bool
    ) -> ProducePartitionStatus:
        try:
            if is_internal(topic_partition.topic) and not internal_topics_allowed:
                raise Errors.INVALID_TOPIC_EXCEPTION.exception(
                    f"clients may not write to the internal topic {topic_partition.topic}"
                )
            partition = self.get_leader_partition(topic_partition)
            info, high_watermark_moved = partition.append_records_to_leader(records, required_acks)
        except ApiError as failure:
            logger.debug("Append to %s refused: %s", topic_partition, failure)
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

    def complete_delayed_requests(self, topic_partition: TopicPartition) -> None:
        """The high watermark has moved, for which requests may be waiting."""
        self.delayed_fetch_purgatory.check_and_complete(topic_partition)
        self.delayed_produce_purgatory.check_and_complete(topic_partition)

    # ── fetch ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def fetch_messages(
        self,
        params: FetchParams,
        fetch_infos: list[tuple[TopicPartition, FetchPartition]],
        respond: FetchCallback,
    ) -> None:
        """Read, and respond at once if there is enough, there is an error, or the client does not want to wait."""
        results = self.read_from_local_logs(params, fetch_infos)
        read_bytes, failed = 0, False
        for _, result in results:
            read_bytes += result.size_in_bytes
            failed = failed or result.error is not _NO_ERROR
        if params.max_wait_ms <= 0 or not fetch_infos or read_bytes >= params.min_bytes or failed:
            respond(results)
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
        )
        self.delayed_fetch_purgatory.try_complete_else_watch(delayed, list(fetched_at))

    def read_from_local_logs(
        self, params: FetchParams, fetch_infos: list[tuple[TopicPartition, FetchPartition]]
    ) -> list[tuple[TopicPartition, LogReadResult]]:
        """Read one partition after the other, up to ``max_bytes`` in all.

        The first message of the first partition that has one is returned whole, whatever its size, so that a consumer
        with small limits still makes progress (KIP-74). Old versions of the request do without that.
        """
        results = []
        left_bytes = params.max_bytes
        min_one_message = not params.hard_max_bytes
        for topic_partition, asked in fetch_infos:
            result = self._read_from_local_log(params, topic_partition, asked, left_bytes, min_one_message)
            self.broker_topic_stats.read(topic_partition, result.error)
            size = result.size_in_bytes
            if size > 0:
                min_one_message = False
            left_bytes = max(0, left_bytes - size)
            results.append((topic_partition, result))
        return results

    def _read_from_local_log(
        self,
        params: FetchParams,
        topic_partition: TopicPartition,
        asked: FetchPartition,
        limit_bytes: int,
        min_one_message: bool,
    ) -> LogReadResult:
        try:
            partition, leader, log = self.get_leader_log(topic_partition, asked.current_leader_epoch)
        except ApiError as failure:
            return LogReadResult(failure.error)
        max_offset = partition.fetchable_end_offset(leader, params.from_follower)
        try:
            data = log.read(asked.fetch_offset, min(asked.max_bytes, limit_bytes), max_offset, min_one_message)
            if params.from_follower:
                self._note_follower_position(params.replica_id, partition, data.fetch_offset_metadata)
        except ApiError as failure:
            # As in Kafka without the log start offset, even if the offset is below it: the client uses ListOffsets.
            return LogReadResult(failure.error)
        except Exception:
            logger.exception("Error processing fetch operation on partition %s", topic_partition)
            return LogReadResult(Errors.UNKNOWN_SERVER_ERROR)
        # From version 3 on a client takes part of a batch, and nothing but that, for an error of the broker. Before, it
        # told of a batch that does not fit into what the client wants of a partition; but not if others have used up
        # the room.
        cut_for_client = params.hard_max_bytes and asked.max_bytes <= limit_bytes
        return LogReadResult(
            _NO_ERROR,
            leader.high_watermark.message_offset,
            log.log_start_offset,
            data.fetch_offset_metadata,
            b"" if data.first_entry_incomplete and not cut_for_client else data.records,
        )

    def _note_follower_position(self, replica_id: int, partition: Partition, position: LogOffsetMetadata) -> None:
        if partition.update_follower_log_end_offset(replica_id, position):
            self.complete_delayed_requests(partition.topic_partition)

    # ── what the controller orders ────────────────────────────────────────────────────────────────────────────────

    def become_leader_or_follower(
        self, request: LeaderAndIsrRequest, on_leadership_change: OnLeadershipChange = lambda _leaders, _followers: None
    ) -> LeaderAndIsrResponse:
        """Make partitions leaders or followers. A request of a stale controller is refused as a whole.

        ``on_leadership_change`` gets those that now lead and those that now follow, in the order of such requests.
        """
        with self._state_change_lock:
            if request.controller_epoch < self.controller_epoch:
                state_change_logger.warning(
                    "Broker %d ignoring LeaderAndIsr request from controller %d since its controller epoch %d is old. "
                    "Latest known controller epoch is %d",
                    self.config.broker_id,
                    request.controller_id,
                    request.controller_epoch,
                    self.controller_epoch,
                )
                return LeaderAndIsrResponse(error_code=Errors.STALE_CONTROLLER_EPOCH.code)
            self.controller_epoch = request.controller_epoch
            self._initializing_logs.begin_order()
            missing_before = len(self.missing_logs)
            errors = []
            changed: list[Partition] = []
            for state in request.partition_states():
                topic_partition = TopicPartition(state.topic_name, state.partition_index)
                error = self._apply_partition_state(topic_partition, state)
                errors.append(
                    LeaderAndIsrPartitionError(
                        topic_name=state.topic_name, partition_index=state.partition_index, error_code=error.code
                    )
                )
                if error is _NO_ERROR:
                    changed.append(self._partitions[topic_partition])
            self.missing_logs.log_new(missing_before)
            self.high_watermark_checkpoints.start()
            self._tell_leadership_change(changed, on_leadership_change)
        return LeaderAndIsrResponse(error_code=Errors.NONE.code, partition_errors=errors)

    def make_missing_logs(
        self, on_leadership_change: OnLeadershipChange = lambda _leaders, _followers: None
    ) -> list[TopicPartition]:
        """Try once more to make the logs that could not be made; returns the partitions that have one now.

        Kafka takes a log directory that cannot take a log offline, and needs a restart. A full disk only needs room.
        """
        made = []
        with self._state_change_lock:
            self._initializing_logs.begin_order()
            for topic_partition, state in self.missing_logs.states():
                if self._apply_partition_state(topic_partition, state) is not _NO_ERROR:
                    break  # there is no room for the others either
                made.append(topic_partition)
            if made:
                if not self.missing_logs:
                    logger.info("All partitions have their logs again")
                self._tell_leadership_change([self._partitions[tp] for tp in made], on_leadership_change)
        return made

    @staticmethod
    def _tell_leadership_change(changed: list[Partition], on_leadership_change: OnLeadershipChange) -> None:
        leaders = [partition for partition in changed if partition.leader_replica_if_local is not None]
        on_leadership_change(leaders, [p for p in changed if p.leader_replica_if_local is None])

    def stop_taking_orders(self) -> None:
        """The broker stops: drop the rest of the controller's requests, which it repeats after the next start."""
        self.takes_orders = False

    def _apply_partition_state(self, topic_partition: TopicPartition, state: LeaderAndIsrPartitionState) -> Errors:
        if not self.takes_orders:
            return Errors.BROKER_NOT_AVAILABLE
        self.missing_logs.discard(topic_partition)
        if state_change_logger.is_tracing():
            self._trace(f"received LeaderAndIsr request {state}", topic_partition, state)
        if self.config.broker_id not in state.replicas:
            state_change_logger.warning(
                "Broker %d ignoring LeaderAndIsr request for partition %s as itself is not in assigned replica list %s",
                self.config.broker_id,
                bracketed(topic_partition),
                ",".join(map(str, state.replicas)),
            )
            return Errors.UNKNOWN_TOPIC_OR_PARTITION
        if self._is_offline(topic_partition, state):
            state_change_logger.error(
                "Broker %d ignoring LeaderAndIsr request for partition %s as its log directory is offline",
                self.config.broker_id,
                bracketed(topic_partition),
            )
            return Errors.KAFKA_STORAGE_ERROR
        partition = self._partitions.get(topic_partition)
        if partition is None:
            partition = self._new_partition(topic_partition)
        elif state.leader_epoch <= partition.leader_epoch:
            state_change_logger.warning(
                "Broker %d ignoring LeaderAndIsr request for partition %s since its associated leader epoch %d is not "
                "higher than the current leader epoch %d",
                self.config.broker_id,
                bracketed(topic_partition),
                state.leader_epoch,
                partition.leader_epoch,
            )
            return Errors.STALE_CONTROLLER_EPOCH
        try:
            self._make_leader_or_follower(partition, state)
        except ApiError as failure:
            if failure.error is not Errors.KAFKA_STORAGE_ERROR:
                logger.error("Cannot take over %s: %s", topic_partition, failure)
                return failure.error
            return self._without_log(topic_partition, state, failure)
        except OSError as failure:
            return self._without_log(topic_partition, state, failure)
        return Errors.NONE

    def _without_log(
        self, topic_partition: TopicPartition, state: LeaderAndIsrPartitionState, failure: Exception
    ) -> Errors:
        self._partitions.pop(topic_partition, None)
        self.missing_logs.add(topic_partition, state, str(failure))
        return Errors.KAFKA_STORAGE_ERROR

    def _is_offline(self, topic_partition: TopicPartition, state: LeaderAndIsrPartitionState) -> bool:
        """Whether the replica's log is on a failed disk: it is known to be, or no other disk has it.

        A new log in another directory would look as if the partition had lost its messages.
        """
        if topic_partition in self._offline:
            return True
        logs = self.log_manager
        if state.is_new or logs.get_log(topic_partition) or len(logs.live_log_dirs) == len(logs.log_dirs):
            return False
        self._offline |= {topic_partition}
        return True

    def _new_partition(self, topic_partition: TopicPartition) -> Partition:
        return Partition(
            topic_partition,
            self.config.broker_id,
            self._initializing_logs.log_for,
            self.high_watermark_checkpoints.high_watermark,
        )

    def _make_leader_or_follower(self, partition: Partition, state: LeaderAndIsrPartitionState) -> None:
        ordered = PartitionState(
            state.controller_epoch, state.leader, state.leader_epoch, state.isr, state.partition_epoch, state.replicas
        )
        leads = state.leader == self.config.broker_id
        partition.make_leader(ordered) if leads else partition.make_follower(ordered)
        topic_partition = partition.topic_partition
        self._partitions[topic_partition] = partition
        self.complete_delayed_requests(topic_partition)
        if state_change_logger.is_tracing():
            role = "leader" if leads else "follower"
            self._trace(f"completed LeaderAndIsr request for the become-{role} transition", topic_partition, state)

    def _trace(self, what: str, topic_partition: TopicPartition, state: LeaderAndIsrPartitionState) -> None:
        message = "Broker %d %s from controller epoch %d for partition %s"
        place = bracketed(topic_partition)
        state_change_logger.trace(message, self.config.broker_id, what, state.controller_epoch, place)

    def stop_replicas(self, request: StopReplicaRequest) -> StopReplicaResponse:
        """Stop following partitions; delete those that the request says. A stale controller is refused as a whole.

        A partition that is not deleted keeps its leader, until the next LeaderAndIsr request. A partition without a
        replica here is not an error; if it is to be deleted, so is a log that was left of it.
        """
        with self._state_change_lock:
            if request.controller_epoch < self.controller_epoch:
                state_change_logger.warning(
                    "Broker %d received stop replica request from an old controller epoch %d. "
                    "Latest known controller epoch is %d",
                    self.config.broker_id,
                    request.controller_epoch,
                    self.controller_epoch,
                )
                return StopReplicaResponse(error_code=Errors.STALE_CONTROLLER_EPOCH.code)
            self.controller_epoch = request.controller_epoch
            stops = list(request.partitions())
            errors = {tp: self._stop_replica(tp, delete) for tp, delete in stops}
            errors |= self._delete_logs([tp for tp, delete in stops if delete and errors[tp] is Errors.NONE])
        results = [
            StopReplicaPartitionError(topic_name=tp.topic, partition_index=tp.partition, error_code=error.code)
            for tp, error in errors.items()
        ]
        return StopReplicaResponse(error_code=Errors.NONE.code, partition_errors=results)

    def _stop_replica(self, topic_partition: TopicPartition, delete: bool) -> Errors:
        what = (self.config.broker_id, str(delete).lower(), topic_partition)
        state_change_logger.trace("Broker %d handling stop replica (delete=%s) for partition %s", *what)
        if not delete:
            return Errors.NONE  # nothing to do: this broker does not fetch from other brokers yet
        self._partitions.pop(topic_partition, None)
        self.missing_logs.discard(topic_partition)
        self.complete_delayed_requests(topic_partition)  # their clients learn that the partition is gone
        return Errors.KAFKA_STORAGE_ERROR if topic_partition in self._offline else Errors.NONE

    def maybe_update_metadata_cache(
        self, request: UpdateMetadataRequest, metadata_cache: MetadataCache
    ) -> list[TopicPartition]:
        """Bring the metadata cache up to date; returns the partitions that are deleted.

        Raises STALE_CONTROLLER_EPOCH.
        """
        with self._state_change_lock:
            if request.controller_epoch < self.controller_epoch:
                message = (
                    f"Broker {self.config.broker_id} received update metadata request from an old controller "
                    f"{request.controller_id} with epoch {request.controller_epoch}. Latest known controller epoch is "
                    f"{self.controller_epoch}"
                )
                state_change_logger.warning("%s", message)
                raise Errors.STALE_CONTROLLER_EPOCH.exception(message)
            deleted = metadata_cache.update_cache(request)
            self.controller_epoch = request.controller_epoch
            return deleted

    def _delete_logs(self, stopped: Collection[TopicPartition]) -> dict[TopicPartition, Errors]:
        """Forget stopped partitions and delete their logs; returns the errors."""
        for topic_partition in stopped:
            self.high_watermark_checkpoints.forget(topic_partition)
            self.metrics.remove_partition(topic_partition)
        for topic in {tp.topic for tp in stopped} - {tp.topic for tp in self._partitions}:
            self.broker_topic_stats.remove_metrics(topic)
        failures = self.log_manager.async_delete(stopped)
        for topic_partition, failure in failures.items():
            logger.error("Cannot delete the log of %s: %s", topic_partition, failure)
        return {topic_partition: failure.error for topic_partition, failure in failures.items()}

    def mark_offline(self, topic_partitions: Iterable[TopicPartition]) -> None:
        """The disk of these replicas has failed: they are not served until the broker restarts."""
        with self._state_change_lock:
            lost = frozenset(topic_partitions)
            self._offline |= lost
            for topic_partition in lost:
                self._partitions.pop(topic_partition, None)
        for topic_partition in lost:
            self.complete_delayed_requests(topic_partition)

    # ── records that are deleted on request ───────────────────────────────────────────────────────────────────────

    def delete_records(self, topic_partition: TopicPartition, before_offset: int) -> int:
        """Move the log start offset up (-1: to the high watermark) and return it.

        Raises OFFSET_OUT_OF_RANGE beyond the high watermark, POLICY_VIOLATION if the topic has no delete policy,
        INVALID_TOPIC_EXCEPTION for internal topics, and what ``get_leader_log`` raises.
        """
        if is_internal(topic_partition.topic):
            raise Errors.INVALID_TOPIC_EXCEPTION.exception(f"{topic_partition.topic} is internal, its records stay")
        _, leader, log = self.get_leader_log(topic_partition)
        if not log.config.delete:
            raise Errors.POLICY_VIOLATION.exception(f"{topic_partition.topic} does not have the delete cleanup policy")
        high_watermark = leader.high_watermark.message_offset
        target = high_watermark if before_offset == -1 else before_offset
        if not 0 <= target <= high_watermark:
            raise Errors.OFFSET_OUT_OF_RANGE.exception(
                f"cannot delete up to {target}: the high watermark of {topic_partition} is {high_watermark}"
            )
        log.maybe_increment_log_start_offset(target)
        return log.log_start_offset

    def shutdown(self) -> None:
        """Keep the high watermarks for the next start. Clients that wait learn of the end by their connections'."""
        self.delayed_fetch_purgatory.shutdown()
        self.delayed_produce_purgatory.shutdown()
        self.high_watermark_checkpoints.shutdown()
