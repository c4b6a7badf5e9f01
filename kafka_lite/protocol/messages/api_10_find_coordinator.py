"""FindCoordinator: the coordinator of a group or a transactional id.

Kafka 0.10.2: clients/.../common/requests/GroupCoordinatorRequest.java, GroupCoordinatorResponse.java · book 3.5.3
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int8, int16, int32, string


class FindCoordinatorRequest(Request, api_key=ApiKey.FIND_COORDINATOR, versions="0-6", flexible="3+"):
    """The group or transactional id.

    v1  key_type: transactional ids too
    v3  compact lengths and tagged fields
    v4  several keys at once
    v5  the client understands TRANSACTION_ABORTABLE
    v6  share groups
    """

    key: str = string(versions="0-3")
    key_type: int = int8(versions="1+")  # 0 group, 1 transactional id, 2 share group
    coordinator_keys: list[str] = array(string, versions="4+")


class Coordinator(Struct):
    """The coordinator for one key."""

    key: str = string(versions="4+")
    node_id: int = int32(versions="4+")
    host: str = string(versions="4+")
    port: int = int32(versions="4+")
    error_code: int = int16(versions="4+")
    error_message: str | None = string(versions="4+", nullable="4+", ignorable=True)


class FindCoordinatorResponse(Response, api_key=ApiKey.FIND_COORDINATOR, versions="0-6", flexible="3+"):
    """The coordinator, with the address of the listener that received the request.

    v1  throttle_time_ms, error_message
    v2  a throttling broker responds at once and mutes the connection afterwards
    v3  compact lengths and tagged fields
    v4  several keys at once
    """

    throttle_time_ms: int = int32(versions="1+", ignorable=True)  # how long a quota delays the client
    error_code: int = int16(versions="0-3")
    error_message: str | None = string(versions="1-3", nullable="1-3", ignorable=True)
    node_id: int = int32(versions="0-3")
    host: str = string(versions="0-3")
    port: int = int32(versions="0-3")
    coordinators: list[Coordinator] = array(Coordinator, versions="4+")
