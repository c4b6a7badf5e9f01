"""Requests that tools leave for the controller in /admin: reassignments, and elections of preferred replicas.

Kafka 0.10.2: core/.../utils/ZkUtils.scala (getPartitionsBeingReassigned, updatePartitionReassignmentData,
getPartitionsUndergoingPreferredReplicaElection) · book 7.1.6
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.zookeeper import paths
from kafka_lite.zookeeper.data import (
    decode_partitions,
    decode_reassignment,
    encode_partitions,
    encode_reassignment,
)
from kafka_lite.zookeeper.zk_errors import BadVersionError, NoNodeError
from kafka_lite.zookeeper.zookeeper_client import ZooKeeperClient


class AdminRequests:
    """/admin/reassign_partitions and /admin/preferred_replica_election.

    A tool creates a node and the controller deletes it when everything is done, so there is one request of each kind at
    a time. An unreadable node raises ZnodeDataError.
    """

    def __init__(self, zookeeper: ZooKeeperClient) -> None:
        self._zookeeper = zookeeper

    # -------------------------------------------------------------------------------------------------- reassignments

    def create_reassignment(self, target_replicas: Mapping[TopicPartition, list[int]]) -> None:
        """Ask for a reassignment. Raises NodeExistsError if one is in progress."""
        self._zookeeper.create_recursive(paths.REASSIGN_PARTITIONS, encode_reassignment(target_replicas))

    def get_reassignment(self) -> dict[TopicPartition, list[int]]:
        """The new replicas of each partition that is still to be reassigned."""
        try:
            return decode_reassignment(self._zookeeper.get(paths.REASSIGN_PARTITIONS)[0])
        except NoNodeError:
            return {}

    def remove_reassignments(self, is_done: Callable[[TopicPartition, list[int]], bool]) -> None:
        """Remove the partitions for which ``is_done`` of partition and new replicas; delete the node with the last."""
        while True:
            try:
                data, stat = self._zookeeper.get(paths.REASSIGN_PARTITIONS)
                found = decode_reassignment(data)
                left = {
                    partition: replicas for partition, replicas in found.items() if not is_done(partition, replicas)
                }
                if not left:
                    self._zookeeper.delete(paths.REASSIGN_PARTITIONS, stat.version)
                elif len(left) < len(found):
                    self._zookeeper.set(paths.REASSIGN_PARTITIONS, encode_reassignment(left), stat.version)
            except NoNodeError:
                return
            except BadVersionError:
                continue  # it was written in between
            return

    def watch_reassignment(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` when a reassignment is requested, or the request changes."""
        self._zookeeper.watch_data(paths.REASSIGN_PARTITIONS, callback)

    # ------------------------------------------------------------------------------------------------------ elections

    def create_preferred_replica_election(self, partitions: Collection[TopicPartition]) -> None:
        """Ask for an election. Raises NodeExistsError if one is in progress."""
        self._zookeeper.create_recursive(paths.PREFERRED_REPLICA_ELECTION, encode_partitions(partitions))

    def get_preferred_replica_election(self) -> set[TopicPartition] | None:
        """The partitions for which an election was requested; None without a request."""
        try:
            data = self._zookeeper.get(paths.PREFERRED_REPLICA_ELECTION)[0]
        except NoNodeError:
            return None
        return set(decode_partitions(data, paths.PREFERRED_REPLICA_ELECTION))

    def delete_preferred_replica_election(self) -> None:
        """Remove the request: it is done."""
        self._delete_if_there(paths.PREFERRED_REPLICA_ELECTION)

    def delete_reassignment(self) -> None:
        """Remove the whole request, even if it is unreadable."""
        self._delete_if_there(paths.REASSIGN_PARTITIONS)

    def watch_preferred_replica_election(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` when an election is requested."""
        self._zookeeper.watch_data(paths.PREFERRED_REPLICA_ELECTION, callback)

    def _delete_if_there(self, path: str) -> None:
        try:
            self._zookeeper.delete(path)
        except NoNodeError:
            return
