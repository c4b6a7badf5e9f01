"""Version 0 lists the resources of client metrics, and does not say their type."""

from __future__ import annotations

import pytest

from kafka_lite.protocol.messages.api_74_list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from kafka_lite.protocol.schema_error import UnsupportedVersionError


def test_only_version_1_asks_for_types() -> None:
    asked = ListConfigResourcesRequest(resource_types=[2, 32])
    assert ListConfigResourcesRequest.decode(asked.encode(1), 1) == asked
    assert asked.encode(1) == bytes((3, 2, 32, 0))
    with pytest.raises(UnsupportedVersionError, match="resource_types"):
        asked.encode(0)


def test_the_type_of_a_resource_is_left_out_before_version_1() -> None:
    listed = ListConfigResourcesResponse(config_resources=[ConfigResource(resource_name="t", resource_type=2)])
    assert ListConfigResourcesResponse.decode(listed.encode(1), 1) == listed
    [resource] = ListConfigResourcesResponse.decode(listed.encode(0), 0).config_resources
    assert (resource.resource_name, resource.resource_type) == ("t", 16)
