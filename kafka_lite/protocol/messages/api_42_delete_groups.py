"""?

Kafka ? · book 2.3.5
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int16, int32, string


class DeleteGroupsRequest(Request, api_key=ApiKey.DELETE_GROUPS, versions="0-2", flexible="2+"):
    """?"""

    groups_names: list[str] = array(string)


class DeletableGroupResult(Struct):
    """?"""

    group_id: str = string()
    error_code: int = int16()


class DeleteGroupsResponse(Response, api_key=ApiKey.DELETE_GROUPS, versions="0-2", flexible="2+"):
    """?"""

    throttle_time_ms: int = int32()
    results: list[DeletableGroupResult] = array(DeletableGroupResult)
