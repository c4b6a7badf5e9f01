"""The structs that the messages and the records about the state of share partitions have in common.

Kafka 4.1: clients/.../resources/common/message/WriteShareGroupStateRequest.json · book 10.3
"""

from __future__ import annotations

from kafka_lite.protocol.schema import Struct, int8, int16, int32, int64, string


class StateBatch(Struct):
    """Records of the same state."""

    first_offset: int = int64()
    last_offset: int = int64()  # inclusive
    delivery_state: int = int8()  # 0 available, 2 acknowledged, 4 archived
    delivery_count: int = int16()


class PartitionResult(Struct):
    """The outcome for a partition."""

    partition: int = int32()
    error_code: int = int16()
    error_message: str | None = string(nullable="0+", default=None)
