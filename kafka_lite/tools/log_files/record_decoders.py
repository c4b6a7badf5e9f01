"""Decodes keys and values of records: as text, or as records of the coordinators' internal topics.

Kafka 3.9: core/.../tools/DumpLogSegments.scala (MessageParser), TransactionLog.scala · book 3.5.2
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.ids.uuids import encode_uuid
from kafka_lite.protocol.messages import consumer_group_records as modern
from kafka_lite.protocol.messages import share_group_records as share
from kafka_lite.protocol.messages.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from kafka_lite.protocol.messages.group_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from kafka_lite.protocol.messages.share_state_records import (
    ShareSnapshotKey,
    ShareSnapshotValue,
    ShareUpdateKey,
    ShareUpdateValue,
)
from kafka_lite.protocol.messages.transaction_records import TransactionLogKey, TransactionLogValue
from kafka_lite.protocol.schema import Message, Struct
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.protocol.version_prefixed import decode_with_version, read_version
from kafka_lite.record.record import Record

Texts = tuple[str | None, str | None]
"""The key and payload to print; None prints nothing."""

Decoder = Callable[[Record], Texts]

DELETED = "<DELETE>"

_GROUP_RECORDS: Mapping[int, tuple[type[Message], type[Message]]] = {
    0: (OffsetCommitKey, OffsetCommitValue),
    1: (OffsetCommitKey, OffsetCommitValue),
    2: (GroupMetadataKey, GroupMetadataValue),
    3: (modern.ConsumerGroupMetadataKey, modern.ConsumerGroupMetadataValue),
    4: (modern.ConsumerGroupPartitionMetadataKey, modern.ConsumerGroupPartitionMetadataValue),
    5: (modern.ConsumerGroupMemberMetadataKey, modern.ConsumerGroupMemberMetadataValue),
    6: (modern.ConsumerGroupTargetAssignmentMetadataKey, modern.ConsumerGroupTargetAssignmentMetadataValue),
    7: (modern.ConsumerGroupTargetAssignmentMemberKey, modern.ConsumerGroupTargetAssignmentMemberValue),
    8: (modern.ConsumerGroupCurrentMemberAssignmentKey, modern.ConsumerGroupCurrentMemberAssignmentValue),
    10: (share.ShareGroupMemberMetadataKey, share.ShareGroupMemberMetadataValue),
    11: (share.ShareGroupMetadataKey, share.ShareGroupMetadataValue),
    12: (share.ShareGroupTargetAssignmentMetadataKey, share.ShareGroupTargetAssignmentMetadataValue),
    13: (share.ShareGroupTargetAssignmentMemberKey, share.ShareGroupTargetAssignmentMemberValue),
    14: (share.ShareGroupCurrentMemberAssignmentKey, share.ShareGroupCurrentMemberAssignmentValue),
    15: (share.ShareGroupStatePartitionMetadataKey, share.ShareGroupStatePartitionMetadataValue),
    16: (modern.ConsumerGroupRegularExpressionKey, modern.ConsumerGroupRegularExpressionValue),
}
"""A key's version determines the record type."""

_SHARE_STATE_RECORDS: Mapping[int, tuple[type[Message], type[Message]]] = {
    0: (ShareSnapshotKey, ShareSnapshotValue),
    1: (ShareUpdateKey, ShareUpdateValue),
}
"""The same for ``__share_group_state``."""

_TRANSACTION_STATES = (
    "Empty",
    "Ongoing",
    "PrepareCommit",
    "PrepareAbort",
    "CompleteCommit",
    "CompleteAbort",
    "Dead",
    "PrepareEpochFence",
)


VALUE_DECODERS: Mapping[str, Callable[[bytes], str]] = {
    "StringDecoder": lambda data: data.decode("utf-8", "replace"),
    "DefaultDecoder": bytes.hex,  # Kafka prints the array's address
    "IntegerDecoder": lambda data: str(_number("IntegerDecoder", ">i", data)),
    "LongDecoder": lambda data: str(_number("LongDecoder", ">q", data)),
}
"""Kafka's decoders in kafka.serializer and org.apache.kafka.tools.api, by simple class name."""

DECODER_PACKAGES = ("kafka.serializer.", "org.apache.kafka.tools.api.")


def key_and_value_decoder(key_class: str | None, value_class: str | None) -> Decoder:
    """A decoder made of two of Kafka's classes (default StringDecoder). Raises KafkaError for an unknown class."""
    key_decoder, value_decoder = _decoder(key_class), _decoder(value_class)

    def decode(record: Record) -> Texts:
        key, value = record.key, record.value
        return None if key is None else key_decoder(key), None if value is None else value_decoder(value)

    return decode


