"""DeleteGroups: deletes consumer groups.

Kafka 1.1: clients/.../common/requests/DeleteGroupsRequest.java · book 5.2.2
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int16, int32, string


class DeleteGroupsRequest(Request, api_key=ApiKey.DELETE_GROUPS, versions="0-2", flexible="2+"):
    """Groups without members, and their offsets.

    v2  compact lengths and tagged fields
    """

    groups_names: list[str] = array(string)


class DeletableGroupResult(Struct):
    """The outcome for one group."""

    group_id: str = string()
    error_code: int = int16()


class DeleteGroupsResponse(Response, api_key=ApiKey.DELETE_GROUPS, versions="0-2", flexible="2+"):
    """The outcome for each group.

    v1  a throttling broker responds at once and mutes the connection afterwards
    v2  compact lengths and tagged fields
    """

    throttle_time_ms: int = int32()  # how long a quota delays the client
    results: list[DeletableGroupResult] = array(DeletableGroupResult)
