"""Encodes and decodes the records of ``__transaction_state``.

::

    key                          value (null deletes the id)
    v0  transactional id     →   v0  producer id, epoch, timeout, state, partitions by topic, last update, start
                                 v1  the same; tagged fields: the producer ids before and after, the client's version

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

KEY_VERSION = 0
FIRST_TRANSACTION_VERSION_WITH_TAGS = 1
"""From this level of ``transaction.version`` on, values are of version 1 (KIP-890): every broker can read it then."""


def key_of(transactional_id: str) -> bytes:
    """The key of an id's records."""
    return encode_with_version(TransactionLogKey(transactional_id=transactional_id), KEY_VERSION)


def value_of(transit: TxnTransitMetadata, transaction_version: int = 0) -> bytes:
    """The value of a record. An id in state EMPTY has null instead of partitions.

    ``transaction_version`` is the finalized level. The id before is written if the producer got another one, for its
    next request may name the id before. (Kafka 4.1 reads both ids, but writes none. There, a producer whose epochs are
    used up is fenced if its coordinator fails at this moment.)
    """
    has_tags = transaction_version >= FIRST_TRANSACTION_VERSION_WITH_TAGS
    is_rotated = has_tags and transit.last_producer_id != transit.producer_id
    value = TransactionLogValue(
        producer_id=transit.producer_id,
        previous_producer_id=transit.last_producer_id if is_rotated else NO_PRODUCER_ID,
        next_producer_id=transit.next_producer_id if has_tags else NO_PRODUCER_ID,
        producer_epoch=transit.producer_epoch,
        transaction_timeout_ms=transit.timeout_ms,
        transaction_status=int(transit.state),
        transaction_partitions=None if transit.state is TransactionState.EMPTY else _by_topic(transit.topic_partitions),
        transaction_last_update_timestamp_ms=transit.last_update_timestamp_ms,
        transaction_start_timestamp_ms=transit.start_timestamp_ms,
        client_transaction_version=transit.client_transaction_version if has_tags else 0,
    )
    return encode_with_version(value, 1 if has_tags else 0)


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
        last_producer_id=value.previous_producer_id,
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
        next_producer_id=value.next_producer_id,
        client_transaction_version=value.client_transaction_version,
    )
