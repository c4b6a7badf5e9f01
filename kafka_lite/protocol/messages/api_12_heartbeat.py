"""Heartbeat: a member of a group is alive.

Kafka 0.10.2: clients/.../common/requests/HeartbeatRequest.java, HeartbeatResponse.java · book 4.3.1
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, int16, int32, string


class HeartbeatRequest(Request, api_key=ApiKey.HEARTBEAT, versions="0-4", flexible="4+"):
    """The member, and the generation that it knows.

    v3  group_instance_id: static members
    v4  compact lengths and tagged fields
    """

    group_id: str = string()
    generation_id: int = int32()
    member_id: str = string()
    group_instance_id: str | None = string(versions="3+", nullable="3+", default=None)  # for a static member


class HeartbeatResponse(Response, api_key=ApiKey.HEARTBEAT, versions="0-4", flexible="4+"):
    """Whether it is still a member; REBALANCE_IN_PROGRESS asks it to join again.

    v1  throttle_time_ms
    v2  a throttling broker responds at once and mutes the connection afterwards
    v3  FENCED_INSTANCE_ID is possible
    v4  compact lengths and tagged fields
    """

    throttle_time_ms: int = int32(versions="1+", ignorable=True)  # how long a quota delays the client
    error_code: int = int16()
