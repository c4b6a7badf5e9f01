"""Metadata: brokers, topics, partitions, leaders.

Kafka 0.10.2: clients/.../common/requests/MetadataRequest.java, MetadataResponse.java · book 7.3.2
"""

from __future__ import annotations

from uuid import UUID

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, boolean, int16, int32, string, uuid_


class MetadataRequestTopic(Struct):
    """A topic, by name or by id."""

    topic_id: UUID = uuid_(versions="10+", ignorable=True)
    name: str | None = string(nullable="10+")


class MetadataRequest(Request, api_key=ApiKey.METADATA, versions="0-13", flexible="9+"):
    """The topics whose metadata is requested.

    In version 0 an empty list means all topics; later null means all, and an empty list none.

        v1   null for all topics
        v4   allow_auto_topic_creation; before, only the broker's configuration decides
        v8   the operations that the client is allowed
        v9   compact lengths and tagged fields
        v10  topic_id (without effect before version 12)
        v11  cluster operations moved to DescribeCluster
        v12  topics may be requested by id
        v13  the client understands an error of the whole response
    """

    topics: list[MetadataRequestTopic] | None = array(MetadataRequestTopic, nullable="1+")
    allow_auto_topic_creation: bool = boolean(versions="4+", default=True)
    include_cluster_authorized_operations: bool = boolean(versions="8-10")
    include_topic_authorized_operations: bool = boolean(versions="8+")


class MetadataResponseBroker(Struct):
    """A live broker, with the address of the listener that received the request."""

    node_id: int = int32()
    host: str = string()
    port: int = int32()
    rack: str | None = string(versions="1+", nullable="1+", default=None, ignorable=True)


class MetadataResponsePartition(Struct):
    """A partition, its leader and its replicas."""

    error_code: int = int16()
    partition_index: int = int32()
    leader_id: int = int32()  # -1 for none
    leader_epoch: int = int32(versions="7+", default=-1, ignorable=True)
    replica_nodes: list[int] = array(int32)  # broker ids, the preferred leader first
    isr_nodes: list[int] = array(int32)
    offline_replicas: list[int] = array(int32, versions="5+", ignorable=True)


class MetadataResponseTopic(Struct):
    """A topic, or the error for it."""

    error_code: int = int16()
    name: str | None = string(nullable="12+")
    topic_id: UUID = uuid_(versions="10+", ignorable=True)
    is_internal: bool = boolean(versions="1+", ignorable=True)
    partitions: list[MetadataResponsePartition] = array(MetadataResponsePartition)
    # one bit per operation; only computed on request
    topic_authorized_operations: int = int32(versions="8+", default=-2147483648)


class MetadataResponse(Response, api_key=ApiKey.METADATA, versions="0-13", flexible="9+"):
    """The cluster as this broker knows it.

    v1   rack, controller_id, is_internal
    v2   cluster_id
    v3   throttle_time_ms
    v5   offline_replicas
    v6   a throttling broker responds at once and mutes the connection afterwards
    v7   leader_epoch
    v8   the operations that the client is allowed
    v9   compact lengths and tagged fields
    v10  topic_id
    v11  cluster operations moved to DescribeCluster
    v12  unknown topics that were requested by id have a null name
    v13  error_code of the whole response
    """

    throttle_time_ms: int = int32(versions="3+", ignorable=True)  # how long a quota delays the client
    brokers: list[MetadataResponseBroker] = array(MetadataResponseBroker)
    cluster_id: str | None = string(versions="2+", nullable="2+", default=None, ignorable=True)
    controller_id: int = int32(versions="1+", default=-1, ignorable=True)  # -1 for none
    topics: list[MetadataResponseTopic] = array(MetadataResponseTopic)
    # one bit per operation; only computed on request
    cluster_authorized_operations: int = int32(versions="8-10", default=-2147483648)
    error_code: int = int16(versions="13+", ignorable=True)  # brokers of Kafka 4.1 set none
