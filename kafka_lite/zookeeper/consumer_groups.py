"""The groups of old consumers: who is there, who owns which partition, how far each is consumed.

Kafka 0.10.2: core/.../utils/ZkUtils.scala, ZKGroupDirs, ZKGroupTopicDirs, ZKCheckedEphemeral · book 3.2.1
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterable, Mapping

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.zookeeper import paths
from kafka_lite.zookeeper.client import KafkaZkClient
from kafka_lite.zookeeper.data import ConsumerRegistration, ZnodeDataError, decode_int, encode_int
from kafka_lite.zookeeper.zookeeper_client import NodeExistsError, NoNodeError, ZkError, ZooKeeperClient

logger = logging.getLogger(__name__)


class ConsumerGroups:
    """Reads and writes what lies under /consumers::

        /consumers/g/ids/g_host-1795248570284-adab17da   {"version":1,"subscription":{"t":2},"pattern":"static",…}
        /consumers/g/owners/t/0                          g_host-1795248570284-adab17da-0
        /consumers/g/offsets/t/0                         33

    Ids and owners are ephemeral: they go with their member's session. Offsets stay. An owner is a thread: the
    member's id, ``-``, and the thread's number.
    """

    def __init__(self, zk: KafkaZkClient) -> None:
        self._zk = zk

    @property
    def _zookeeper(self) -> ZooKeeperClient:
        return self._zk.zookeeper

    # ── Members ───────────────────────────────────────────────────────────────────────────────────────────────────

    def get_groups(self) -> list[str]:
        """All groups that were ever here and not deleted, sorted."""
        return self._zookeeper.children(paths.CONSUMERS)

    def get_consumers_in_group(self, group: str) -> list[str]:
        """The ids of the members, sorted."""
        return self._zookeeper.children(paths.consumer_ids(group))

    def register_consumer(self, group: str, consumer: str, registration: ConsumerRegistration) -> None:
        """Join the group. Raises NodeExistsError when another session has a member of that id."""
        for path in (paths.CONSUMERS, paths.consumer_group(group), paths.consumer_ids(group)):
            with contextlib.suppress(NodeExistsError):
                self._zookeeper.create_recursive(path, None if path == paths.CONSUMERS else b"")
        path = paths.consumer_id(group, consumer)
        if not self._create_own_ephemeral(path, registration.encode()):
            raise NodeExistsError(f"{path}: another consumer has this id; is consumer.id set to the same twice?")

    def get_registration(self, group: str, consumer: str) -> ConsumerRegistration | None:
        """What a member subscribes to; None when it is gone. Raises ZnodeDataError."""
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
        """Call back when members come or go. The group must be there."""
        self._zookeeper.watch_children(paths.consumer_ids(group), callback)

    # ── Owners ────────────────────────────────────────────────────────────────────────────────────────────────────

    def create_owner(self, group: str, partition: TopicPartition, thread_id: str) -> bool:
        """Claim a partition for a thread; false when somebody has it, be it this thread in a session that ends soon."""
        path = paths.consumer_owner(group, *partition)
        self._zookeeper.ensure_path(path.rpartition("/")[0])
        return self._create_own_ephemeral(path, thread_id.encode())

    def get_owner(self, group: str, partition: TopicPartition) -> str | None:
        """The thread that owns a partition; None for nobody."""
        try:
            data, _ = self._zookeeper.get(paths.consumer_owner(group, *partition))
        except NoNodeError:
            return None
        return (data or b"").decode("utf-8", "replace")

    def release_owner(self, group: str, partition: TopicPartition, thread_id: str) -> bool:
        """Give a partition back; false when it belonged to somebody else already, whom it stays with."""
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
        """The topics of which members own partitions now, or did, sorted."""
        return self._zookeeper.children(paths.consumer_owners(group))

    # ── Offsets ───────────────────────────────────────────────────────────────────────────────────────────────────

    def get_offset(self, group: str, partition: TopicPartition) -> int | None:
        """The committed offset; None when there is none. Raises ZnodeDataError."""
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
        for (partition, path), answer in zip(asked.items(), self._zookeeper.get_all(list(asked.values())), strict=True):
            if isinstance(answer, NoNodeError):
                continue
            if isinstance(answer, ZkError):
                raise answer
            found[partition] = decode_int(answer[0], path)
        return found

    def get_all_offsets(self, group: str) -> dict[TopicPartition, int]:
        """All that the group has committed, by topic and partition. Raises ZnodeDataError."""
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
        """Whether the group has ever committed here."""
        return self._zookeeper.exists(paths.consumer_offsets(group)) is not None

    def get_topics_with_offsets(self, group: str) -> list[str]:
        """The topics of which the group has committed offsets, sorted."""
        return self._zookeeper.children(paths.consumer_offsets(group))

    def delete_group(self, group: str) -> bool:
        """Forget the group, offsets and all; false when there is none."""
        return self._zookeeper.delete_recursive(paths.consumer_group(group))

    # ── What rebalancing asks ─────────────────────────────────────────────────────────────────────────────────────

    def get_registrations(self, group: str) -> dict[str, ConsumerRegistration]:
        """The subscriptions of all members by id; one that leaves meanwhile, or cannot be understood, is left out."""
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
        """The partitions of each topic, in order; none of a topic that is not there."""
        partitions: dict[str, list[int]] = {topic: [] for topic in topics}
        for topic, number in sorted(self._zk.get_replica_assignment(partitions)):
            partitions[topic].append(number)
        return partitions

    def _create_own_ephemeral(self, path: str, data: bytes) -> bool:
        """Whether the node is there and of this session: created now, or by a try whose answer was lost."""
        while True:
            try:
                self._zookeeper.create(path, data, ephemeral=True)
            except NodeExistsError:
                stat = self._zookeeper.exists(path)
                if stat is None:
                    continue
                return stat.ephemeral_owner == self._zookeeper.session_id
            return True
