"""The operations of ``reassign-partitions``, through the brokers or directly in ZooKeeper.

Kafka 0.10.2: core/.../admin/ReassignPartitionsCommand.scala (ZooKeeper); 2.6: the same file (brokers) · book 7.1.6
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Protocol

from kafka_lite.admin.admin_utils import BROKERS, AdminUtils, RackAwareMode
from kafka_lite.admin.replica_assignment import BrokerMetadata
from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.replica_assignment import ReplicaAssignment, assignment_of
from kafka_lite.protocol.messages.api_34_alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)
from kafka_lite.protocol.messages.api_45_alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignableTopic,
)
from kafka_lite.protocol.messages.api_46_list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from kafka_lite.tools.admin.admin_channel import AdminChannel, check_answered, check_error
from kafka_lite.tools.admin.configs import alter_configs
from kafka_lite.tools.admin.log_dir_descriptions import live_replicas
from kafka_lite.tools.admin.log_dir_moves import ReplicaLogDirs
from kafka_lite.tools.admin.partition_json import Assignments, LogDirs, Replica
from kafka_lite.tools.admin.replication_throttles import ConfigChanges
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.zookeeper.admin_requests import AdminRequests
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.zk_errors import NodeExistsError

Reassignments = dict[TopicPartition, ReplicaAssignment]


class ReassignmentService(Protocol):
    """Raises ToolError, ApiError and ConnectionError, whose texts are shown to the user."""

    def brokers(self, *, rack_aware: bool) -> list[BrokerMetadata]:
        """The live brokers; without racks unless ``rack_aware``."""
        ...

    def assignments(self, topics: Collection[str]) -> Reassignments:
        """All partitions of these topics and their replicas; those that are being reassigned say so."""
        ...

    def in_progress(self) -> Reassignments:
        """All reassignments in progress."""
        ...

    def start(self, targets: Assignments) -> None:
        """Start to reassign these partitions."""
        ...

    def cancel(self, partitions: Collection[TopicPartition]) -> None:
        """Cancel reassignments that are in progress."""
        ...

    def sizes(self, topics: Collection[str]) -> dict[tuple[int, TopicPartition], int]:
        """The bytes of each replica on its broker, as far as they are known."""
        ...

    def alter_configs(self, changes: ConfigChanges) -> bool:
        """Change the configurations of topics and live brokers; false if nothing had to be changed."""
        ...

    def log_dirs(self, replicas: Collection[Replica]) -> dict[Replica, ReplicaLogDirs]:
        """The log directories of these replicas."""
        ...

    def alter_log_dirs(self, moves: LogDirs) -> set[Replica]:
        """Move replicas to other log directories of their brokers; returns those whose brokers have them."""
        ...


class BrokerReassignmentService:
    """Asks the controller: AlterPartitionReassignments, ListPartitionReassignments."""

    def __init__(self, channel: AdminChannel) -> None:
        self._channel = channel

    def brokers(self, *, rack_aware: bool) -> list[BrokerMetadata]:
        """The live brokers, from Metadata. Raises ToolError if only some have a rack."""
        self._channel.refresh()
        brokers = [BrokerMetadata(id_, broker.rack) for id_, broker in sorted(self._channel.brokers.items())]
        if not rack_aware:
            return [BrokerMetadata(broker.id) for broker in brokers]
        if len({broker.rack is None for broker in brokers}) == 2:
            raise ToolError(
                "Not all brokers have rack information. Add --disable-rack-aware in command line to make replica "
                "assignment without rack information."
            )
        return brokers

    def assignments(self, topics: Collection[str]) -> Reassignments:
        """From Metadata and ListPartitionReassignments."""
        found = {
            TopicPartition(topic.name or "", partition.partition_index): ReplicaAssignment(
                list(partition.replica_nodes)
            )
            for topic in self._channel.existing_topics(topics)
            for partition in topic.partitions
        }
        return {**found, **{tp: each for tp, each in self.in_progress().items() if tp in found}}

    def in_progress(self) -> Reassignments:
        """From ListPartitionReassignments."""
        response = self._channel.send_to_controller(
            ListPartitionReassignmentsRequest(topics=None), ListPartitionReassignmentsResponse, "topics"
        )
        check_error(response.error_code, response.error_message)
        return {
            TopicPartition(topic.name, p.partition_index): ReplicaAssignment(
                list(p.replicas), list(p.adding_replicas), list(p.removing_replicas)
            )
            for topic in response.topics
            for p in topic.partitions
        }

    def start(self, targets: Assignments) -> None:
        """Raises ToolError with the error of each partition that is refused."""
        self._alter(targets, "Error reassigning partition(s):")

    def cancel(self, partitions: Collection[TopicPartition]) -> None:
        """Raises ToolError with the error of each partition that is refused."""
        self._alter(dict.fromkeys(partitions), "Error cancelling partition reassignment(s) for:")

    def _alter(self, targets: Mapping[TopicPartition, list[int] | None], failure: str) -> None:
        topics: dict[str, list[ReassignablePartition]] = {}
        for tp, replicas in sorted(targets.items(), key=lambda item: item[0]):
            entry = ReassignablePartition(partition_index=tp.partition, replicas=replicas)
            topics.setdefault(tp.topic, []).append(entry)
        request = AlterPartitionReassignmentsRequest(
            topics=[ReassignableTopic(name=name, partitions=partitions) for name, partitions in topics.items()]
        )
        response = self._channel.send_to_controller(request, AlterPartitionReassignmentsResponse, "responses")
        check_error(response.error_code, response.error_message)
        errors = [
            f"{topic.name}-{p.partition_index}: {p.error_message or Errors.for_code(p.error_code).message}"
            for topic in response.responses
            for p in topic.partitions
            if p.error_code != Errors.NONE.code
        ]
        if errors:
            raise ToolError(f"{failure} {'; '.join(errors)}")
        answered = (
            TopicPartition(topic.name, p.partition_index) for topic in response.responses for p in topic.partitions
        )
        check_answered(targets, answered)

    def sizes(self, topics: Collection[str]) -> dict[tuple[int, TopicPartition], int]:
        """From DescribeLogDirs of every broker. A copy that is made by a move between directories does not count.

        Replicas in an offline log directory are left out. Raises ToolError for another error of a directory.
        """
        self._channel.refresh()
        return {
            (broker_id, tp): p.partition_size
            for broker_id in self._channel.brokers
            for _, tp, p in live_replicas(self._channel, broker_id)
            if tp.topic in topics and not p.is_future_key
        }

    def alter_configs(self, changes: ConfigChanges) -> bool:
        """IncrementalAlterConfigs: of a topic to any broker, of a broker to itself. Dead brokers are left out."""
        self._channel.refresh()
        for (entity_type, name), values in changes.items():
            broker_id = int(name) if entity_type == BROKERS else None
            if broker_id is None or broker_id in self._channel.brokers:
                alter_configs(self._channel, entity_type, name, values, broker_id)
        return True

    def log_dirs(self, replicas: Collection[Replica]) -> dict[Replica, ReplicaLogDirs]:
        """From DescribeLogDirs. A replica of a dead broker, or in an offline log directory, is nowhere.

        Raises ToolError for another error of a directory.
        """
        self._channel.refresh()
        current: LogDirs = {}
        future: LogDirs = {}
        for broker_id in sorted({broker for broker, _ in replicas} & self._channel.brokers.keys()):
            for log_dir, tp, p in live_replicas(self._channel, broker_id):
                (future if p.is_future_key else current)[broker_id, tp] = log_dir
        return {replica: ReplicaLogDirs(current.get(replica), future.get(replica)) for replica in replicas}

    def alter_log_dirs(self, moves: LogDirs) -> set[Replica]:
        """AlterReplicaLogDirs of each broker. Raises ToolError for an error other than REPLICA_NOT_AVAILABLE."""
        started: set[Replica] = set()
        for broker_id in sorted({broker for broker, _ in moves}):
            targets = {tp: log_dir for (broker, tp), log_dir in moves.items() if broker == broker_id}
            response = self._channel.send(_alter_log_dirs_request(targets), AlterReplicaLogDirsResponse, broker_id)
            for topic in response.results:
                for p in topic.partitions:
                    tp, error = TopicPartition(topic.topic_name, p.partition_index), Errors.for_code(p.error_code)
                    if error is Errors.NONE:
                        started.add((broker_id, tp))
                    elif error is not Errors.REPLICA_NOT_AVAILABLE:
                        raise ToolError(f"Failed to alter dir for {tp}-{broker_id}: {error.message}")
        return started


def _alter_log_dirs_request(targets: Mapping[TopicPartition, str]) -> AlterReplicaLogDirsRequest:
    directories: dict[str, dict[str, list[int]]] = {}
    for tp, log_dir in sorted(targets.items()):
        directories.setdefault(log_dir, {}).setdefault(tp.topic, []).append(tp.partition)
    return AlterReplicaLogDirsRequest(
        dirs=[
            AlterReplicaLogDir(
                path=log_dir,
                topics=[AlterReplicaLogDirTopic(name=name, partitions=numbers) for name, numbers in topics.items()],
            )
            for log_dir, topics in directories.items()
        ]
    )


class ZooKeeperReassignmentService:
    """Reads and writes the znodes, as Kafka's tool did until 2.8. One reassignment at a time; none is cancelled."""

    def __init__(self, zk_client: KafkaZkClient) -> None:
        self._zk_client = zk_client
        self._requests = AdminRequests(zk_client.zookeeper)

    def brokers(self, *, rack_aware: bool) -> list[BrokerMetadata]:
        """The live brokers, from /brokers/ids. Raises ApiError if only some have a rack."""
        mode = RackAwareMode.ENFORCED if rack_aware else RackAwareMode.DISABLED
        return AdminUtils(self._zk_client).get_broker_metadatas(mode)

    def assignments(self, topics: Iterable[str]) -> Reassignments:
        """From the topics' znodes."""
        return {
            TopicPartition(topic, number): assignment_of(assignment, number)
            for topic, assignment in self._zk_client.get_topic_assignments(topics).items()
            for number in assignment.partitions
        }

    def in_progress(self) -> Reassignments:
        """From /admin/reassign_partitions and the topics' znodes. (A controller of 0.10 has only the first.)"""
        found = self.assignments(self._zk_client.get_all_topics())
        asked_for = self._requests.get_reassignment()
        moving = {tp: each for tp, each in found.items() if each.is_being_reassigned and tp not in asked_for}
        return moving | {tp: found[tp].reassign_to(target) for tp, target in asked_for.items() if tp in found}

    def start(self, targets: Assignments) -> None:
        """Raises ToolError if a reassignment is in progress."""
        try:
            self._requests.create_reassignment(targets)
        except NodeExistsError:
            partitions = ",".join(map(str, sorted(self._requests.get_reassignment())))
            message = f"Partition reassignment currently in progress for {partitions}. Aborting operation"
            raise ToolError(message) from None

    def cancel(self, partitions: Collection[TopicPartition]) -> None:  # noqa: ARG002  (as the protocol has it)
        """Raises ToolError."""
        raise ToolError("--cancel needs --bootstrap-server: through ZooKeeper no reassignment can be cancelled")

    def sizes(self, topics: Collection[str]) -> dict[tuple[int, TopicPartition], int]:  # noqa: ARG002
        """Nothing: ZooKeeper does not know them."""
        return {}

    def alter_configs(self, changes: ConfigChanges) -> bool:
        """Write the znodes of entities that change."""
        has_changed = False
        for (entity_type, name), values in changes.items():
            path = f"{entity_type}/{name}"
            before = self._zk_client.get_entity_config(path)
            after = {key: value for key, value in {**before, **values}.items() if value is not None}
            if after != before:
                AdminUtils(self._zk_client).change_entity_config(path, after)
                has_changed = True
        return has_changed

    def log_dirs(self, replicas: Collection[Replica]) -> dict[Replica, ReplicaLogDirs]:
        """Raises ToolError, unless no replicas are asked for."""
        _refuse_log_dirs(replicas)
        return {}

    def alter_log_dirs(self, moves: LogDirs) -> set[Replica]:
        """Raises ToolError, unless there are no moves."""
        _refuse_log_dirs(moves)
        return set()


def _refuse_log_dirs(replicas: Collection[Replica]) -> None:
    if replicas:
        raise ToolError("log_dirs other than any need --bootstrap-server: ZooKeeper does not know log directories")
