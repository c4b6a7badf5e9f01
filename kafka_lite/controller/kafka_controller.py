"""The broker that decides for the cluster: it watches ZooKeeper and sends the others their orders.

Kafka 0.10.2: core/.../controller/KafkaController.scala · book 7.1.1, 7.1.3, 7.5
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import TypeVar

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.errors import Errors
from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.broker_changes import BrokerChanges
from kafka_lite.controller.controller_broker_request_batch import ControllerBrokerRequestBatch
from kafka_lite.controller.controller_channel_manager import ControllerChannelManager, SendRequest
from kafka_lite.controller.controller_config import ControllerConfig
from kafka_lite.controller.controller_context import ControllerContext, PartitionAndReplica
from kafka_lite.controller.controller_event_thread import ControllerEvent, ControllerEventThread
from kafka_lite.controller.controller_stats import ControllerStats
from kafka_lite.controller.feature_control import FeatureControl
from kafka_lite.controller.isr_change_notification_listener import IsrChangeNotificationListener
from kafka_lite.controller.log_dir_failures import LogDirFailures
from kafka_lite.controller.partition_leader_selector import PartitionLeaderSelector
from kafka_lite.controller.partition_reassigner import AlterResults, PartitionReassigner, Targets
from kafka_lite.controller.partition_state_machine import PartitionStateMachine
from kafka_lite.controller.replica_assignment import ReplicaAssignment
from kafka_lite.controller.replica_leader_election import ElectionResults, ElectionType, ReplicaLeaderElection
from kafka_lite.controller.replica_state_machine import ReplicaStateMachine
from kafka_lite.controller.topic_changes import TopicChanges
from kafka_lite.controller.topic_deletion_manager import TopicDeletionManager
from kafka_lite.controller.zookeeper_leader_elector import ZookeeperLeaderElector
from kafka_lite.log.log_config import LogConfig
from kafka_lite.protocol.messages.api_04_leader_and_isr import LeaderAndIsrResponse
from kafka_lite.protocol.messages.api_05_stop_replica import StopReplicaResponse
from kafka_lite.zookeeper import paths
from kafka_lite.zookeeper.admin_requests import AdminRequests
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.log_dir_events import LogDirEvents
from kafka_lite.zookeeper.zk_errors import FencedError

logger = logging.getLogger(__name__)

WATCHED = (
    paths.BROKER_IDS,
    paths.TOPICS,
    paths.DELETE_TOPICS,
    paths.ISR_CHANGE_NOTIFICATIONS,
    paths.LOG_DIR_EVENT_NOTIFICATIONS,
    paths.REASSIGN_PARTITIONS,
    paths.PREFERRED_REPLICA_ELECTION,
)
"""The watches that only the controller sets, besides those of topics and of reassigned partitions."""

FIRST_REBALANCE_MS = 5_000
"""How long a new controller waits before it looks at the balance of the leaders, in ms."""

ShutdownCallback = Callable[[Errors, Sequence[TopicPartition]], None]
Results = TypeVar("Results")
Respond = Callable[[Results | None], None]
"""Gets the results of a request; None if this broker is not the controller."""


class KafkaController:
    """Every broker has one; the one that created /controller is active.

    Whatever happens (a znode changed, a broker responded, a session expired) becomes a ControllerEvent, and one thread
    processes the events in order. A watch only says that something may have changed: each event reads ZooKeeper and
    compares it with the context.
    """

    def __init__(
        self,
        config: ControllerConfig,
        zk_client: KafkaZkClient,
        send_request: SendRequest,
        on_topic_deleted: Callable[[str], None],
        stats: ControllerStats,
        abort_request: Callable[[int], None],
        scheduler: Scheduler,
        features: FeatureControl,
    ) -> None:
        """``send_request`` delivers LeaderAndIsr, UpdateMetadata and StopReplica to a broker, this one included;
        ``abort_request`` interrupts it, since nobody waits for a broker that is gone.

        ``on_topic_deleted`` is called for every topic that is completely gone from ZooKeeper. ``scheduler`` runs the
        automatic rebalance.
        """
        self._config = config
        self._broker_id = config.broker_id
        self._zk_client, self._send_request = zk_client, send_request
        self._on_topic_deleted = on_topic_deleted
        self._stats, self._scheduler, self._features = stats, scheduler, features
        self._thread = ControllerEventThread(config.broker_id)
        self._active = threading.Event()
        self.context = ControllerContext()
        self._channels = ControllerChannelManager(config.broker_id, send_request, abort_request)
        is_active, take_over = self._active.is_set, self._on_controller_failover
        self._elector = ZookeeperLeaderElector(
            config.broker_id, self.context, zk_client, self._thread, is_active, take_over, self._resign
        )
        self._build_state_machines()
        self._build_procedures()

    def _new_batch(self) -> ControllerBrokerRequestBatch:
        """Each part collects its requests in a batch of its own."""
        return ControllerBrokerRequestBatch(
            self._broker_id,
            self.context,
            self._channels.send_request,
            lambda: self.topic_deletion_manager.partitions_to_be_deleted,
            self._config.inter_broker_listener_name,
            self._leader_and_isr_responded,
            self._config.request_version,
        )

    def _build_state_machines(self) -> None:
        context, zk_client, broker_id = self.context, self._zk_client, self._broker_id
        self.topic_deletion_manager = deletion = TopicDeletionManager(
            context,
            zk_client,
            self._send_update_metadata,
            self._stop_replica_responded,
            on_deleted=self._on_topic_deleted,
            enabled=self._config.delete_topic_enable,
        )
        unclean, is_deleted = self._unclean_leader_election_enable, deletion.is_topic_queued_up_for_deletion
        selector = PartitionLeaderSelector(context, unclean, self._stats.unclean_leader_election_rate.mark)
        self._batch = self._new_batch()
        self.partition_state_machine = PartitionStateMachine(broker_id, context, zk_client, self._new_batch(), selector)
        self.replica_state_machine = ReplicaStateMachine(
            broker_id, context, zk_client, self._new_batch(), is_deleted, unclean
        )
        deletion.attach(self.partition_state_machine, self.replica_state_machine)

    def _build_procedures(self) -> None:
        """Make the parts that take partitions and replicas through their states."""
        context, zk_client, deletion = self.context, self._zk_client, self.topic_deletion_manager
        partitions, replicas = self.partition_state_machine, self.replica_state_machine
        self._log_dir_failures = LogDirFailures(
            context,
            LogDirEvents(zk_client.zookeeper),
            replicas,
            lambda offline: self._broker_changes.on_replicas_become_offline(offline),
            self._elect_missing_leaders,
        )
        self.reassigner = PartitionReassigner(
            context,
            zk_client,
            partitions,
            replicas,
            deletion,
            self._new_batch(),
            send_update_metadata=self._send_update_metadata,
            on_isr_change=self._reassigned_isr_changed,
            on_replicas_stopped=self._reassigned_replicas_stopped,
        )
        self._isr_changes = IsrChangeNotificationListener(context, zk_client, self._send_update_metadata)
        self._topic_changes = TopicChanges(
            context, zk_client, partitions, replicas, deletion, self._watch_topic, self._config.uses_topic_ids
        )
        self._broker_changes = BrokerChanges(
            context,
            zk_client,
            self._channels,
            partitions,
            replicas,
            deletion,
            self.reassigner,
            self._new_batch(),
            self._send_update_metadata,
            self._features.unsupported_by,
        )
        imbalance_percentage = self._config.leader_imbalance_per_broker_percentage
        self._election = ReplicaLeaderElection(
            context, AdminRequests(zk_client.zookeeper), partitions, deletion, imbalance_percentage
        )

    # ----------------------------------------------------------------------------------------------------------- life

    @property
    def is_active(self) -> bool:
        """Whether this broker is the controller."""
        return self._active.is_set()

    @property
    def epoch(self) -> int:
        """The epoch of this controller, if it is active."""
        return self.context.epoch

    def startup(self) -> None:
        """Watch /controller and try to become the controller."""
        zk, elector = self._zk_client, self._elector
        self._thread.start()
        zk.add_session_listener(lambda: self._enqueue("SessionExpired", elector.process_session_expired))
        zk.watch_controller(lambda: self._enqueue("ControllerChange", elector.process_controller_change))
        self._enqueue("Startup", elector.elect)

    def initiate_shutdown(self) -> None:
        """Take no further event. One that is under way may fail, which is not logged."""
        self._thread.initiate_shutdown()

    def halt(self) -> None:
        """Take no further event and send nothing more, as if the process had been killed."""
        self.initiate_shutdown()
        self._channels.initiate_shutdown()

    def shutdown(self) -> None:
        """Stop. /controller vanishes with the ZooKeeper session, and another broker takes over."""
        self._thread.shutdown()
        self._resign()

    def await_active(self, timeout_s: float) -> bool:
        """Wait until this broker is the controller; false after ``timeout_s``."""
        return self._active.wait(timeout_s)

    def _enqueue(self, name: str, process: Callable[[], None]) -> None:
        self._thread.put(ControllerEvent(name, process))

    def _enqueue_if_active(self, name: str, process: Callable[[], None]) -> None:
        """Enqueue an event for the active controller; it is dropped if this broker has resigned by then."""

        def process_if_active() -> None:
            if self.is_active:
                with suppress(FencedError):
                    self._elector.process_as_leader(process)

        self._enqueue(name, process_if_active)

    # ------------------------------------------------------------------------------------------------------- failover

    def _on_controller_failover(self) -> None:
        """Take over: set watches, read the cluster, send metadata to every broker, bring partitions online."""
        self._features.setup()
        self._watch()
        self._initialize_context()
        self._active.set()
        # A broker must know which brokers are alive before LeaderAndIsr makes it a follower of one. It must know all
        # partitions, too: one that starts waits for its own among them (initial_metadata).
        self._send_update_metadata(None)
        self.replica_state_machine.startup()
        self.partition_state_machine.startup(self.topic_deletion_manager.is_topic_queued_up_for_deletion)
        self._log_dir_failures.discard_notifications()
        for topic in sorted(self.context.all_topics):
            self._watch_topic(topic)
        self.reassigner.resume()
        self._election.process_znode()
        self.topic_deletion_manager.resume_deletions()
        self._isr_changes.process_notifications()
        self._schedule_rebalance(FIRST_REBALANCE_MS)
        logger.info("Broker %d is ready to serve as the controller of epoch %d", self._broker_id, self.context.epoch)

    def _watch(self) -> None:
        zk, topics = self._zk_client, self._topic_changes
        zk.watch_broker_ids(lambda: self._enqueue_if_active("BrokerChange", self._process_timed_broker_change))
        zk.watch_topics(lambda: self._enqueue_if_active("TopicChange", topics.process_topic_change))
        zk.watch_topic_deletions(lambda: self._enqueue_if_active("TopicDeletion", topics.process_topic_deletion))
        zk.watch_isr_changes(
            lambda: self._enqueue_if_active("IsrChangeNotification", self._isr_changes.process_notifications)
        )
        LogDirEvents(zk.zookeeper).watch(
            lambda: self._enqueue_if_active("LogDirEventNotification", self._log_dir_failures.process_notifications)
        )
        requests = AdminRequests(zk.zookeeper)
        requests.watch_reassignment(
            lambda: self._enqueue_if_active("PartitionReassignment", self.reassigner.process_znode)
        )
        requests.watch_preferred_replica_election(
            lambda: self._enqueue_if_active("PreferredReplicaLeaderElection", self._election.process_znode)
        )

    def _watch_topic(self, topic: str) -> None:
        def changed() -> None:
            process = self._topic_changes.process_partition_modifications
            self._enqueue_if_active("PartitionModifications", lambda: process(topic))

        self._zk_client.watch_topic(topic, changed)

    def _initialize_context(self) -> None:
        context, zk = self.context, self._zk_client
        context.reset()
        context.live_brokers, context.broker_epochs = self._broker_changes.read_brokers()
        topics = zk.get_all_topics()
        context.all_topics = set(topics)
        context.add_topics(self._topic_changes.read_topics(topics))
        self._isr_changes.update_leader_and_isr_cache(context.partition_replica_assignment)
        for broker_id in context.live_brokers:
            self._channels.add_broker(broker_id)
        self.topic_deletion_manager.init(zk.get_topics_marked_for_deletion())
        logger.info("Live brokers: %s; topics: %d", sorted(context.live_brokers), len(context.all_topics))

    def _resign(self) -> None:
        """Stop being the active controller: remove watches and channels, and forget the cluster."""
        was_active = self.is_active
        self._active.clear()
        for path in (*WATCHED, *map(paths.topic, self.context.all_topics)):
            self._zk_client.zookeeper.unwatch(path)
        self.reassigner.shutdown()
        self.topic_deletion_manager.shutdown()
        self.partition_state_machine.shutdown()
        self.replica_state_machine.shutdown()
        self._channels.shutdown()
        self.context.reset()
        if was_active:
            logger.info("Broker %d resigned as the controller", self._broker_id)

    # -------------------------------------------------------------------------------------------------------- brokers

    def _process_timed_broker_change(self) -> None:
        with self._stats.leader_election_timer.time():
            self._broker_changes.process_broker_change()

    def shutdown_broker(self, broker_id: int, respond: ShutdownCallback) -> None:
        """Move the leaderships of a broker that is about to stop to other brokers.

        ``respond`` gets the partitions with other replicas that it still leads; or STALE_CONTROLLER_EPOCH if this
        broker is not the controller, BROKER_NOT_AVAILABLE if that broker is not registered. It is called in the
        controller's thread. The broker counts as dead in elections until it has registered again.
        """
        self._enqueue("ControlledShutdown", lambda: self._process_controlled_shutdown(broker_id, respond))

    def _process_controlled_shutdown(self, broker_id: int, respond: ShutdownCallback) -> None:
        if not self.is_active:
            respond(Errors.STALE_CONTROLLER_EPOCH, ())
        elif broker_id not in self.context.live_or_shutting_down_broker_ids:
            respond(Errors.BROKER_NOT_AVAILABLE, ())
        else:
            try:
                remaining = self._elector.process_as_leader(lambda: self._broker_changes.shut_down(broker_id))
            except FencedError:
                respond(Errors.STALE_CONTROLLER_EPOCH, ())
                return
            except Exception:
                respond(Errors.UNKNOWN_SERVER_ERROR, ())
                raise
            respond(Errors.NONE, sorted(remaining))

    # ------------------------------------------------------------------------------------------------------ responses

    def _leader_and_isr_responded(self, broker_id: int, response: LeaderAndIsrResponse) -> None:
        """Called in the thread of a channel."""
        failures = self._log_dir_failures
        if failures.is_news(broker_id, response):
            self._enqueue_if_active(
                "LeaderAndIsrResponseReceived", lambda: failures.process_response(broker_id, response)
            )

    def _stop_replica_responded(self, replicas: Sequence[PartitionAndReplica], response: StopReplicaResponse) -> None:
        """Called in the thread of a channel."""
        manager = self.topic_deletion_manager
        self._enqueue_if_active(
            "TopicDeletionStopReplicaResult", lambda: manager.stop_replica_responded(replicas, response)
        )

    # ----------------------------------------------------------------------------------------------------- partitions

    def enable_default_unclean_leader_election(self) -> None:
        """The broker's default allows them from now on: elect leaders for the partitions without one."""
        self._enqueue_if_active("UncleanLeaderElectionEnable", self._elect_missing_leaders)

    def enable_topic_unclean_leader_election(self, topic: str) -> None:
        """A topic's override allows them from now on."""
        self._enqueue_if_active("TopicUncleanLeaderElectionEnable", lambda: self._elect_missing_leaders(topic))

    def _elect_missing_leaders(self, topic: str | None = None) -> None:
        is_deleted = self.topic_deletion_manager.is_topic_queued_up_for_deletion
        self.partition_state_machine.trigger_online_partition_state_change(is_deleted, topic)

    def _unclean_leader_election_enable(self, topic: str) -> bool:
        """The current value in the topic's configuration, or the broker's default."""
        overrides = self._zk_client.get_entity_config(f"topics/{topic}")
        try:
            return LogConfig(overrides, self._config.topic_defaults()).unclean_leader_election_enable
        except ConfigError as error:
            logger.error("Topic %s: %s; no unclean election", topic, error)
            return False

    # ------------------------------------------------------------------------------ reassignments, elections on request

    def alter_partition_reassignments(
        self, targets: Targets, respond: Respond[AlterResults], *, may_resize: bool = True
    ) -> None:
        """Start reassignments, or cancel those without new replicas. ``respond`` is called in another thread."""
        self._request("AlterPartitionReassignments", lambda: self.reassigner.alter(targets, may_resize), respond)

    def list_partition_reassignments(
        self, partitions: Collection[TopicPartition] | None, respond: Respond[dict[TopicPartition, ReplicaAssignment]]
    ) -> None:
        """The reassignments in progress, of these partitions or of all. ``respond`` is called in another thread."""
        self._request("ListPartitionReassignments", lambda: self.reassigner.list_reassignments(partitions), respond)

    def elect_leaders(
        self, partitions: Collection[TopicPartition], election_type: ElectionType, respond: Respond[ElectionResults]
    ) -> None:
        """Elect leaders where needed and possible. ``respond`` is called in another thread."""
        self._request("ReplicaLeaderElection", lambda: self._election.elect(partitions, election_type), respond)

    def _request(self, name: str, process: Callable[[], Results], respond: Respond[Results]) -> None:
        """Make a request an event. Responds with None if this broker is not the controller, or no longer is."""

        def process_and_respond() -> None:
            results = None
            try:
                if self.is_active:
                    with suppress(FencedError):
                        results = self._elector.process_as_leader(process)
            finally:
                respond(results)

        self._enqueue(name, process_and_respond)

    def _reassigned_isr_changed(self, partition: TopicPartition) -> None:
        """Called in a thread of the ZooKeeper client."""
        self._enqueue_if_active("PartitionReassignmentIsrChange", lambda: self.reassigner.isr_changed(partition))

    def _reassigned_replicas_stopped(self, partition: TopicPartition, replicas: Sequence[PartitionAndReplica]) -> None:
        """Called in the thread of a channel."""
        self._enqueue_if_active(
            "PartitionReassignmentStopReplicaResult", lambda: self.reassigner.replicas_stopped(partition, replicas)
        )

    def _schedule_rebalance(self, delay_ms: float) -> None:
        if not self._config.auto_leader_rebalance_enable:
            return
        epoch = self.context.epoch
        self._scheduler.schedule(
            "auto-leader-rebalance-task",
            lambda: self._enqueue_if_active("AutoPreferredReplicaLeaderElection", lambda: self._rebalance(epoch)),
            delay_ms,
        )

    def _rebalance(self, epoch: int) -> None:
        if epoch != self.context.epoch:
            return  # scheduled when this broker was the controller before
        try:
            self._election.rebalance()
        finally:
            self._schedule_rebalance(self._config.leader_imbalance_check_interval_ms)

    # ------------------------------------------------------------------------------------------------------- requests

    def _send_update_metadata(self, partitions: Collection[TopicPartition] | None) -> None:
        """Send all brokers the list of live brokers, and the state of these partitions (None: all)."""
        self._batch.new_batch()
        self._batch.add_update_metadata(self.context.live_or_shutting_down_broker_ids, partitions)
        self._batch.send_requests_to_brokers()
