"""ListConfigResources: the resources that have configurations.

Kafka 4.1: clients/.../common/requests/ListConfigResourcesRequest.java, KIP-1142; since 3.7 as
ListClientMetricsResources (KIP-1000); 0.10 has none of it · book 7.1.3
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int8, int16, int32, string


class ListConfigResourcesRequest(Request, api_key=ApiKey.LIST_CONFIG_RESOURCES, versions="0-1", flexible="0+"):
    """The types of resources to list; version 0 lists those of client metrics.

    v1  resource_types
    """

    resource_types: list[int] = array(int8, versions="1+")  # empty for all


class ConfigResource(Struct):
    """A resource. It need not have a configuration of its own."""

    resource_name: str = string()
    resource_type: int = int8(versions="1+", default=16, ignorable=True)


class ListConfigResourcesResponse(Response, api_key=ApiKey.LIST_CONFIG_RESOURCES, versions="0-1", flexible="0+"):
    """The resources.

    v1  resource_type
    """

    throttle_time_ms: int = int32()  # how long a quota delays the client
    error_code: int = int16()
    config_resources: list[ConfigResource] = array(ConfigResource)
