"""DescribeConfigs: settings of topics and brokers.

Kafka 0.11: clients/.../common/requests/DescribeConfigsRequest.java · book 6.1.5
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, boolean, int8, int16, int32, string


class DescribeConfigsResource(Struct):
    """A topic or broker, and the requested keys."""

    resource_type: int = int8()  # 2 topic, 4 broker, 8 broker logger
    resource_name: str = string()
    configuration_keys: list[str] | None = array(string, nullable="0+")  # null for all


class DescribeConfigsRequest(Request, api_key=ApiKey.DESCRIBE_CONFIGS, versions="0-4", flexible="4+"):
    """The resources and keys.

    v1  include_synonyms
    v3  include_documentation
    v4  compact lengths and tagged fields
    """

    resources: list[DescribeConfigsResource] = array(DescribeConfigsResource)
    include_synonyms: bool = boolean(versions="1+")
    include_documentation: bool = boolean(versions="3+")


class DescribeConfigsSynonym(Struct):
    """A value of lower precedence, and its source."""

    name: str = string(versions="1+")
    value: str | None = string(versions="1+", nullable="0+")
    source: int = int8(versions="1+")


class DescribeConfigsResourceResult(Struct):
    """A setting."""

    name: str = string()
    value: str | None = string(nullable="0+")  # null if sensitive
    read_only: bool = boolean()
    is_default: bool = boolean(versions="0")
    # 1 topic, 2 and 3 dynamic broker, 4 server.properties, 5 default
    config_source: int = int8(versions="1+", default=-1, ignorable=True)
    is_sensitive: bool = boolean()
    synonyms: list[DescribeConfigsSynonym] = array(DescribeConfigsSynonym, versions="1+", ignorable=True)
    # 1 boolean, 2 string, 3 int, 4 short, 5 long, 6 double, 7 list, 8 class, 9 password
    config_type: int = int8(versions="3+", ignorable=True)
    documentation: str | None = string(versions="3+", nullable="0+", ignorable=True)


class DescribeConfigsResult(Struct):
    """The settings of one resource."""

    error_code: int = int16()
    error_message: str | None = string(nullable="0+")
    resource_type: int = int8()  # 2 topic, 4 broker, 8 broker logger
    resource_name: str = string()
    configs: list[DescribeConfigsResourceResult] = array(DescribeConfigsResourceResult)


class DescribeConfigsResponse(Response, api_key=ApiKey.DESCRIBE_CONFIGS, versions="0-4", flexible="4+"):
    """The settings and their sources.

    v1  config_source instead of is_default; synonyms
    v2  a throttling broker responds at once and mutes the connection afterwards
    v3  config_type, documentation
    v4  compact lengths and tagged fields
    """

    throttle_time_ms: int = int32()  # how long a quota delays the client
    results: list[DescribeConfigsResult] = array(DescribeConfigsResult)
