"""Reads and writes Kafka's znodes.

Kafka 0.10.2: core/.../utils/ZkUtils.scala; later core/.../zk/KafkaZkClient.scala · book 7.1.1
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.zookeeper import paths
from kafka_lite.zookeeper.data import (
    BrokerRegistration,
    ClusterId,
    ConfigChange,
    ControllerData,
    LeaderIsrAndControllerEpoch,
    ProducerIdsBlock,
    TopicAssignment,
    decode_config,
    decode_int,
    decode_partitions,
    encode_config,
    encode_int,
    encode_partitions,
)
from kafka_lite.zookeeper.node_operations import CreateNode, Operation, SetNode
from kafka_lite.zookeeper.poll_handler import WrapSocket
from kafka_lite.zookeeper.sasl_connection import ZkLogin
from kafka_lite.zookeeper.zk_errors import BadVersionError, NodeExistsError, NoNodeError, ZkError
from kafka_lite.zookeeper.znode_json import ZnodeDataError
from kafka_lite.zookeeper.zookeeper_client import ZooKeeperClient

logger = logging.getLogger(__name__)

_OWN_SESSION_POLL_MS = 100
FIRST_CONTROLLER_EPOCH = 1


class KafkaZkClient:
    """Typed access to Kafka's znodes, for brokers, the controller and the tools.

    ``zookeeper`` is the underlying session. Unless stated otherwise, a missing node is returned as ``None`` or as empty
    and is not an error.
    """

    def __init__(
        self,
        connect_string: str,
        session_timeout_ms: int = 6000,
        connection_timeout_ms: int = 6000,
        time: Time = SYSTEM_TIME,
        login: ZkLogin | None = None,
        *,
        set_acl: bool = False,
        wrap_socket: WrapSocket | None = None,
    ) -> None:
        """``login``, ``set_acl`` and ``wrap_socket``: see ``ZooKeeperSession``."""
        self.zookeeper = ZooKeeperClient(
            connect_string, session_timeout_ms, connection_timeout_ms, login, set_acl=set_acl, wrap_socket=wrap_socket
        )
        self._session_timeout_ms = session_timeout_ms
        self._time = time

    def start(self, *, create_chroot: bool = False) -> None:
        """Connect. Raises ZkConnectionError if ZooKeeper does not respond in time.

        ``create_chroot``: first create the path at the end of the connect string (brokers do, tools do not).
        """
        if create_chroot:
            self.zookeeper.create_chroot()
        self.zookeeper.connect()

    def close(self) -> None:
        """End the session."""
        self.zookeeper.close()

    def close_if_disconnected(self) -> None:
        """Close the session if there is no connection, so that the rest of a shutdown does not wait for one.

        From then on every call, including calls in progress, raises ZkConnectionError. The session expires by itself.
        """
        if not self.zookeeper.is_connected and not self.zookeeper.is_closed:
            logger.warning("Stopping without ZooKeeper: it cannot be reached")
            self.close()

    def create_persistent_paths(self) -> None:
        """Create the parents of all other nodes; the first thing that a broker does."""
        self.zookeeper.ensure_paths(paths.PERSISTENT_PATHS)

    def add_session_listener(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` after each new session that replaces an expired one."""
        self.zookeeper.add_session_listener(listener)

    # -------------------------------------------------------------------------------------------- cluster and brokers

    def get_cluster_id(self) -> str | None:
        """The cluster id, or None if no broker has created it yet."""
        data = self._data(paths.CLUSTER_ID)
        return None if data is None else ClusterId.decode(data).id

    def create_or_get_cluster_id(self) -> str:
        """Return the cluster id; the first broker creates it, the others lose the race and read it."""
        proposed = ClusterId.generate()
        try:
            self.zookeeper.create_recursive(paths.CLUSTER_ID, proposed.encode())
        except NodeExistsError:
            return ClusterId.decode(self.zookeeper.get(paths.CLUSTER_ID)[0]).id
        return proposed.id

    def register_broker(self, broker_id: int, registration: BrokerRegistration) -> None:
        """Create /brokers/ids/N. Raises NodeExistsError if another live broker has the id.

        A node left by an earlier run of this broker disappears when its session expires; this method waits for that.
        """
        path = paths.broker(broker_id)
        deadline_ms = self._time.hi_res_ms() + 2 * self._session_timeout_ms
        while not self._create_own_ephemeral(path, registration.encode()):
            if self._time.hi_res_ms() >= deadline_ms:
                raise NodeExistsError(
                    f"A broker is already registered on the path {path}. This probably indicates that you either have "
                    "configured a brokerid that is already in use, or else you have shutdown this broker and restarted "
                    "it faster than the zookeeper timeout so it appears to be re-registering."
                )
            self._time.sleep(_OWN_SESSION_POLL_MS)
        logger.info("Registered broker %s at path %s with %s", broker_id, path, ", ".join(registration.endpoints))

    def _create_own_ephemeral(self, path: str, data: bytes) -> bool:
        """Create a node. Returns whether it is ours, created now or by an earlier try whose response was lost."""
        try:
            self.zookeeper.create(path, data, ephemeral=True)
        except NodeExistsError:
            stat = self.zookeeper.exists(path)
            if stat is None:
                return self._create_own_ephemeral(path, data)
            return stat.ephemeral_owner == self.zookeeper.session_id
        return True

    def get_broker_ids(self) -> list[int]:
        """The ids of all live brokers, sorted."""
        return sorted(int(name) for name in self.zookeeper.children(paths.BROKER_IDS))

    def get_broker(self, broker_id: int) -> BrokerRegistration | None:
        """The registration of a live broker, or None."""
        data = self._data(paths.broker(broker_id))
        return None if data is None else BrokerRegistration.decode(data)

    def get_broker_epoch(self, broker_id: int) -> int | None:
        """The epoch of a live broker, or None. It is the zxid of its registration, which grows with each restart."""
        stat = self.zookeeper.exists(paths.broker(broker_id))
        return None if stat is None else stat.czxid

    def get_brokers(self) -> dict[int, BrokerRegistration]:
        """All live brokers; one with an unreadable registration is logged and left out."""
        return {broker_id: registration for broker_id, (registration, _) in self.get_brokers_and_epochs().items()}

    def get_brokers_and_epochs(self) -> dict[int, tuple[BrokerRegistration, int]]:
        """Like ``get_brokers``, with the epoch of each broker (see ``get_broker_epoch``)."""
        brokers = {}
        for broker_id in self.get_broker_ids():
            try:
                data, stat = self.zookeeper.get(paths.broker(broker_id))
                if data is not None:
                    brokers[broker_id] = BrokerRegistration.decode(data), stat.czxid
            except NoNodeError:
                continue
            except ZnodeDataError as error:
                logger.error("Broker %s has an unreadable registration: %s", broker_id, error)
        return brokers

    def watch_broker_ids(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` when brokers are added or removed."""
        self.zookeeper.watch_children(paths.BROKER_IDS, callback)

    def generate_broker_sequence_id(self) -> int:
        """Generate a unique broker id: each write of the node increments its version."""
        self.zookeeper.ensure_path(paths.BROKER_SEQUENCE_ID)
        return self.zookeeper.set(paths.BROKER_SEQUENCE_ID, b"")

    # --------------------------------------------------------------------------------------------------- producer ids

    def get_producer_id_block(self) -> tuple[ProducerIdsBlock, int] | None:
        """(the last block that was allocated, znode version), or None before the first one."""
        try:
            data, stat = self.zookeeper.get(paths.PRODUCER_ID_BLOCK)
        except NoNodeError:
            return None
        return ProducerIdsBlock.decode(data), stat.version

    def create_producer_id_block(self, block: ProducerIdsBlock) -> bool:
        """Allocate the first block. Returns False if another broker did."""
        try:
            self.zookeeper.create(paths.PRODUCER_ID_BLOCK, block.encode())
        except NodeExistsError:
            return False
        return True

    def set_producer_id_block(self, block: ProducerIdsBlock, expected_version: int) -> bool:
        """Allocate a block, unless another broker has done so since ``expected_version``."""
        return self._conditional_set(paths.PRODUCER_ID_BLOCK, block.encode(), expected_version) is not None

    # ----------------------------------------------------------------------------------------------------- controller

    def get_controller_id(self) -> int | None:
        """The id of the current controller, or None."""
        data = self._data(paths.CONTROLLER)
        return None if data is None else ControllerData.decode(data).broker_id

    def register_controller_and_increment_epoch(self, broker_id: int) -> tuple[int, int] | None:
        """Try to become the controller. Returns the new epoch and the version of its znode; None if another broker won.

        Both znodes are written together. Kafka 0.10 writes one after the other: a broker whose session expires between
        the two could fence the controller that replaces it.
        """
        registration = ControllerData(broker_id, self._time.milliseconds()).encode()
        register = CreateNode(paths.CONTROLLER, registration, ephemeral=True)
        while True:
            found = self.get_controller_epoch()
            if found is None:
                epoch, version = FIRST_CONTROLLER_EPOCH, 0
                raise_epoch: Operation = CreateNode(paths.CONTROLLER_EPOCH, encode_int(epoch))
            else:
                epoch, version = found[0] + 1, found[1] + 1
                raise_epoch = SetNode(paths.CONTROLLER_EPOCH, encode_int(epoch), found[1])
            results = self.zookeeper.commit([register, raise_epoch])
            if not any(isinstance(result, ZkError) for result in results):
                return epoch, version
            # It may be our own transaction, sent twice because the first response was lost.
            stat = self.zookeeper.exists(paths.CONTROLLER)
            if stat is not None:
                is_ours = stat.ephemeral_owner == self.zookeeper.session_id
                return (epoch, version) if is_ours and self.get_controller_epoch() == (epoch, version) else None

    def fenced_by_controller_epoch(self, version: int) -> AbstractContextManager[None]:
        """Within the block this thread writes only until another controller raises the epoch. Raises FencedError."""
        return self.zookeeper.fenced_by(paths.CONTROLLER_EPOCH, version)

    def owns_controller(self) -> bool:
        """Whether this session has created /controller."""
        stat = self.zookeeper.exists(paths.CONTROLLER)
        return stat is not None and stat.ephemeral_owner == self.zookeeper.session_id

    def delete_own_controller(self) -> None:
        """Delete /controller if this session has created it."""
        if self.owns_controller():
            self.delete_controller()

    def delete_controller(self) -> None:
        """Resign as controller; the brokers that watch the node then try to become it."""
        self._delete_if_there(paths.CONTROLLER)

    def watch_controller(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` when /controller is created, changed or deleted."""
        self.zookeeper.watch_data(paths.CONTROLLER, callback)

    def get_controller_epoch(self) -> tuple[int, int] | None:
        """(epoch, znode version), or None before the first controller."""
        try:
            data, stat = self.zookeeper.get(paths.CONTROLLER_EPOCH)
        except NoNodeError:
            return None
        return decode_int(data, paths.CONTROLLER_EPOCH), stat.version

    # --------------------------------------------------------------------------------------------------------- topics

    def get_all_topics(self) -> list[str]:
        """All topics, sorted."""
        return self.zookeeper.children(paths.TOPICS)

    def topic_exists(self, topic: str) -> bool:
        """Whether the topic has an assignment (it may be about to be deleted)."""
        return self.zookeeper.exists(paths.topic(topic)) is not None

    def get_topic_assignment(self, topic: str) -> TopicAssignment | None:
        """The replica assignment of a topic, or None."""
        data = self._data(paths.topic(topic))
        return None if data is None else TopicAssignment.decode(data, topic)

    def get_topic_assignments(self, topics: Iterable[str]) -> dict[str, TopicAssignment]:
        """The replica assignments of these topics; an unreadable topic is logged and left out."""
        found = {}
        for topic in topics:
            try:
                assignment = self.get_topic_assignment(topic)
            except ZnodeDataError as error:
                logger.error("Ignoring topic %s: %s", topic, error)
                continue
            if assignment is not None:
                found[topic] = assignment
        return found

    def get_replica_assignment(self, topics: Iterable[str]) -> dict[TopicPartition, list[int]]:
        """The replicas of every partition of these topics; an unreadable topic is logged and left out."""
        return {
            TopicPartition(topic, partition): replicas
            for topic, assignment in self.get_topic_assignments(topics).items()
            for partition, replicas in assignment.partitions.items()
        }

    def create_topic_assignment(self, topic: str, assignment: TopicAssignment) -> None:
        """Create a topic. Raises NodeExistsError."""
        self.zookeeper.create_recursive(paths.topic(topic), assignment.encode())

    def set_topic_assignment(self, topic: str, assignment: TopicAssignment) -> None:
        """Write a topic's assignment, whatever it was. Raises NoNodeError."""
        self.zookeeper.set(paths.topic(topic), assignment.encode())

    def change_topic_assignment(self, topic: str, change: Callable[[TopicAssignment], TopicAssignment]) -> None:
        """Write what ``change`` makes of a topic's assignment; it is called again if another write came in between.

        Raises NoNodeError.
        """
        path = paths.topic(topic)
        written = None
        while True:
            data, stat = self.zookeeper.get(path)
            if data == written:
                return  # by our own write, whose response was lost
            written = change(TopicAssignment.decode(data, topic)).encode()
            try:
                self.zookeeper.set(path, written, stat.version)
            except BadVersionError:
                continue
            return

    def watch_topics(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` when topics are created or deleted."""
        self.zookeeper.watch_children(paths.TOPICS, callback)

    def watch_topic(self, topic: str, callback: Callable[[], None]) -> None:
        """Call ``callback`` when a topic's assignment changes."""
        self.zookeeper.watch_data(paths.topic(topic), callback)

    def unwatch_topic(self, topic: str) -> None:
        """Stop watching a topic."""
        self.zookeeper.unwatch(paths.topic(topic))

    def delete_topic_znode(self, topic: str) -> None:
        """Delete /brokers/topics/T and all below it."""
        self.zookeeper.delete_recursive(paths.topic(topic))

    # ------------------------------------------------------------------------------------------------ partition state

    def get_partition_state(self, partition: TopicPartition) -> LeaderIsrAndControllerEpoch | None:
        """The leader and ISR of a partition, with the znode's version as ``zk_version``, or None."""
        path = paths.partition_state(*partition)
        try:
            data, stat = self.zookeeper.get(path)
        except NoNodeError:
            return None
        return LeaderIsrAndControllerEpoch.decode(data, stat.version, path)

    def create_partition_state(self, partition: TopicPartition, state: LeaderIsrAndControllerEpoch) -> None:
        """Write a partition's first leader and ISR, creating parent nodes. Raises NodeExistsError."""
        self.zookeeper.create_recursive(paths.partition_state(*partition), state.encode())

    def get_partition_states(
        self, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, LeaderIsrAndControllerEpoch]:
        """Like ``get_partition_state`` for many partitions; those without state are left out."""
        asked = {partition: paths.partition_state(*partition) for partition in partitions}
        states = {}
        for (partition, path), found in zip(asked.items(), self.zookeeper.get_all(list(asked.values())), strict=True):
            if isinstance(found, ZkError):
                if not isinstance(found, NoNodeError):
                    raise found
                continue
            states[partition] = LeaderIsrAndControllerEpoch.decode(found[0], found[1].version, path)
        return states

    def create_partition_states(
        self, states: Mapping[TopicPartition, LeaderIsrAndControllerEpoch]
    ) -> set[TopicPartition]:
        """Write the first leader and ISR of many partitions, and parent nodes. Returns those that already had a state.

        An existing state that is equal to the new one counts as our own write, whose response was lost.
        """
        for topic in dict.fromkeys(partition.topic for partition in states):
            self.zookeeper.ensure_path(paths.topic_partitions(topic))
        nodes = []
        for partition, state in states.items():
            path = paths.partition_state(*partition)
            nodes += [CreateNode(path.rpartition("/")[0], None), CreateNode(path, state.encode())]
        results = self.zookeeper.write_all(nodes)[1::2]
        refused = {partition: error for partition, error in zip(states, results, strict=True) if error is not None}
        for error in refused.values():
            if isinstance(error, ZkError) and not isinstance(error, NodeExistsError):
                raise error
        found = self.get_partition_states(refused)
        return {partition for partition in refused if found.get(partition) != states[partition]}

    def update_partition_state(self, partition: TopicPartition, state: LeaderIsrAndControllerEpoch) -> int | None:
        """Write leader and ISR if the node still has the version ``state.leader_and_isr.zk_version``.

        Returns the new version, or None if the node was changed or deleted; then nothing is written.
        """
        version = state.leader_and_isr.zk_version
        return self._conditional_set(paths.partition_state(*partition), state.encode(), version)

    def update_partition_states(
        self, states: Mapping[TopicPartition, LeaderIsrAndControllerEpoch]
    ) -> dict[TopicPartition, int]:
        """Like ``update_partition_state`` for many partitions; returns the new versions of those written."""
        writes = [
            SetNode(paths.partition_state(*partition), state.encode(), state.leader_and_isr.zk_version)
            for partition, state in states.items()
        ]
        results = self.zookeeper.write_all(writes)
        return {
            partition: version for partition, version in zip(states, results, strict=True) if isinstance(version, int)
        }

    def _conditional_set(self, path: str, data: bytes, expected_version: int) -> int | None:
        try:
            return self.zookeeper.set(path, data, expected_version)
        except NoNodeError:
            return None
        except BadVersionError:
            # It may be our own write, sent twice because the first response was lost.
            try:
                found, stat = self.zookeeper.get(path)
            except NoNodeError:
                return None
            return stat.version if found == data and stat.version == expected_version + 1 else None

    def watch_partition_state(self, partition: TopicPartition, callback: Callable[[], None]) -> None:
        """Call ``callback`` when a partition's leader or ISR changes."""
        self.zookeeper.watch_data(paths.partition_state(*partition), callback)

    def unwatch_partition_state(self, partition: TopicPartition) -> None:
        """Stop watching a partition's leader and ISR."""
        self.zookeeper.unwatch(paths.partition_state(*partition))

    # --------------------------------------------------------------------------------------- ISR change notifications

    def propagate_isr_changes(self, partitions: Collection[TopicPartition]) -> None:
        """Notify the controller that a leader changed the ISR of these partitions."""
        path = f"{paths.ISR_CHANGE_NOTIFICATIONS}/{paths.ISR_CHANGE_PREFIX}"
        self.zookeeper.create(path, encode_partitions(partitions), sequential=True)

    def get_isr_change_notifications(self) -> list[str]:
        """The names of the notifications, oldest first."""
        return sorted(self.zookeeper.children(paths.ISR_CHANGE_NOTIFICATIONS), key=paths.sequence_number)

    def get_isr_changes(self, names: Iterable[str]) -> set[TopicPartition]:
        """The partitions in these notifications."""
        changed: set[TopicPartition] = set()
        for name in names:
            path = f"{paths.ISR_CHANGE_NOTIFICATIONS}/{name}"
            try:
                changed.update(decode_partitions(self._data(path), path))
            except ZnodeDataError as error:
                logger.error("Invalid ISR change notification: %s", error)
        return changed

    def delete_isr_change_notifications(self, names: Iterable[str] | None = None) -> None:
        """Delete these notifications, or all."""
        for name in self.get_isr_change_notifications() if names is None else names:
            self._delete_if_there(f"{paths.ISR_CHANGE_NOTIFICATIONS}/{name}")

    def watch_isr_changes(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` when there are new notifications."""
        self.zookeeper.watch_children(paths.ISR_CHANGE_NOTIFICATIONS, callback)

    # ------------------------------------------------------------------------------------------------- topic deletion

    def create_delete_topic(self, topic: str) -> None:
        """Ask the controller to delete a topic. Raises NodeExistsError if that was already requested."""
        self.zookeeper.create_recursive(paths.delete_topic(topic), b"")

    def get_topics_marked_for_deletion(self) -> list[str]:
        """The topics marked for deletion."""
        return self.zookeeper.children(paths.DELETE_TOPICS)

    def is_topic_marked_for_deletion(self, topic: str) -> bool:
        """Whether the topic is marked for deletion."""
        return self.zookeeper.exists(paths.delete_topic(topic)) is not None

    def delete_delete_topic(self, topic: str) -> None:
        """Remove the mark: the topic has been deleted, or will not be."""
        self._delete_if_there(paths.delete_topic(topic))

    def watch_topic_deletions(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` when topics are marked for deletion."""
        self.zookeeper.watch_children(paths.DELETE_TOPICS, callback)

    # ------------------------------------------------------------------------------------------------- configurations

    def get_entity_config(self, entity_path: str) -> dict[str, str]:
        """The overrides of an entity such as ``topics/T``; empty if it has no node."""
        path = paths.entity_config(entity_path)
        return decode_config(self._data(path), path)

    def set_entity_config(self, entity_path: str, config: Mapping[str, str]) -> None:
        """Write all overrides of an entity."""
        self.zookeeper.set_or_create(paths.entity_config(entity_path), encode_config(config))

    def delete_entity_config(self, entity_path: str) -> None:
        """Delete all overrides of an entity."""
        self.zookeeper.delete_recursive(paths.entity_config(entity_path))

    def get_entities(self, entity_type: str) -> list[str]:
        """The entities of a type (``topics``, ``clients``, ``users``, ``brokers``) that have a node."""
        return self.zookeeper.children(paths.entity_config(entity_type))

    def create_config_change(self, entity_path: str) -> None:
        """Notify all brokers that the overrides of an entity have changed."""
        path = f"{paths.CONFIG_CHANGES}/{paths.CONFIG_CHANGE_PREFIX}"
        self.zookeeper.ensure_path(paths.CONFIG_CHANGES)
        self.zookeeper.create(path, ConfigChange(entity_path).encode(), sequential=True)

    # ---------------------------------------------------------------------------------------- offsets of old consumers

    def get_consumer_offset(self, group: str, partition: TopicPartition) -> int | None:
        """The offset that a group has committed to ZooKeeper, or None."""
        path = paths.consumer_offset(group, *partition)
        data = self._data(path)
        return None if data is None else decode_int(data, path)

    def set_consumer_offset(self, group: str, partition: TopicPartition, offset: int) -> None:
        """Commit an offset to ZooKeeper."""
        self.zookeeper.set_or_create(paths.consumer_offset(group, *partition), encode_int(offset))

    # -------------------------------------------------------------------------------------------------------- helpers

    def _data(self, path: str) -> bytes | None:
        try:
            return self.zookeeper.get(path)[0]
        except NoNodeError:
            return None

    def _delete_if_there(self, path: str) -> None:
        with contextlib.suppress(NoNodeError):
            self.zookeeper.delete(path)
