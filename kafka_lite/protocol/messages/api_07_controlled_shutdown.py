"""?

Kafka ? · book 2.3.5
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, int16, int32, int64, string


class ControlledShutdownRequest(Request, api_key=ApiKey.CONTROLLED_SHUTDOWN, versions="0-3", flexible="3+"):
    """?"""

    broker_id: int = int32()
    broker_epoch: int = int64(versions="2+", default=-1, ignorable=True)


class RemainingPartition(Struct):
    """?"""

    topic_name: str = string()
    partition_index: int = int32()


class ControlledShutdownResponse(Response, api_key=ApiKey.CONTROLLED_SHUTDOWN, versions="0-3", flexible="3+"):
    """?"""

    error_code: int = int16()
    remaining_partitions: list[RemainingPartition] = array(RemainingPartition)
