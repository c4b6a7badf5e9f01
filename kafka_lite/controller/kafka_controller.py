"""The broker that decides for the cluster: it watches ZooKeeper and sends the others their orders.

Kafka 0.10.2: core/.../controller/KafkaController.scala, server/ZookeeperLeaderElector.scala · book 7.1.1, 7.1.3
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from kafka_lite.cluster.broker import Broker
from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.errors import Errors, KafkaError
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.controller_broker_request_batch import ControllerBrokerRequestBatch
from kafka_lite.controller.controller_channel_manager import ControllerChannelManager, SendRequest
from kafka_lite.controller.controller_context import ControllerContext, PartitionAndReplica
from kafka_lite.controller.controller_event_thread import ControllerEvent, ControllerEventThread
from kafka_lite.controller.partition_state_machine import PartitionState, PartitionStateMachine
from kafka_lite.controller.replica_state_machine import ReplicaState, ReplicaStateMachine
from kafka_lite.controller.topic_deletion_manager import TopicDeletionManager
from kafka_lite.log.log_config import LogConfig
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.protocol.messages.api_05_stop_replica import StopReplicaResponse
from kafka_lite.protocol.schema import Request, Response
from kafka_lite.zookeeper import paths
from kafka_lite.zookeeper.client import KafkaZkClient
from kafka_lite.zookeeper.data import ZnodeDataError
from kafka_lite.zookeeper.zookeeper_client import ZkConnectionError

logger = logging.getLogger(__name__)

INITIAL_CONTROLLER_EPOCH = 1

ShutdownCallback = Callable[[Errors, Sequence[TopicPartition]], None]


class ControllerMovedError(KafkaError):
    """Another broker became the controller while this one was taking over."""


@dataclass(frozen=True)
class ControllerConfig:
    """What the controller needs of the broker's configuration."""

    broker_id: int
    delete_topic_enable: bool = True
    inter_broker_listener_name: str = "PLAINTEXT"
    topic_defaults: Callable[[], Mapping[str, object]] = dict
    """Gives topic key -> the broker's default, which may change (``KafkaConfig.log_config_map``)."""


