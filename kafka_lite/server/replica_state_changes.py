"""Applies the controller's requests to this broker: leaders, followers, deleted replicas, metadata.

Kafka 0.10.2: core/.../server/ReplicaManager.scala (becomeLeaderOrFollower, stopReplicas, maybeUpdateMetadataCache)
· book 6.2.1, 7.2.1, 7.2.2
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from uuid import UUID

from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.cluster.broker import Broker
from kafka_lite.cluster.partition import NO_LEADER, Partition, PartitionState
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.ids.uuids import encode_uuid
from kafka_lite.common.state_change_logger import bracketed, state_change_logger
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.initializing_logs import InitializingLogs
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.managing.missing_records import truncate_at_gap
from kafka_lite.protocol.messages.api_04_leader_and_isr import (
    LeaderAndIsrLiveLeader,
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
from kafka_lite.server.leaders_without_room import LeadersWithoutRoom
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.replica_manager import ReplicaManager

logger = logging.getLogger(__name__)

OnLeadershipChange = Callable[[list[Partition], list[Partition]], None]


class ReplicaStateChanges:
    """Executes the controller's requests on the partitions of a replica manager, one at a time::

        LeaderAndIsr    create replicas, make them leaders or followers       ─┐
        StopReplica     stop fetching; delete the log if the request says so   ├─ reject an old controller epoch
        UpdateMetadata  replace the metadata cache's snapshot                 ─┘

    A replica whose log cannot be created is kept in ``missing_logs`` and retried. A replica on a failed disk is taken
    offline until the broker restarts. A replica that leads on a full disk is reported as lost, too, until there is room
    (``without_room``).
    """

    def __init__(
        self,
        replica_manager: ReplicaManager,
        topic_config: Callable[[str], LogConfig],
        alive_brokers: Callable[[], Iterable[Broker]],
    ) -> None:
        """``topic_config`` reads the configuration for a new log; ``alive_brokers`` are those of the metadata cache."""
        self._alive_brokers = alive_brokers
        self._replicas = replica_manager
        self._broker_id = replica_manager.config.broker_id
        self._initializing_logs = InitializingLogs(replica_manager.log_manager, topic_config)
        self.without_room = LeadersWithoutRoom(
            self._broker_id, replica_manager.log_manager.log_dir_failure_channel, lambda: replica_manager.partitions
        )
        self._state_change_lock = threading.RLock()
        self._waiting: dict[TopicPartition, int] = {}
        """Followers whose leader was not alive when they were told to follow it, and which one they followed before."""
        self.controller_epoch = 0
        """The epoch of the newest controller that has sent a request."""
        self.takes_orders = True
        """Whether the controller's requests are still executed; False once the broker starts to shut down."""

    # ── LeaderAndIsr ──────────────────────────────────────────────────────────────────────────────────────────────

    def become_leader_or_follower(
        self, request: LeaderAndIsrRequest, on_leadership_change: OnLeadershipChange = lambda _leaders, _followers: None
    ) -> LeaderAndIsrResponse:
        """Make partitions leaders or followers. A request of a stale controller is rejected as a whole.

        ``on_leadership_change`` gets the new leaders and the new followers, in the order of the requests.
        """
        with self._state_change_lock:
            if request.controller_epoch < self.controller_epoch:
                state_change_logger.warning(
                    "Broker %d ignoring LeaderAndIsr request from controller %d since its controller epoch %d is old. "
                    "Latest known controller epoch is %d",
                    self._broker_id,
                    request.controller_id,
                    request.controller_epoch,
                    self.controller_epoch,
                )
                return LeaderAndIsrResponse(error_code=Errors.STALE_CONTROLLER_EPOCH.code)
            self.controller_epoch = request.controller_epoch
            self._initializing_logs.begin_order()
            leaders_before = self._changing(request)
            self._replicas.fetchers.unfollow(leaders_before)
            missing_before = len(self._replicas.missing_logs)
            errors, topic_ids = [], request.topic_ids()
            changed: list[Partition] = []
            for state in request.partition_states():
                topic_partition = TopicPartition(state.topic_name, state.partition_index)
                error = self._apply_partition_state(topic_partition, state, topic_ids.get(state.topic_name))
                is_full = self.without_room.must_report(topic_partition, state.isr)
                reported = Errors.KAFKA_STORAGE_ERROR if is_full else error
                errors.append(
                    LeaderAndIsrPartitionError(
                        topic_name=state.topic_name, partition_index=state.partition_index, error_code=reported.code
                    )
                )
                if error is Errors.NONE:
                    changed.append(self._hosted(topic_partition))
            self._replicas.missing_logs.log_new(missing_before)
            self._replicas.high_watermark_checkpoints.start()
            self._follow(changed, leaders_before, self._leader_end_points(request.live_leaders))
            self._report_leadership_change(changed, on_leadership_change)
            self._replicas.log_dir_moves.start_if_needed()
        return LeaderAndIsrResponse(error_code=Errors.NONE.code, partition_errors=errors)

    def _changing(self, request: LeaderAndIsrRequest) -> dict[TopicPartition, int]:
        """The partitions with a new state, which must not be fetched any more, and their leaders so far."""
        changing, topic_ids = {}, request.topic_ids()
        for state in request.partition_states():
            topic_partition = TopicPartition(state.topic_name, state.partition_index)
            partition = self._replicas.get_partition(topic_partition)
            if self._is_of_another_topic(topic_partition, topic_ids.get(state.topic_name)):
                continue
            if partition is not None and not self._is_known(state, partition):
                changing[topic_partition] = self._waiting.get(topic_partition, partition.leader_id)
        return changing

    def _is_of_another_topic(self, topic_partition: TopicPartition, topic_id: UUID | None) -> bool:
        """Whether the log here is that of an earlier topic of this name, whose deletion this broker has missed."""
        log = self._replicas.log_manager.get_log(topic_partition)
        return log is not None and None not in (log.topic_id, topic_id) and log.topic_id != topic_id

    def _is_known(self, state: LeaderAndIsrPartitionState, partition: Partition) -> bool:
        """Whether the partition has this state, or a newer one.

        One that waits for its leader takes the same epoch again: a new controller that finds the leader alive repeats
        the state, but does not elect. (Kafka leaves such a partition in the epoch that it was in.)
        """
        if partition.topic_partition in self._waiting:
            return state.leader_epoch < partition.leader_epoch
        return state.leader_epoch <= partition.leader_epoch

    def _follow(
        self,
        changed: Collection[Partition],
        leaders_before: Mapping[TopicPartition, int],
        end_points: Mapping[int, BrokerEndPoint],
    ) -> None:
        """Start fetching from the leaders on other brokers."""
        for partition in changed:
            self._waiting.pop(partition.topic_partition, None)
        followers = [partition for partition in changed if partition.leader_replica_if_local is None]
        if followers and self.takes_orders:
            for topic_partition in self._replicas.fetchers.follow(followers, end_points, leaders_before):
                self._waiting[topic_partition] = leaders_before.get(topic_partition, NO_LEADER)
            self._replicas.fetchers.shutdown_idle_fetcher_threads()

    def _leader_end_points(self, live_leaders: Iterable[LeaderAndIsrLiveLeader] = ()) -> dict[int, BrokerEndPoint]:
        """Where the live brokers listen for this one.

        A request's ``live_leaders`` have addresses on the controller's listener, which need not be this broker's: they
        are used only for a leader that is not in the metadata cache yet.
        """
        found = {b.broker_id: BrokerEndPoint(b.broker_id, b.host_name, b.port) for b in live_leaders}
        for broker in self._alive_brokers():
            end_point = broker.get_end_point(self._replicas.config.inter_broker_listener_name)
            if end_point is not None:
                found[broker.id] = BrokerEndPoint(broker.id, end_point.host, end_point.port)
        return found

    def make_missing_logs(
        self, on_leadership_change: OnLeadershipChange = lambda _leaders, _followers: None
    ) -> list[TopicPartition]:
        """Retry creating missing logs; returns the partitions that now have one.

        Kafka takes a log directory offline if it cannot create a log there, and needs a restart. A full disk only needs
        space.
        """
        made = []
        with self._state_change_lock:
            self._initializing_logs.begin_order()
            for topic_partition, state, topic_id in self._replicas.missing_logs.states():
                if self._apply_partition_state(topic_partition, state, topic_id) is not Errors.NONE:
                    break  # the disk has no space for the others either
                made.append(topic_partition)
            if made:
                if not self._replicas.missing_logs:
                    logger.info("All partitions have their logs again")
                changed = [self._hosted(tp) for tp in made]
                self._follow(changed, {}, self._leader_end_points())
                self._report_leadership_change(changed, on_leadership_change)
        return made

    def _hosted(self, topic_partition: TopicPartition) -> Partition:
        partition = self._replicas.get_partition(topic_partition)
        assert partition is not None, topic_partition
        return partition

    @staticmethod
    def _report_leadership_change(changed: list[Partition], on_leadership_change: OnLeadershipChange) -> None:
        leaders = [partition for partition in changed if partition.leader_replica_if_local is not None]
        on_leadership_change(leaders, [p for p in changed if p.leader_replica_if_local is None])

    def _apply_partition_state(
        self, topic_partition: TopicPartition, state: LeaderAndIsrPartitionState, topic_id: UUID | None
    ) -> Errors:
        if not self.takes_orders:
            return Errors.BROKER_NOT_AVAILABLE
        self._replicas.missing_logs.discard(topic_partition)
        if state_change_logger.is_tracing():
            self._trace(f"received LeaderAndIsr request {state}", topic_partition, state)
        if self._broker_id not in state.replicas:
            state_change_logger.warning(
                "Broker %d ignoring LeaderAndIsr request for partition %s as itself is not in assigned replica list %s",
                self._broker_id,
                bracketed(topic_partition),
                ",".join(map(str, state.replicas)),
            )
            return Errors.UNKNOWN_TOPIC_OR_PARTITION
        if self._is_offline(topic_partition, state):
            state_change_logger.error(
                "Broker %d ignoring LeaderAndIsr request for partition %s as its log directory is offline",
                self._broker_id,
                bracketed(topic_partition),
            )
            return Errors.KAFKA_STORAGE_ERROR
        if self._is_of_another_topic(topic_partition, topic_id):
            state_change_logger.error(
                "Broker %d ignoring LeaderAndIsr request for partition %s as its topic id %s is not that of its log",
                self._broker_id,
                bracketed(topic_partition),
                "unknown" if topic_id is None else encode_uuid(topic_id),
            )
            return Errors.INCONSISTENT_TOPIC_ID
        partition = self._replicas.get_partition(topic_partition)
        if partition is None:
            partition = self._replicas.new_partition(topic_partition, self._initializing_logs.log_for)
        elif self._is_known(state, partition):
            self._log_ignored(topic_partition, state, partition.leader_epoch)
            return self._identified(partition, topic_id)
        try:
            self._make_leader_or_follower(partition, state, topic_id)
        except ApiError as failure:
            if failure.error is not Errors.KAFKA_STORAGE_ERROR:
                logger.error("Cannot become the leader or a follower of %s: %s", topic_partition, failure)
                return failure.error
            return self._without_log(topic_partition, state, topic_id, failure)
        except OSError as failure:
            return self._without_log(topic_partition, state, topic_id, failure)
        return Errors.NONE

    @staticmethod
    def _identified(partition: Partition, topic_id: UUID | None) -> Errors:
        """Nothing is new but the id: the first controller that knows ids names it in the same epoch."""
        log = partition.log
        if log is not None and log.topic_id is None and topic_id is not None:
            try:
                log.assign_topic_id(topic_id)
            except ApiError as failure:
                return failure.error
        return Errors.STALE_CONTROLLER_EPOCH

    def _log_ignored(self, topic_partition: TopicPartition, state: LeaderAndIsrPartitionState, epoch: int) -> None:
        """An older leader epoch is worth a warning. The same one is not: each new controller repeats all states."""
        log = state_change_logger.trace if state.leader_epoch == epoch else state_change_logger.warning
        if state.leader_epoch < epoch or state_change_logger.is_tracing():
            log(
                "Broker %d ignoring LeaderAndIsr request for partition %s since its associated leader epoch %d is not "
                "higher than the current leader epoch %d",
                self._broker_id,
                bracketed(topic_partition),
                state.leader_epoch,
                epoch,
            )

    def _without_log(
        self,
        topic_partition: TopicPartition,
        state: LeaderAndIsrPartitionState,
        topic_id: UUID | None,
        failure: Exception,
    ) -> Errors:
        self._replicas.stop_hosting(topic_partition)
        self._replicas.missing_logs.add(topic_partition, state, topic_id, str(failure))
        return Errors.KAFKA_STORAGE_ERROR

    def _is_offline(self, topic_partition: TopicPartition, state: LeaderAndIsrPartitionState) -> bool:
        """Whether the replica's log is on a failed disk: known to be there, or not found on any other disk.

        A new log in another directory would look as if the partition had lost its messages.
        """
        if self._replicas.is_offline(topic_partition):
            return True
        logs = self._replicas.log_manager
        if state.is_new or logs.get_log(topic_partition) or len(logs.live_log_dirs) == len(logs.log_dirs):
            return False
        self._replicas.mark_offline([topic_partition])
        return True

    def _make_leader_or_follower(
        self, partition: Partition, state: LeaderAndIsrPartitionState, topic_id: UUID | None
    ) -> None:
        ordered = PartitionState(
            state.controller_epoch, state.leader, state.leader_epoch, state.isr, state.partition_epoch, state.replicas
        )
        leads = state.leader == self._broker_id
        if state.leader != NO_LEADER and self._broker_id not in state.isr:
            truncate_at_gap(self._replicas.log_manager.get_log(partition.topic_partition))
        partition.make_leader(ordered) if leads else partition.make_follower(ordered)
        topic_partition, log = partition.topic_partition, partition.log
        if log is not None and topic_id is not None:
            log.assign_topic_id(topic_id)
        self._replicas.host(partition)
        self._replicas.complete_delayed_requests(topic_partition)
        if state_change_logger.is_tracing():
            role = "leader" if leads else "follower"
            self._trace(f"completed LeaderAndIsr request for the become-{role} transition", topic_partition, state)

    def _trace(self, what: str, topic_partition: TopicPartition, state: LeaderAndIsrPartitionState) -> None:
        message = "Broker %d %s from controller epoch %d for partition %s"
        place = bracketed(topic_partition)
        state_change_logger.trace(message, self._broker_id, what, state.controller_epoch, place)

    # ── StopReplica ───────────────────────────────────────────────────────────────────────────────────────────────

    def stop_replicas(self, request: StopReplicaRequest) -> StopReplicaResponse:
        """Stop following partitions; delete those that the request marks. A stale controller is rejected as a whole.

        A partition that is not deleted keeps its leader until the next LeaderAndIsr request. A partition without a
        replica here is not an error; if it is to be deleted, a left-over log is deleted as well. A request that was
        overtaken by a LeaderAndIsr request with a newer leader epoch gets FENCED_LEADER_EPOCH (KIP-570).
        """
        with self._state_change_lock:
            if request.controller_epoch < self.controller_epoch:
                state_change_logger.warning(
                    "Broker %d received stop replica request from an old controller epoch %d. "
                    "Latest known controller epoch is %d",
                    self._broker_id,
                    request.controller_epoch,
                    self.controller_epoch,
                )
                return StopReplicaResponse(error_code=Errors.STALE_CONTROLLER_EPOCH.code)
            self.controller_epoch = request.controller_epoch
            errors = dict.fromkeys(self._overtaken(request.leader_epochs()), Errors.FENCED_LEADER_EPOCH)
            stops = [(tp, delete) for tp, delete in request.partitions() if tp not in errors]
            self._replicas.fetchers.unfollow([tp for tp, _ in stops])
            errors |= {tp: self._stop_replica(tp, delete) for tp, delete in stops}
            errors |= self._delete_logs([tp for tp, delete in stops if delete and errors[tp] is Errors.NONE])
        results = [
            StopReplicaPartitionError(topic_name=tp.topic, partition_index=tp.partition, error_code=error.code)
            for tp, error in errors.items()
        ]
        return StopReplicaResponse(error_code=Errors.NONE.code, partition_errors=results)

    def _overtaken(self, leader_epochs: Mapping[TopicPartition, int]) -> list[TopicPartition]:
        """The partitions whose leader epoch is older than the one known here. Negative ones do not count."""
        known = {tp: partition for tp in leader_epochs if (partition := self._replicas.get_partition(tp)) is not None}
        return [tp for tp, partition in known.items() if 0 <= leader_epochs[tp] < partition.leader_epoch]

    def _stop_replica(self, topic_partition: TopicPartition, delete: bool) -> Errors:
        what = (self._broker_id, str(delete).lower(), topic_partition)
        state_change_logger.trace("Broker %d handling stop replica (delete=%s) for partition %s", *what)
        if not delete:
            self._resign_without_room(topic_partition)
            return Errors.NONE
        self.without_room.discard(topic_partition)
        self._replicas.stop_hosting(topic_partition)
        self._replicas.missing_logs.discard(topic_partition)
        self._waiting.pop(topic_partition, None)
        self._replicas.complete_delayed_requests(topic_partition)  # their clients learn that the partition is gone
        return Errors.KAFKA_STORAGE_ERROR if self._replicas.is_offline(topic_partition) else Errors.NONE

    def _resign_without_room(self, topic_partition: TopicPartition) -> None:
        """Stop leading a partition on a full disk. The controller names the new leader once there is room."""
        partition = self._replicas.get_partition(topic_partition)
        if partition is not None and self.without_room.is_offered(topic_partition):
            partition.resign()
            self._replicas.complete_delayed_requests(topic_partition)

    def _delete_logs(self, stopped: Collection[TopicPartition]) -> dict[TopicPartition, Errors]:
        """Remove stopped partitions and delete their logs; returns the errors."""
        replicas = self._replicas
        for topic_partition in stopped:
            replicas.high_watermark_checkpoints.forget(topic_partition)
            replicas.metrics.remove_partition(topic_partition)
        for topic in {tp.topic for tp in stopped} - {p.topic_partition.topic for p in replicas.partitions}:
            replicas.broker_topic_stats.remove_metrics(topic)
        failures = replicas.log_manager.async_delete(stopped)
        for topic_partition, failure in failures.items():
            logger.error("Cannot delete the log of %s: %s", topic_partition, failure)
        return {topic_partition: failure.error for topic_partition, failure in failures.items()}

    # ── UpdateMetadata ────────────────────────────────────────────────────────────────────────────────────────────

    def maybe_update_metadata_cache(
        self, request: UpdateMetadataRequest, metadata_cache: MetadataCache
    ) -> list[TopicPartition]:
        """Update the metadata cache; returns the deleted partitions.

        Raises STALE_CONTROLLER_EPOCH.
        """
        with self._state_change_lock:
            if request.controller_epoch < self.controller_epoch:
                message = (
                    f"Broker {self._broker_id} received update metadata request from an old controller "
                    f"{request.controller_id} with epoch {request.controller_epoch}. Latest known controller epoch is "
                    f"{self.controller_epoch}"
                )
                state_change_logger.warning("%s", message)
                raise Errors.STALE_CONTROLLER_EPOCH.exception(message)
            deleted = metadata_cache.update_cache(request)
            self.controller_epoch = request.controller_epoch
            return deleted

    # ── disk failures and shutdown ────────────────────────────────────────────────────────────────────────────────

    def take_offline(self, topic_partitions: Collection[TopicPartition]) -> None:
        """The disk of these replicas has failed: they are not served until the broker restarts."""
        with self._state_change_lock:
            self._replicas.fetchers.unfollow(topic_partitions)
            self._replicas.mark_offline(topic_partitions)
        for topic_partition in topic_partitions:
            self._replicas.complete_delayed_requests(topic_partition)

    def stop_taking_orders(self) -> None:
        """Ignore the controller's further requests; the controller repeats them after the next start."""
        self.takes_orders = False
