"""?

Kafka ? · book 2.3.5
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, boolean, int16, int32, int64, string


class StopReplicaPartitionV0(Struct):
    """?"""

    topic_name: str = string(versions="0")
    partition_index: int = int32(versions="0")


class StopReplicaTopicV1(Struct):
    """?"""

    name: str = string(versions="1-2")
    partition_indexes: list[int] = array(int32, versions="1-2")


class StopReplicaPartitionState(Struct):
    """?"""

    partition_index: int = int32(versions="3+")
    leader_epoch: int = int32(versions="3+", default=-1)
    delete_partition: bool = boolean(versions="3+")


class StopReplicaTopicState(Struct):
    """?"""

    topic_name: str = string(versions="3+")
    partition_states: list[StopReplicaPartitionState] = array(StopReplicaPartitionState, versions="3+")


class StopReplicaRequest(Request, api_key=ApiKey.STOP_REPLICA, versions="0-4", flexible="2+"):
    """?"""

    controller_id: int = int32()
    is_kraft_controller: bool = boolean(versions="4+")
    controller_epoch: int = int32()
    broker_epoch: int = int64(versions="1+", default=-1, ignorable=True)
    delete_partitions: bool = boolean(versions="0-2")
    ungrouped_partitions: list[StopReplicaPartitionV0] = array(StopReplicaPartitionV0, versions="0")
    topics: list[StopReplicaTopicV1] = array(StopReplicaTopicV1, versions="1-2")
    topic_states: list[StopReplicaTopicState] = array(StopReplicaTopicState, versions="3+")


class StopReplicaPartitionError(Struct):
    """?"""

    topic_name: str = string()
    partition_index: int = int32()
    error_code: int = int16()


class StopReplicaResponse(Response, api_key=ApiKey.STOP_REPLICA, versions="0-4", flexible="2+"):
    """?"""

    error_code: int = int16()
    partition_errors: list[StopReplicaPartitionError] = array(StopReplicaPartitionError)
