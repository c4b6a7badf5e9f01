"""ControlledShutdown: a broker asks the controller to move its leaders away.

Kafka 0.10.2: clients/.../common/requests/ControlledShutdownRequest.java, ControlledShutdownResponse.java · book 7.4
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int16, int32, int64, string


class ControlledShutdownRequest(Request, api_key=ApiKey.CONTROLLED_SHUTDOWN, versions="0-3", flexible="3+"):
    """The broker that is shutting down.

    Version 0 is older than client ids: its request header has none.

        v1  header with a client id
        v2  broker_epoch
        v3  compact lengths and tagged fields
    """

    broker_id: int = int32()
    broker_epoch: int = int64(versions="2+", default=-1, ignorable=True)


class RemainingPartition(Struct):
    """A partition whose leadership was not moved yet."""

    topic_name: str = string()
    partition_index: int = int32()


class ControlledShutdownResponse(Response, api_key=ApiKey.CONTROLLED_SHUTDOWN, versions="0-3", flexible="3+"):
    """The partitions that the broker still leads.

    v3  compact lengths and tagged fields
    """

    error_code: int = int16()
    remaining_partitions: list[RemainingPartition] = array(RemainingPartition)
