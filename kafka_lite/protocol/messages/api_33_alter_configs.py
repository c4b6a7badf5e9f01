"""AlterConfigs: replace the settings of topics and brokers.

Kafka 0.11: clients/.../common/requests/AlterConfigsRequest.java · book 6.1.5
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, boolean, int8, int16, int32, string


class AlterableConfig(Struct):
    """A setting."""

    name: str = string()
    value: str | None = string(nullable="0+")


class AlterConfigsResource(Struct):
    """A topic or broker and its settings."""

    resource_type: int = int8()  # 2 topic, 4 broker, 8 broker logger
    resource_name: str = string()
    configs: list[AlterableConfig] = array(AlterableConfig)


class AlterConfigsRequest(Request, api_key=ApiKey.ALTER_CONFIGS, versions="0-2", flexible="2+"):
    """All settings of each resource. Settings that are not listed are reset to their defaults.

    v2  compact lengths and tagged fields
    """

    resources: list[AlterConfigsResource] = array(AlterConfigsResource)
    validate_only: bool = boolean()  # only check, change nothing


class AlterConfigsResourceResponse(Struct):
    """The outcome for one resource."""

    error_code: int = int16()
    error_message: str | None = string(nullable="0+")
    resource_type: int = int8()  # 2 topic, 4 broker, 8 broker logger
    resource_name: str = string()


class AlterConfigsResponse(Response, api_key=ApiKey.ALTER_CONFIGS, versions="0-2", flexible="2+"):
    """The outcome for each resource.

    v1  a throttling broker responds at once and mutes the connection afterwards
    v2  compact lengths and tagged fields
    """

    throttle_time_ms: int = int32()  # how long a quota delays the client
    responses: list[AlterConfigsResourceResponse] = array(AlterConfigsResourceResponse)
