"""ListGroups: the groups that a broker coordinates.

Kafka 0.10.2: clients/.../common/requests/ListGroupsRequest.java, ListGroupsResponse.java · book 5.2.2
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int16, int32, string


class ListGroupsRequest(Request, api_key=ApiKey.LIST_GROUPS, versions="0-5", flexible="3+"):
    """All groups, or those of some states.

    v3  compact lengths and tagged fields
    v4  states_filter
    v5  types_filter
    """

    states_filter: list[str] = array(string, versions="4+")  # empty for all
    types_filter: list[str] = array(string, versions="5+")  # empty for all


class ListedGroup(Struct):
    """A group."""

    group_id: str = string()
    protocol_type: str = string()  # empty for groups that only commit offsets
    group_state: str = string(versions="4+", ignorable=True)
    group_type: str = string(versions="5+", ignorable=True)  # classic, consumer, share


class ListGroupsResponse(Response, api_key=ApiKey.LIST_GROUPS, versions="0-5", flexible="3+"):
    """The groups.

    v1  throttle_time_ms
    v2  a throttling broker responds at once and mutes the connection afterwards
    v3  compact lengths and tagged fields
    v4  group_state
    v5  group_type
    """

    throttle_time_ms: int = int32(versions="1+", ignorable=True)  # how long a quota delays the client
    error_code: int = int16()
    groups: list[ListedGroup] = array(ListedGroup)
