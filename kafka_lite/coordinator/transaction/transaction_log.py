"""Encodes and decodes the records of ``__transaction_state``.

::

    key                          value (null deletes the id)
    v0  transactional id     →   v0  producer id, epoch, timeout, state, partitions by topic, last update, start

Kafka 0.11: core/.../coordinator/transaction/TransactionLog.scala · book 10.3
"""

from __future__ import annotations

from collections.abc import Iterable

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.transaction.transaction_metadata import TxnTransitMetadata
from kafka_lite.coordinator.transaction.transaction_state import TransactionState
from kafka_lite.protocol.messages.transaction_records import PartitionsSchema, TransactionLogKey, TransactionLogValue
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.protocol.version_prefixed import decode_with_version, encode_with_version, read_version
from kafka_lite.record.record import NO_PRODUCER_EPOCH, NO_PRODUCER_ID

VERSION = 0
"""Version 1 has tagged fields for KIP-890's second version of transactions, which every broker must know."""


def key_of(transactional_id: str) -> bytes:
    """The key of an id's records."""
    return encode_with_version(TransactionLogKey(transactional_id=transactional_id), VERSION)


def value_of(transit: TxnTransitMetadata) -> bytes:
    """The value of a record. An id in state EMPTY has null instead of partitions."""
    value = TransactionLogValue(
        producer_id=transit.producer_id,
        producer_epoch=transit.producer_epoch,
        transaction_timeout_ms=transit.timeout_ms,
        transaction_status=int(transit.state),
        transaction_partitions=None if transit.state is TransactionState.EMPTY else _by_topic(transit.topic_partitions),
        transaction_last_update_timestamp_ms=transit.last_update_timestamp_ms,
        transaction_start_timestamp_ms=transit.start_timestamp_ms,
    )
    return encode_with_version(value, VERSION)


def _by_topic(topic_partitions: Iterable[TopicPartition]) -> list[PartitionsSchema]:
    topics: dict[str, PartitionsSchema] = {}
    for topic, partition in sorted(topic_partitions):
        topics.setdefault(topic, PartitionsSchema(topic=topic)).partition_ids.append(partition)
    return list(topics.values())


def read_key(data: bytes) -> str | None:
    """The transactional id; None for a key of a later version. Raises SchemaError."""
    if read_version(data) > TransactionLogKey.VERSIONS.highest:
        return None
    return decode_with_version(TransactionLogKey, data).transactional_id


def read_value(data: bytes) -> TxnTransitMetadata:
    """The state that a record holds. Raises SchemaError if it cannot be read or is unknown."""
    value = decode_with_version(TransactionLogValue, data)
    try:
        state = TransactionState(value.transaction_status)
    except ValueError as unknown:
        raise SchemaError(f"{value.transaction_status} is not a state of a transaction") from unknown
    return TxnTransitMetadata(
        producer_id=value.producer_id,
        producer_epoch=value.producer_epoch,
        last_producer_id=NO_PRODUCER_ID,
        last_producer_epoch=NO_PRODUCER_EPOCH,
        timeout_ms=value.transaction_timeout_ms,
        state=state,
        topic_partitions=frozenset(
            TopicPartition(topic.topic, partition)
            for topic in value.transaction_partitions or ()
            for partition in topic.partition_ids
        ),
        start_timestamp_ms=value.transaction_start_timestamp_ms,
        last_update_timestamp_ms=value.transaction_last_update_timestamp_ms,
    )
