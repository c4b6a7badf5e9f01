"""IncrementalAlterConfigs: change single settings of topics and brokers.

Kafka 2.3: clients/.../common/requests/IncrementalAlterConfigsRequest.java · book 6.1.5
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, boolean, int8, int16, int32, string


class AlterableConfig(Struct):
    """A change."""

    name: str = string()
    config_operation: int = int8()  # 0 set, 1 delete, 2 append to a list, 3 subtract from a list
    value: str | None = string(nullable="0+")


class AlterConfigsResource(Struct):
    """A topic or broker and the changes to it."""

    resource_type: int = int8()  # 2 topic, 4 broker, 8 broker logger
    resource_name: str = string()
    configs: list[AlterableConfig] = array(AlterableConfig)


class IncrementalAlterConfigsRequest(Request, api_key=ApiKey.INCREMENTAL_ALTER_CONFIGS, versions="0-1", flexible="1+"):
    """The changes for each resource. Settings that are not listed stay unchanged.

    v1  compact lengths and tagged fields
    """

    resources: list[AlterConfigsResource] = array(AlterConfigsResource)
    validate_only: bool = boolean()  # only check, change nothing


class AlterConfigsResourceResponse(Struct):
    """The outcome for one resource."""

    error_code: int = int16()
    error_message: str | None = string(nullable="0+")
    resource_type: int = int8()  # 2 topic, 4 broker, 8 broker logger
    resource_name: str = string()


class IncrementalAlterConfigsResponse(
    Response, api_key=ApiKey.INCREMENTAL_ALTER_CONFIGS, versions="0-1", flexible="1+"
):
    """The outcome for each resource.

    v1  compact lengths and tagged fields
    """

    throttle_time_ms: int = int32()  # how long a quota delays the client
    responses: list[AlterConfigsResourceResponse] = array(AlterConfigsResourceResponse)