class ControllerStats:
    """The beans ``kafka.controller:type=ControllerStats,name=…``."""

    def __init__(self, registry: MetricsRegistry | None = None, time: Time = SYSTEM_TIME) -> None:
        """Without a registry they are not shown."""
        group = KafkaMetricsGroup(registry or MetricsRegistry(), time, "kafka.controller", "ControllerStats")
        self.leader_election_timer = group.new_timer("LeaderElectionRateAndTimeMs")
        """Changes of the set of live brokers, during which leaders are elected."""
        self.unclean_leader_election_rate = group.new_meter("UncleanLeaderElectionsPerSec", "elections")
        """Elections of leaders that may lack committed messages."""


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
        on_topic_deleted: Callable[[str], None] = lambda _topic: None,
        stats: ControllerStats | None = None,
    ) -> None:
        """``send_request`` delivers LeaderAndIsr, UpdateMetadata and StopReplica to a broker, this one included.

        ``on_topic_deleted`` is called for every topic that is completely gone from ZooKeeper.
        """
        self._config = config
        self._broker_id = config.broker_id
        self._zk_client = zk_client
        self._send_request = send_request
        self._on_topic_deleted = on_topic_deleted
        self._stats = stats or ControllerStats()
        self._thread = ControllerEventThread(config.broker_id)
        self._active = threading.Event()
        self.context = ControllerContext()
        self._channels = ControllerChannelManager(config.broker_id, send_request)
        self._build()

    def _build(self) -> None:
        """Make the parts, which all work on the same context."""
        context, zk_client, broker_id = self.context, self._zk_client, self._broker_id
        self.topic_deletion_manager = TopicDeletionManager(
            context,
            zk_client,
            self._send_update_metadata,
            self._stop_replica_responded,
            on_deleted=self._on_topic_deleted,
            enabled=self._config.delete_topic_enable,
        )
        deletion = self.topic_deletion_manager

        def batch() -> ControllerBrokerRequestBatch:
            listener = self._config.inter_broker_listener_name
            return ControllerBrokerRequestBatch(
                broker_id, context, self._send, lambda: deletion.partitions_to_be_deleted, listener
            )

        unclean = self._unclean_leader_election_enable
        is_deleted = deletion.is_topic_queued_up_for_deletion
        self._batch = batch()
        self.partition_state_machine = PartitionStateMachine(
            broker_id, context, zk_client, batch(), unclean, self._stats.unclean_leader_election_rate.mark
        )
        self.replica_state_machine = ReplicaStateMachine(broker_id, context, zk_client, batch(), is_deleted, unclean)
        deletion.attach(self.partition_state_machine, self.replica_state_machine)

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
        self._thread.start()
        self._zk_client.add_session_listener(lambda: self._enqueue("SessionExpired", self._process_session_expired))
        self._zk_client.watch_controller(lambda: self._enqueue("ControllerChange", self._process_controller_change))
        self._enqueue("Startup", self._elect)

    def initiate_shutdown(self) -> None:
        """Take no further event. One that is under way may fail, which is not logged."""
        self._thread.initiate_shutdown()

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
        self._enqueue(name, lambda: process() if self.is_active else None)

    # ------------------------------------------------------------------------------------------------------- election

    def _elect(self) -> None:
        """Try to create /controller. A broker that loses waits until the winner is gone."""
        controller_id = self._zk_client.get_controller_id()
        if controller_id is not None and controller_id != self._broker_id:
            logger.debug("Broker %d is the controller", controller_id)
            return
        if self.is_active or not self._zk_client.register_controller(self._broker_id):
            return
        logger.info("Broker %d is elected as the controller", self._broker_id)
        try:
            self._on_controller_failover()
        except ZkConnectionError:
            self._resign()
            raise
        except Exception:
            logger.exception("Broker %d could not take over as controller; it gives up the election", self._broker_id)
            self._resign()
            self._zk_client.delete_controller()

    def _process_controller_change(self) -> None:
        """/controller was created, changed or deleted."""
        controller_id = self._zk_client.get_controller_id()
        if self.is_active and controller_id != self._broker_id:
            logger.info("Broker %d is no longer the controller: %s is", self._broker_id, controller_id)
            self._resign()
        if controller_id is None:
            self._elect()

    def _process_session_expired(self) -> None:
        """Our /controller vanished with the old session."""
        self._resign()
        self._elect()

    def _on_controller_failover(self) -> None:
        """Take over: raise the epoch, set watches, read the cluster, tell every broker, bring partitions online."""
        self._increment_epoch()
        self._watch()
        self._initialize_context()
        self._active.set()
        # Brokers must know which brokers are alive before they are told to follow one.
        self._send_update_metadata(None)
        self.replica_state_machine.startup()
        is_deleted = self.topic_deletion_manager.is_topic_queued_up_for_deletion
        self.partition_state_machine.startup(is_deleted)
        for topic in self.context.all_topics:
            self._watch_topic(topic)
        self.topic_deletion_manager.resume_deletions()
        self._process_isr_changes()
        logger.info("Broker %d is ready to serve as the controller of epoch %d", self._broker_id, self.context.epoch)

    def _increment_epoch(self) -> None:
        found = self._zk_client.get_controller_epoch()
        if found is None:
            if not self._zk_client.create_controller_epoch(INITIAL_CONTROLLER_EPOCH):
                raise ControllerMovedError("another controller wrote the first epoch")
            self.context.epoch, self.context.epoch_zk_version = INITIAL_CONTROLLER_EPOCH, 0
            return
        epoch, version = found
        written = self._zk_client.set_controller_epoch(epoch + 1, version)
        if written is None:
            raise ControllerMovedError(f"another controller raised the epoch beyond {epoch}")
        self.context.epoch, self.context.epoch_zk_version = epoch + 1, written

    def _watch(self) -> None:
        zk = self._zk_client
        zk.watch_broker_ids(lambda: self._enqueue_if_active("BrokerChange", self._process_timed_broker_change))
        zk.watch_topics(lambda: self._enqueue_if_active("TopicChange", self._process_topic_change))
        zk.watch_topic_deletions(lambda: self._enqueue_if_active("TopicDeletion", self._process_topic_deletion))
        zk.watch_isr_changes(lambda: self._enqueue_if_active("IsrChangeNotification", self._process_isr_changes))

    def _watch_topic(self, topic: str) -> None:
        def changed() -> None:
            self._enqueue_if_active("PartitionModifications", lambda: self._process_partition_modifications(topic))

        self._zk_client.watch_topic(topic, changed)

    def _initialize_context(self) -> None:
        context, zk = self.context, self._zk_client
        context.reset()
        context.live_brokers = self._read_brokers()
        context.all_topics = set(zk.get_all_topics())
        context.partition_replica_assignment = zk.get_replica_assignment(context.all_topics)
        self._update_leader_and_isr_cache(context.partition_replica_assignment)
        for broker_id in context.live_brokers:
            self._channels.add_broker(broker_id)
        self.topic_deletion_manager.init(zk.get_topics_marked_for_deletion())
        logger.info("Live brokers: %s; topics: %d", sorted(context.live_brokers), len(context.all_topics))

    def _resign(self) -> None:
        """Stop being the active controller: remove watches and channels, and forget the cluster."""
        was_active = self.is_active
        self._active.clear()
        watched = (paths.BROKER_IDS, paths.TOPICS, paths.DELETE_TOPICS, paths.ISR_CHANGE_NOTIFICATIONS)
        for path in (*watched, *map(paths.topic, self.context.all_topics)):
            self._zk_client.zookeeper.unwatch(path)
        self.topic_deletion_manager.shutdown()
        self.partition_state_machine.shutdown()
        self.replica_state_machine.shutdown()
        self._channels.shutdown()
        self.context.reset()
        if was_active:
            logger.info("Broker %d resigned as the controller", self._broker_id)

    # -------------------------------------------------------------------------------------------------------- brokers

    def _read_brokers(self) -> dict[int, Broker]:
        brokers = {}
        for broker_id, registration in self._zk_client.get_brokers().items():
            try:
                brokers[broker_id] = Broker.from_registration(broker_id, registration)
            except ZnodeDataError as error:
                logger.error("Ignoring broker %d: %s", broker_id, error)
        return brokers

    def _process_timed_broker_change(self) -> None:
        with self._stats.leader_election_timer.time():
            self._process_broker_change()

    def _process_broker_change(self) -> None:
        """Brokers have joined or left. Only the set of ids counts, as in Kafka."""
        current = self._read_brokers()
        added = current.keys() - self.context.live_brokers.keys()
        removed = self.context.live_brokers.keys() - current.keys()
        self.context.live_brokers = current
        logger.info("Newly added brokers: %s, deleted brokers: %s, all live: %s", added, removed, sorted(current))
        for broker_id in added:
            self._channels.add_broker(broker_id)
        for broker_id in removed:
            self._channels.remove_broker(broker_id)
        if added:
            self._on_broker_startup(added)
        if removed:
            self._on_broker_failure(removed)

    def _on_broker_startup(self, broker_ids: Collection[int]) -> None:
        """Tell the new brokers everything, start their replicas, and elect leaders for partitions that waited."""
        self._send_update_metadata(None)
        replicas = self.context.replicas_on_brokers(broker_ids)
        is_deleted = self.topic_deletion_manager.is_topic_queued_up_for_deletion
        waiting = {replica for replica in replicas if is_deleted(replica.partition.topic)}
        self.replica_state_machine.handle_state_changes(replicas - waiting, ReplicaState.ONLINE)
        self.partition_state_machine.trigger_online_partition_state_change(is_deleted)
        self.topic_deletion_manager.resume_deletion_for_topics(replica.partition.topic for replica in waiting)

    def _on_broker_failure(self, broker_ids: Collection[int]) -> None:
        """Elect new leaders for the partitions of dead brokers, and take their replicas out of the ISRs."""
        self.context.shutting_down_broker_ids -= set(broker_ids)
        deletion = self.topic_deletion_manager
        is_deleted = deletion.is_topic_queued_up_for_deletion
        led = {p for p in self.context.partitions_led_by(broker_ids) if not is_deleted(p.topic)}
        self.partition_state_machine.handle_state_changes(led, PartitionState.OFFLINE)
        self.partition_state_machine.trigger_online_partition_state_change(is_deleted)
        replicas = self.context.replicas_on_brokers(broker_ids)
        dying = {replica for replica in replicas if is_deleted(replica.partition.topic)}
        self.replica_state_machine.handle_state_changes(replicas - dying, ReplicaState.OFFLINE)
        deletion.fail_replica_deletion(dying)
        if not led:
            self._send_update_metadata(())  # no election has told the brokers which ones are alive

    def shutdown_broker(self, broker_id: int, respond: ShutdownCallback) -> None:
        """Move the leaderships of a broker that is about to stop to other brokers.

        ``respond`` gets the partitions with other replicas that it leads all the same; or STALE_CONTROLLER_EPOCH if
        this broker is not the controller, BROKER_NOT_AVAILABLE if that broker is not registered. It is called later, in
        the controller's thread. The broker counts as dead in elections until it has registered again.
        """
        self._enqueue("ControlledShutdown", lambda: self._process_controlled_shutdown(broker_id, respond))

    def _process_controlled_shutdown(self, broker_id: int, respond: ShutdownCallback) -> None:
        if not self.is_active:
            respond(Errors.STALE_CONTROLLER_EPOCH, ())
        elif broker_id not in self.context.live_or_shutting_down_broker_ids:
            respond(Errors.BROKER_NOT_AVAILABLE, ())
        else:
            try:
                remaining = self._shut_broker_down(broker_id)
            except Exception:
                respond(Errors.UNKNOWN_SERVER_ERROR, ())
                raise
            respond(Errors.NONE, sorted(remaining))

    def _shut_broker_down(self, broker_id: int) -> set[TopicPartition]:
        """Returns the replicated partitions that the broker still leads."""
        logger.info("Shutting down broker %d", broker_id)
        context = self.context
        context.shutting_down_broker_ids.add(broker_id)
        replicas = {
            replica
            for replica in context.replicas_on_brokers([broker_id])
            if len(context.partition_replica_assignment[replica.partition]) > 1
            and replica.partition in context.partition_leadership_info
        }
        led = context.partitions_led_by([broker_id])
        machine = self.partition_state_machine
        leading = [replica.partition for replica in replicas if replica.partition in led]
        machine.handle_state_changes(leading, PartitionState.ONLINE, machine.select_controlled_shutdown_leader)
        following = {replica for replica in replicas if replica.partition not in led}
        # It stops fetching before it leaves the ISRs; otherwise it could still enter them again.
        self._batch.new_batch()
        for replica in sorted(following):
            self._batch.add_stop_replica(replica, delete=False)
        self._batch.send_requests_to_brokers()
        self.replica_state_machine.handle_state_changes(following, ReplicaState.OFFLINE)
        return context.partitions_led_by([broker_id]) & {replica.partition for replica in replicas}

    # --------------------------------------------------------------------------------------------------------- topics

    def _process_topic_change(self) -> None:
        """Topics were created or deleted."""
        current = set(self._zk_client.get_all_topics())
        added, removed = current - self.context.all_topics, self.context.all_topics - current
        for topic in removed:
            self.context.remove_topic(topic)
        self.context.all_topics = current
        assignment = self._zk_client.get_replica_assignment(added)
        self.context.add_assignment(assignment)
        if added or removed:
            logger.info("New topics: %s, deleted topics: %s", sorted(added), sorted(removed))
        for topic in added:
            self._watch_topic(topic)
        self._on_new_partition_creation(assignment.keys())

    def _process_partition_modifications(self, topic: str) -> None:
        """A topic's assignment has changed; it may have new partitions."""
        assignment = self._zk_client.get_replica_assignment([topic])
        new = {p: replicas for p, replicas in assignment.items() if p not in self.context.partition_replica_assignment}
        if not new:
            return
        if self.topic_deletion_manager.is_topic_queued_up_for_deletion(topic):
            logger.error("Skipping new partitions %s: topic %s is being deleted", sorted(new), topic)
            return
        logger.info("New partitions to be added: %s", {str(p): replicas for p, replicas in new.items()})
        self.context.add_assignment(new)
        self._on_new_partition_creation(new.keys())

    def _on_new_partition_creation(self, partitions: Collection[TopicPartition]) -> None:
        """Take new partitions and their replicas through their states."""
        replicas = self.context.replicas_of(partitions)
        self.partition_state_machine.handle_state_changes(partitions, PartitionState.NEW)
        self.replica_state_machine.handle_state_changes(replicas, ReplicaState.NEW)
        self.partition_state_machine.handle_state_changes(partitions, PartitionState.ONLINE)
        self.replica_state_machine.handle_state_changes(replicas, ReplicaState.ONLINE)

    def _process_topic_deletion(self) -> None:
        """Topics have been marked for deletion; a mark without a topic is removed."""
        marked = set(self._zk_client.get_topics_marked_for_deletion())
        unknown = marked - self.context.all_topics
        # The topic may have been created and marked before TopicChange had its turn.
        unknown = {topic for topic in unknown if not self._zk_client.topic_exists(topic)}
        for topic in unknown:
            logger.warning("Ignoring the deletion of topic %s: there is no such topic", topic)
            self._zk_client.delete_delete_topic(topic)
        if marked - unknown - self.context.all_topics:
            self._process_topic_change()
        is_queued = self.topic_deletion_manager.is_topic_queued_up_for_deletion
        new = {topic for topic in marked - unknown if not is_queued(topic)}
        if new:
            logger.info("Topics marked for deletion: %s", sorted(new))
            self.topic_deletion_manager.enqueue_topics_for_deletion(new)

    def _stop_replica_responded(self, replicas: Sequence[PartitionAndReplica], response: StopReplicaResponse) -> None:
        """Called in the thread of a channel."""
        manager = self.topic_deletion_manager
        self._enqueue_if_active(
            "TopicDeletionStopReplicaResult", lambda: manager.stop_replica_responded(replicas, response)
        )

    # ----------------------------------------------------------------------------------------------------- partitions

    def _process_isr_changes(self) -> None:
        """Leaders have changed the ISRs of their partitions: read these again and tell all brokers."""
        names = self._zk_client.get_isr_change_notifications()
        if not names:
            return
        known = self.context.partition_replica_assignment
        changed = {partition for partition in self._zk_client.get_isr_changes(names) if partition in known}
        self._update_leader_and_isr_cache(changed)
        if changed:
            self._send_update_metadata(changed)
        self._zk_client.delete_isr_change_notifications(names)

    def _update_leader_and_isr_cache(self, partitions: Collection[TopicPartition]) -> None:
        self.context.partition_leadership_info |= self._zk_client.get_partition_states(partitions)

    def enable_default_unclean_leader_election(self) -> None:
        """The broker's default allows them from now on: elect leaders for the partitions that have waited for that."""
        self._enqueue_if_active("UncleanLeaderElectionEnable", self._elect_leaders_that_are_missing)

    def enable_topic_unclean_leader_election(self, topic: str) -> None:
        """A topic's override allows them from now on."""
        self._enqueue_if_active("TopicUncleanLeaderElectionEnable", lambda: self._elect_leaders_that_are_missing(topic))

    def _elect_leaders_that_are_missing(self, topic: str | None = None) -> None:
        is_deleted = self.topic_deletion_manager.is_topic_queued_up_for_deletion
        self.partition_state_machine.trigger_online_partition_state_change(is_deleted, topic)

    def _unclean_leader_election_enable(self, topic: str) -> bool:
        """What the topic's configuration says now; the broker's default if it says nothing."""
        overrides = self._zk_client.get_entity_config(f"topics/{topic}")
        try:
            return LogConfig(overrides, self._config.topic_defaults()).unclean_leader_election_enable
        except ConfigError as error:
            logger.error("Topic %s: %s; no unclean election", topic, error)
            return False

    # ------------------------------------------------------------------------------------------------------- requests

    def _send(self, broker_id: int, request: Request, callback: Callable[[Response], None] | None) -> None:
        self._channels.send_request(broker_id, request, callback)

    def _send_update_metadata(self, partitions: Collection[TopicPartition] | None) -> None:
        """Tell all brokers which ones are alive, and the state of these partitions (None: all)."""
        self._batch.new_batch()
        self._batch.add_update_metadata(self.context.live_or_shutting_down_broker_ids, partitions)
        self._batch.send_requests_to_brokers()
