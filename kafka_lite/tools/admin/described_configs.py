"""The settings of topics and brokers, as DescribeConfigs tells them.

Kafka 1.1: clients/.../common/requests/DescribeConfigsResponse.java · book 7.1.3
"""

from __future__ import annotations

from kafka_lite.common.errors import Errors
from kafka_lite.protocol.messages.api_32_describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from kafka_lite.server.admin.config_helper import ConfigSource
from kafka_lite.tools.admin.admin_channel import AdminChannel, check_answered

TOPIC_RESOURCE = 2
UNKNOWN_SOURCE = -1
"""The source of a setting in version 0, which says only whether it is the default."""


def described_configs(
    channel: AdminChannel, request: DescribeConfigsRequest, broker_id: int | None = None
) -> list[DescribeConfigsResult]:
    """The settings of each resource, all with their sources. Raises ApiError for the first resource with an error.

    Raises ToolError if the response leaves a resource out.

    ``broker_id``: the broker to ask, which must be the one that is described; None for any broker.
    """
    response = channel.send(request, DescribeConfigsResponse, broker_id)
    for result in response.results:
        if result.error_code:
            raise Errors.for_code(result.error_code).exception(result.error_message)
        for entry in result.configs:
            if entry.config_source == UNKNOWN_SOURCE:
                entry.config_source = _source_in_version_0(entry, result.resource_type)
    check_answered(
        (each.resource_name for each in request.resources), (each.resource_name for each in response.results)
    )
    return response.results


def _source_in_version_0(entry: DescribeConfigsResourceResult, resource_type: int) -> ConfigSource:
    """The only source that a setting of a broker before 1.1 can have if it is not the default."""
    if entry.is_default:
        return ConfigSource.DEFAULT_CONFIG
    return ConfigSource.TOPIC_CONFIG if resource_type == TOPIC_RESOURCE else ConfigSource.STATIC_BROKER_CONFIG
