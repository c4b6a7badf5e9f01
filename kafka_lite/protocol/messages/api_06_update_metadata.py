"""?

Kafka ? · book 2.3.5
"""

from __future__ import annotations

from uuid import UUID

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
    """?"""

    topic_name: str = string(versions="0-4", ignorable=True)
    partition_index: int = int32()
    controller_epoch: int = int32()
    leader: int = int32()
    leader_epoch: int = int32()
    isr: list[int] = array(int32)
    zk_version: int = int32()
    replicas: list[int] = array(int32)
    offline_replicas: list[int] = array(int32, versions="4+", ignorable=True)


class UpdateMetadataTopicState(Struct):
    """?"""

    topic_name: str = string(versions="5+")
    topic_id: UUID = uuid_(versions="7+", ignorable=True)
    partition_states: list[UpdateMetadataPartitionState] = array(UpdateMetadataPartitionState, versions="5+")


class UpdateMetadataEndpoint(Struct):
    """?"""

    port: int = int32(versions="1+")
    host: str = string(versions="1+")
    listener: str = string(versions="3+", ignorable=True)
    security_protocol: int = int16(versions="1+")


class UpdateMetadataBroker(Struct):
    """?"""

    id: int = int32()
    v0_host: str = string(versions="0", ignorable=True)
    v0_port: int = int32(versions="0", ignorable=True)
    endpoints: list[UpdateMetadataEndpoint] = array(UpdateMetadataEndpoint, versions="1+", ignorable=True)
    rack: str | None = string(versions="2+", nullable="0+", ignorable=True)


class UpdateMetadataRequest(Request, api_key=ApiKey.UPDATE_METADATA, versions="0-8", flexible="6+"):
    """?"""

    controller_id: int = int32()
    is_kraft_controller: bool = boolean(versions="8+")
    type: int = int8(versions="8+", tag=0)
    controller_epoch: int = int32()
    broker_epoch: int = int64(versions="5+", default=-1, ignorable=True)
    ungrouped_partition_states: list[UpdateMetadataPartitionState] = array(UpdateMetadataPartitionState, versions="0-4")
    topic_states: list[UpdateMetadataTopicState] = array(UpdateMetadataTopicState, versions="5+")
    live_brokers: list[UpdateMetadataBroker] = array(UpdateMetadataBroker)


class UpdateMetadataResponse(Response, api_key=ApiKey.UPDATE_METADATA, versions="0-8", flexible="6+"):
    """?"""

    error_code: int = int16()
