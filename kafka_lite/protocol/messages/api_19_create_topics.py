"""CreateTopics: new topics.

Kafka 0.10.2: clients/.../common/requests/CreateTopicsRequest.java, CreateTopicsResponse.java · book 6.1.1
"""

from __future__ import annotations

from uuid import UUID

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, boolean, int8, int16, int32, string, uuid_


class CreatableReplicaAssignment(Struct):
    """The brokers of one partition."""

    partition_index: int = int32()
    broker_ids: list[int] = array(int32)  # the preferred leader first


class CreatableTopicConfig(Struct):
    """A setting of the topic."""

    name: str = string()
    value: str | None = string(nullable="0+")


class CreatableTopic(Struct):
    """A topic to create."""

    name: str = string()
    num_partitions: int = int32()  # -1 with assignments, or for the default (v4+)
    replication_factor: int = int16()  # -1 with assignments, or for the default (v4+)
    assignments: list[CreatableReplicaAssignment] = array(CreatableReplicaAssignment)
    configs: list[CreatableTopicConfig] = array(CreatableTopicConfig)


class CreateTopicsRequest(Request, api_key=ApiKey.CREATE_TOPICS, versions="0-7", flexible="5+"):
    """The topics. The controller responds when all partitions have leaders or the timeout expires.

    v1  validate_only
    v4  partitions and replication factor may be -1: the broker's defaults
    v5  compact lengths and tagged fields, the response has the configuration of the topics
    v6  THROTTLING_QUOTA_EXCEEDED is possible
    v7  the response has the topic ids
    """

    topics: list[CreatableTopic] = array(CreatableTopic)
    timeout_ms: int = int32(default=60000)  # how long the broker may wait for completion
    validate_only: bool = boolean(versions="1+")  # only check, change nothing


class CreatableTopicConfigs(Struct):
    """A setting that the topic has."""

    name: str = string(versions="5+")
    value: str | None = string(versions="5+", nullable="5+")
    read_only: bool = boolean(versions="5+")
    # 1 topic, 2 and 3 dynamic broker, 4 server.properties, 5 default
    config_source: int = int8(versions="5+", default=-1, ignorable=True)
    is_sensitive: bool = boolean(versions="5+")


class CreatableTopicResult(Struct):
    """The outcome for one topic."""

    name: str = string()
    topic_id: UUID = uuid_(versions="7+", ignorable=True)
    error_code: int = int16()
    error_message: str | None = string(versions="1+", nullable="0+", ignorable=True)
    # set if the client is not authorized to see the configuration
    topic_config_error_code: int = int16(versions="5+", tag=0, ignorable=True)
    num_partitions: int = int32(versions="5+", default=-1, ignorable=True)
    replication_factor: int = int16(versions="5+", default=-1, ignorable=True)
    configs: list[CreatableTopicConfigs] | None = array(
        CreatableTopicConfigs, versions="5+", nullable="5+", ignorable=True
    )


class CreateTopicsResponse(Response, api_key=ApiKey.CREATE_TOPICS, versions="0-7", flexible="5+"):
    """The outcome for each topic.

    v1  error_message
    v2  throttle_time_ms
    v3  a throttling broker responds at once and mutes the connection afterwards
    v5  compact lengths and tagged fields, partitions, replication factor and configuration
    v6  THROTTLING_QUOTA_EXCEEDED is possible
    v7  topic_id
    """

    throttle_time_ms: int = int32(versions="2+", ignorable=True)  # how long a quota delays the client
    topics: list[CreatableTopicResult] = array(CreatableTopicResult)
