"""UpdateMetadata: the controller sends the cluster's metadata to every broker, which serves it to clients.

Kafka 0.10.2: clients/.../common/requests/UpdateMetadataRequest.java, UpdateMetadataResponse.java · book 7.3.1
"""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from kafka_lite.common.ids.uuids import ZERO_UUID
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import (
    Request,
    Response,
    Struct,
    array,
    boolean,
    int8,
    int16,
    int32,
    int64,
    string,
    uuid_,
)


class UpdateMetadataPartitionState(Struct):
    """Leader, ISR and replicas of one partition."""

    topic_name: str = string(versions="0-4", ignorable=True)
    partition_index: int = int32()
    controller_epoch: int = int32()
    leader: int = int32()  # -1 none, -2 the topic is being deleted
    leader_epoch: int = int32()
    isr: list[int] = array(int32)
    zk_version: int = int32()  # version of the state's znode
    replicas: list[int] = array(int32)
    offline_replicas: list[int] = array(int32, versions="4+", ignorable=True)


class UpdateMetadataTopicState(Struct):
    """The partitions of one topic."""

    topic_name: str = string(versions="5+")
    topic_id: UUID = uuid_(versions="7+", ignorable=True)
    partition_states: list[UpdateMetadataPartitionState] = array(UpdateMetadataPartitionState, versions="5+")


class UpdateMetadataEndpoint(Struct):
    """The address of one listener of a broker."""

    port: int = int32(versions="1+")
    host: str = string(versions="1+")
    listener: str = string(versions="3+", ignorable=True)
    security_protocol: int = int16(versions="1+")  # 0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL


class UpdateMetadataBroker(Struct):
    """A live broker."""

    id: int = int32()
    v0_host: str = string(versions="0", ignorable=True)
    v0_port: int = int32(versions="0", ignorable=True)
    endpoints: list[UpdateMetadataEndpoint] = array(UpdateMetadataEndpoint, versions="1+", ignorable=True)
    rack: str | None = string(versions="2+", nullable="0+", ignorable=True)


class UpdateMetadataRequest(Request, api_key=ApiKey.UPDATE_METADATA, versions="0-8", flexible="6+"):
    """Partitions that have changed, and all live brokers.

    v0  a broker has one address
    v1  a broker has several, by security protocol
    v2  rack
    v3  listener names
    v4  offline_replicas
    v5  broker_epoch; partitions by topic
    v6  compact lengths and tagged fields
    v7  topic ids
    v8  is_kraft_controller, type
    """

    controller_id: int = int32()
    is_kraft_controller: bool = boolean(versions="8+")
    type: int = int8(versions="8+", tag=0)  # 0 unknown, 1 some partitions, 2 all of them
    controller_epoch: int = int32()
    broker_epoch: int = int64(versions="5+", default=-1, ignorable=True)
    ungrouped_partition_states: list[UpdateMetadataPartitionState] = array(UpdateMetadataPartitionState, versions="0-4")
    topic_states: list[UpdateMetadataTopicState] = array(UpdateMetadataTopicState, versions="5+")
    live_brokers: list[UpdateMetadataBroker] = array(UpdateMetadataBroker)

    def partition_states(self) -> Iterator[tuple[TopicPartition, UpdateMetadataPartitionState]]:
        """The states of all partitions, in either layout of the request."""
        for state in self.ungrouped_partition_states:
            yield TopicPartition(state.topic_name, state.partition_index), state
        for topic in self.topic_states:
            for state in topic.partition_states:
                yield TopicPartition(topic.topic_name, state.partition_index), state

    def topic_ids(self) -> dict[str, UUID]:
        """The id of each topic; zero if it has none, or if the request's version has no ids."""
        ungrouped = {state.topic_name: ZERO_UUID for state in self.ungrouped_partition_states}
        return ungrouped | {topic.topic_name: topic.topic_id for topic in self.topic_states}


class UpdateMetadataResponse(Response, api_key=ApiKey.UPDATE_METADATA, versions="0-8", flexible="6+"):
    """Whether the broker has complied."""

    error_code: int = int16()