def _decoder(name: str | None) -> Callable[[bytes], str]:
    short = name or "StringDecoder"
    for package in DECODER_PACKAGES:
        short = short.removeprefix(package)
    if short not in VALUE_DECODERS:
        raise KafkaError(f"unknown decoder {name}; valid decoders: {', '.join(VALUE_DECODERS)}")
    return VALUE_DECODERS[short]


def _number(name: str, layout: str, data: bytes) -> object:
    if len(data) != struct.calcsize(layout):
        raise KafkaError(f"Size of data received by {name} is not {struct.calcsize(layout)}")
    return struct.unpack(layout, data)[0]


def decode_offsets(record: Record) -> Texts:
    """Decode a record of ``__consumer_offsets`` to JSON."""
    return _decode(record, _GROUP_RECORDS)


def decode_share_group_state(record: Record) -> Texts:
    """Decode a record of ``__share_group_state`` to JSON."""
    return _decode(record, _SHARE_STATE_RECORDS)


def _decode(record: Record, kinds: Mapping[int, tuple[type[Message], type[Message]]]) -> Texts:
    try:
        version = read_version(record.key or b"")
        if version not in kinds:
            return f"Unknown record type {version} at offset {record.offset}, skipping.", None
        key_type, value_type = kinds[version]
        key = decode_with_version(key_type, record.key or b"")
        shown_key = _json({"type": str(version), "data": json_fields(key, version)})
        return shown_key, DELETED if record.value is None else _group_value(value_type, record.value)
    except SchemaError as error:
        return f"Error at offset {record.offset}, skipping. {error}", None


def _group_value(value_type: type[Message], data: bytes) -> str:
    version = read_version(data)
    value = decode_with_version(value_type, data)
    fields = json_fields(value, version)
    if isinstance(value, GroupMetadataValue) and value.protocol_type == "consumer":
        for member, shown in zip(value.members, fields["members"], strict=True):
            shown["subscription"] = _embedded(ConsumerProtocolSubscription, member.subscription, shown["subscription"])
            shown["assignment"] = _embedded(ConsumerProtocolAssignment, member.assignment, shown["assignment"])
    return _json({"version": str(version), "data": fields})


def _embedded(message: type[Message], data: bytes, otherwise: object) -> object:
    """An embedded consumer-protocol message as JSON fields, or ``otherwise`` if it cannot be decoded."""
    try:
        return json_fields(decode_with_version(message, data), read_version(data))
    except SchemaError:
        return otherwise


def decode_transactions(record: Record) -> Texts:
    """Decode a record of ``__transaction_state`` to Kafka's text."""
    try:
        version = read_version(record.key or b"")
        if version not in TransactionLogKey.VERSIONS:
            return f"unknown::version={version}", None
        key = decode_with_version(TransactionLogKey, record.key or b"")
        shown_key = f"transaction_metadata::transactionalId={key.transactional_id}"
        return shown_key, DELETED if record.value is None else _transaction(record.value)
    except SchemaError as error:
        return f"Error at offset {record.offset}, skipping. {error}", None


def _transaction(data: bytes) -> str:
    value = decode_with_version(TransactionLogValue, data)
    status = value.transaction_status
    state = _TRANSACTION_STATES[status] if 0 <= status < len(_TRANSACTION_STATES) else f"unknown ({status})"
    partitions = [f"{topic.topic}-{id_}" for topic in value.transaction_partitions or () for id_ in topic.partition_ids]
    return (
        f"producerId:{value.producer_id},producerEpoch:{value.producer_epoch},state={state},"
        f"partitions=[{','.join(partitions)}],txnLastUpdateTimestamp={value.transaction_last_update_timestamp_ms},"
        f"txnTimeoutMs={value.transaction_timeout_ms}"
    )


def json_fields(struct: Struct, version: int) -> dict[str, Any]:
    """A struct's fields as Kafka's JSON converters write them: camelCase, base64, no default tagged fields."""
    return {
        _camel_case(field.name): _json_value(getattr(struct, field.name), version)
        for field in struct.FIELDS
        if version in field.versions and not (version in field.tagged and getattr(struct, field.name) == field.default)
    }


def _json_value(value: Any, version: int) -> Any:
    if isinstance(value, Struct):
        return json_fields(value, version)
    if isinstance(value, UUID):
        return encode_uuid(value)
    if isinstance(value, list):
        return [_json_value(each, version) for each in value]
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(value).decode()
    return value


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other.title() for other in others)


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
