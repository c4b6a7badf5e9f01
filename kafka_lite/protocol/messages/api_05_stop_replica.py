"""StopReplica: the controller makes a broker stop replicating partitions.

Kafka 0.10.2: clients/.../common/requests/StopReplicaRequest.java, StopReplicaResponse.java · book 7.1.5
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, boolean, int16, int32, int64, string


class StopReplicaPartitionV0(Struct):
    """A partition to stop, version 0."""

    topic_name: str = string(versions="0")
    partition_index: int = int32(versions="0")


class StopReplicaTopicV1(Struct):
    """Partitions to stop, versions 1 and 2."""

    name: str = string(versions="1-2")
    partition_indexes: list[int] = array(int32, versions="1-2")


class StopReplicaPartitionState(Struct):
    """A partition to stop."""

    partition_index: int = int32(versions="3+")
    leader_epoch: int = int32(versions="3+", default=-1)  # -1 unknown, -2 when the topic is being deleted
    delete_partition: bool = boolean(versions="3+")


class StopReplicaTopicState(Struct):
    """Partitions of one topic to stop."""

    topic_name: str = string(versions="3+")
    partition_states: list[StopReplicaPartitionState] = array(StopReplicaPartitionState, versions="3+")


class StopReplicaRequest(Request, api_key=ApiKey.STOP_REPLICA, versions="0-4", flexible="2+"):
    """Partitions that the broker must stop replicating, and whether to delete their logs.

    v1  broker_epoch; partitions by topic
    v2  compact lengths and tagged fields
    v3  leader_epoch, and deletion decided for each partition (KIP-570)
    v4  is_kraft_controller
    """

    controller_id: int = int32()
    is_kraft_controller: bool = boolean(versions="4+")
    controller_epoch: int = int32()
    broker_epoch: int = int64(versions="1+", default=-1, ignorable=True)
    delete_partitions: bool = boolean(versions="0-2")
    ungrouped_partitions: list[StopReplicaPartitionV0] = array(StopReplicaPartitionV0, versions="0")
    topics: list[StopReplicaTopicV1] = array(StopReplicaTopicV1, versions="1-2")
    topic_states: list[StopReplicaTopicState] = array(StopReplicaTopicState, versions="3+")

    def partitions(self) -> Iterator[tuple[TopicPartition, bool]]:
        """All partitions, each with whether to delete its log, in any of the three layouts of the request."""
        for partition in self.ungrouped_partitions:
            yield TopicPartition(partition.topic_name, partition.partition_index), self.delete_partitions
        for topic in self.topics:
            for index in topic.partition_indexes:
                yield TopicPartition(topic.name, index), self.delete_partitions
        for topic_state in self.topic_states:
            for state in topic_state.partition_states:
                yield TopicPartition(topic_state.topic_name, state.partition_index), state.delete_partition

    def leader_epochs(self) -> dict[TopicPartition, int]:
        """The leader epoch of each partition, or one of the negative values; before version 3, none is known."""
        return {
            TopicPartition(topic_state.topic_name, state.partition_index): state.leader_epoch
            for topic_state in self.topic_states
            for state in topic_state.partition_states
        }


class StopReplicaPartitionError(Struct):
    """The outcome for one partition."""

    topic_name: str = string()
    partition_index: int = int32()
    error_code: int = int16()


class StopReplicaResponse(Response, api_key=ApiKey.STOP_REPLICA, versions="0-4", flexible="2+"):
    """Whether the broker has complied.

    v2  compact lengths and tagged fields
    v3  FENCED_LEADER_EPOCH is possible
    """

    error_code: int = int16()
    partition_errors: list[StopReplicaPartitionError] = array(StopReplicaPartitionError)
