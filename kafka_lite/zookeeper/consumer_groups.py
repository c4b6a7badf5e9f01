"""Groups of old consumers: their members, partition owners and offsets.

Kafka 0.10.2: core/.../utils/ZkUtils.scala, ZKGroupDirs, ZKGroupTopicDirs, ZKCheckedEphemeral · book 3.2.1
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterable, Mapping

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.zookeeper import paths
from kafka_lite.zookeeper.data import ConsumerRegistration, decode_int, encode_int
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.zk_errors import NodeExistsError, NoNodeError, ZkError
from kafka_lite.zookeeper.znode_json import ZnodeDataError
from kafka_lite.zookeeper.zookeeper_client import ZooKeeperClient

logger = logging.getLogger(__name__)


class ConsumerGroups:
    """Reads and writes the znodes under /consumers::

        /consumers/g/ids/g_host-1795248570284-adab17da   {"version":1,"subscription":{"t":2},"pattern":"static",…}
        /consumers/g/owners/t/0                          g_host-1795248570284-adab17da-0
        /consumers/g/offsets/t/0                         33

    Ids and owners are ephemeral: they disappear with their member's session. Offsets stay. An owner is a thread: the
    member's id, ``-``, and the thread's number.
    """

    def __init__(self, zk: KafkaZkClient) -> None:
        self._zk = zk

    @property
    def _zookeeper(self) -> ZooKeeperClient:
        return self._zk.zookeeper

    # ── Members ───────────────────────────────────────────────────────────────────────────────────────────────────

    def get_groups(self) -> list[str]:
        """All groups that have not been deleted, including inactive ones, sorted."""
        return self._zookeeper.children(paths.CONSUMERS)

    def get_consumers_in_group(self, group: str) -> list[str]:
        """The ids of the members, sorted."""
        return self._zookeeper.children(paths.consumer_ids(group))

    def register_consumer(self, group: str, consumer: str, registration: ConsumerRegistration) -> None:
        """Join the group. Raises NodeExistsError if another session has a member with that id."""
        for path in (paths.CONSUMERS, paths.consumer_group(group), paths.consumer_ids(group)):
            with contextlib.suppress(NodeExistsError):
                self._zookeeper.create_recursive(path, None if path == paths.CONSUMERS else b"")
        path = paths.consumer_id(group, consumer)
        if not self._create_own_ephemeral(path, registration.encode()):
            raise NodeExistsError(f"{path}: another consumer has this id. Is the same consumer.id set twice?")

    def get_registration(self, group: str, consumer: str) -> ConsumerRegistration | None:
        """The subscription of a member, or None if it has left. Raises ZnodeDataError."""
        try:
            data, _ = self._zookeeper.get(paths.consumer_id(group, consumer))
        except NoNodeError:
            return None
        return ConsumerRegistration.decode(data)

    def delete_registration(self, group: str, consumer: str) -> None:
        """Leave the group."""
        with contextlib.suppress(NoNodeError):
            self._zookeeper.delete(paths.consumer_id(group, consumer))

    def watch_consumers(self, group: str, callback: Callable[[], None]) -> None:
        """Call ``callback`` when members join or leave. The group must exist."""
        self._zookeeper.watch_children(paths.consumer_ids(group), callback)

    # ── Owners ────────────────────────────────────────────────────────────────────────────────────────────────────

    def create_owner(self, group: str, partition: TopicPartition, thread_id: str) -> bool:
        """Claim a partition for a thread. Returns False if it has an owner, even this thread in an expiring session."""
        path = paths.consumer_owner(group, *partition)
        self._zookeeper.ensure_path(path.rpartition("/")[0])
        return self._create_own_ephemeral(path, thread_id.encode())

    def get_owner(self, group: str, partition: TopicPartition) -> str | None:
        """The thread that owns a partition, or None."""
        try:
            data, _ = self._zookeeper.get(paths.consumer_owner(group, *partition))
        except NoNodeError:
            return None
        return (data or b"").decode("utf-8", "replace")

    def release_owner(self, group: str, partition: TopicPartition, thread_id: str) -> bool:
        """Release a partition. Returns False, and changes nothing, if another thread owns it by now."""
        path = paths.consumer_owner(group, *partition)
        try:
            data, stat = self._zookeeper.get(path)
            if data != thread_id.encode():
                return False
            self._zookeeper.delete(path, stat.version)
        except NoNodeError:
            return False
        return True

    def get_topics_of_group(self, group: str) -> list[str]:
        """The topics of which members own or have owned partitions, sorted."""
        return self._zookeeper.children(paths.consumer_owners(group))

    # ── Offsets ───────────────────────────────────────────────────────────────────────────────────────────────────

    def get_offset(self, group: str, partition: TopicPartition) -> int | None:
        """The committed offset, or None. Raises ZnodeDataError."""
        path = paths.consumer_offset(group, *partition)
        try:
            data, _ = self._zookeeper.get(path)
        except NoNodeError:
            return None
        return decode_int(data, path)

    def get_offsets(self, group: str, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """The committed offsets of those partitions that have one. Raises ZnodeDataError."""
        asked = {partition: paths.consumer_offset(group, *partition) for partition in partitions}
        found = {}
        for (partition, path), result in zip(asked.items(), self._zookeeper.get_all(list(asked.values())), strict=True):
            if isinstance(result, NoNodeError):
                continue
            if isinstance(result, ZkError):
                raise result
            found[partition] = decode_int(result[0], path)
        return found

    def get_all_offsets(self, group: str) -> dict[TopicPartition, int]:
        """All committed offsets of the group, sorted by topic and partition. Raises ZnodeDataError."""
        partitions = [
            TopicPartition(topic, int(name))
            for topic in self.get_topics_with_offsets(group)
            for name in self._zookeeper.children(f"{paths.consumer_offsets(group)}/{topic}")
            if name.isdecimal() and name.isascii()
        ]
        return self.get_offsets(group, sorted(partitions))

    def set_offset(self, group: str, partition: TopicPartition, offset: int) -> None:
        """Commit an offset."""
        self._zookeeper.set_or_create(paths.consumer_offset(group, *partition), encode_int(offset))

    def has_offsets(self, group: str) -> bool:
        """Whether the group has ever committed offsets to ZooKeeper."""
        return self._zookeeper.exists(paths.consumer_offsets(group)) is not None

    def get_topics_with_offsets(self, group: str) -> list[str]:
        """The topics for which the group has committed offsets, sorted."""
        return self._zookeeper.children(paths.consumer_offsets(group))

    def delete_group(self, group: str) -> bool:
        """Delete the group with its offsets. Returns False if it does not exist."""
        return self._zookeeper.delete_recursive(paths.consumer_group(group))

    # ── For rebalancing ───────────────────────────────────────────────────────────────────────────────────────────

    def get_registrations(self, group: str) -> dict[str, ConsumerRegistration]:
        """The subscriptions of all members by id; members that have left or have unreadable data are left out."""
        found = {}
        for consumer in self.get_consumers_in_group(group):
            try:
                registration = self.get_registration(group, consumer)
            except ZnodeDataError as error:
                logger.error("error parsing consumer %s of group %s: %s", consumer, group, error)
                continue
            if registration is not None:
                found[consumer] = registration
        return found

    def get_partitions_for_topics(self, topics: Iterable[str]) -> Mapping[str, list[int]]:
        """The partitions of each topic, in order; empty for a topic that does not exist."""
        partitions: dict[str, list[int]] = {topic: [] for topic in topics}
        for topic, number in sorted(self._zk.get_replica_assignment(partitions)):
            partitions[topic].append(number)
        return partitions

    def _create_own_ephemeral(self, path: str, data: bytes) -> bool:
        """Create a node. Returns whether this session owns it, created now or by a try whose response was lost."""
        while True:
            try:
                self._zookeeper.create(path, data, ephemeral=True)
            except NodeExistsError:
                stat = self._zookeeper.exists(path)
                if stat is None:
                    continue
                return stat.ephemeral_owner == self._zookeeper.session_id
            return True
