"""The records of ``__transaction_state``, in which a transaction coordinator stores its state.

Keys and values are messages with their version in front, as in ``group_records``. A null value deletes.

Kafka 0.11: core/.../coordinator/transaction/TransactionLog.scala · book 10.3
"""

from __future__ import annotations

from kafka_lite.protocol.schema import Message, Struct, array, int8, int16, int32, int64, string


class TransactionLogKey(Message, versions="0"):
    """The key of a transaction."""

    transactional_id: str = string()


class PartitionsSchema(Struct):
    """Partitions of one topic that the transaction has written to."""

    topic: str = string()
    partition_ids: list[int] = array(int32)


class TransactionLogValue(Message, versions="0-1", flexible="1+"):
    """The state of a transactional id.

    v1  compact lengths and tagged fields
    """

    producer_id: int = int64()
    previous_producer_id: int = int64(versions="1+", default=-1, tag=0)
    next_producer_id: int = int64(versions="1+", default=-1, tag=1)
    producer_epoch: int = int16()
    next_producer_epoch: int = int16(versions="1+", default=-1, tag=3)  # of KIP-939, not used yet
    transaction_timeout_ms: int = int32()
    # 0 Empty, 1 Ongoing, 2 PrepareCommit, 3 PrepareAbort, 4 CompleteCommit, 5 CompleteAbort, 6 Dead
    transaction_status: int = int8()
    transaction_partitions: list[PartitionsSchema] | None = array(PartitionsSchema, nullable="0+")
    transaction_last_update_timestamp_ms: int = int64()
    transaction_start_timestamp_ms: int = int64()
    client_transaction_version: int = int16(versions="1+", tag=2)
