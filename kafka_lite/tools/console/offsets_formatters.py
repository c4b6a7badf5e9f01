"""Formatters for ``__consumer_offsets``: committed offsets or group metadata; other records are skipped.

Kafka 0.10.2: core/.../coordinator/GroupMetadataManager.scala (OffsetsMessageFormatter, GroupMetadataMessageFormatter);
as JSON in Kafka 4.0: tools/.../consumer/OffsetsMessageFormatter.java, ApiMessageFormatter.java · book 3.5.2
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping
from typing import BinaryIO, TypeVar

from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.protocol.messages.group_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from kafka_lite.protocol.schema import Message
from kafka_lite.protocol.version_prefixed import decode_with_version, read_version
from kafka_lite.tools.console.message_formatters import MessageFormatter
from kafka_lite.tools.log_files.record_decoders import json_fields

M = TypeVar("M", bound=Message)

UNKNOWN = "unknown"


class GroupRecordFormatter(MessageFormatter):
    """Formats the records with one kind of key. Raises SchemaError for bytes that cannot be decoded."""

    KEY: type[Message]
    VALUE: type[Message]

    def write_to(self, record: ConsumerRecord, output: BinaryIO) -> None:
        """Write one line if the record is of this kind."""
        if record.key is not None and read_version(record.key) in self.KEY.VERSIONS:
            output.write(self.line(record).encode() + b"\n")

    @abstractmethod
    def line(self, record: ConsumerRecord) -> str:
        """The record as one line of text."""


class OffsetsMessageFormatter(GroupRecordFormatter):
    """``[group,topic,0]::[OffsetMetadata[42,NO_METADATA],CommitTime 1500000000000,ExpirationTime 1500086400000]``."""

    KEY, VALUE = OffsetCommitKey, OffsetCommitValue

    def line(self, record: ConsumerRecord) -> str:
        """The line; ``NULL`` for a deleted offset. Expiration is -1 in formats that have none."""
        key = decode_with_version(OffsetCommitKey, record.key)
        shown = "NULL"
        if record.value is not None:
            value = decode_with_version(OffsetCommitValue, record.value)
            shown = (
                f"[OffsetMetadata[{value.offset},{value.metadata or 'NO_METADATA'}],"
                f"CommitTime {value.commit_timestamp},ExpirationTime {value.expire_timestamp}]"
            )
        return f"[{key.group},{key.topic},{key.partition}]::{shown}"


class GroupMetadataMessageFormatter(GroupRecordFormatter):
    """``group::[group,Some(consumer),Stable,Map(member -> [member,client,/127.0.0.1,10000])]``."""

    KEY, VALUE = GroupMetadataKey, GroupMetadataValue

    def line(self, record: ConsumerRecord) -> str:
        """The line; ``NULL`` for a deleted group."""
        group = decode_with_version(GroupMetadataKey, record.key).group
        if record.value is None:
            return f"{group}::NULL"
        value = decode_with_version(GroupMetadataValue, record.value)
        members = ", ".join(
            f"{each.member_id} -> [{each.member_id},{each.client_id},{each.client_host},{each.session_timeout}]"
            for each in value.members
        )
        state, protocol_type = ("Stable", f"Some({value.protocol_type})") if value.members else ("Empty", "None")
        return f"{group}::[{group},{protocol_type},{state},Map({members})]"


class JsonOffsetsMessageFormatter(GroupRecordFormatter):
    """``{"key":{"version":1,"data":{"group":"g","topic":"t","partition":0}},"value":{"version":3,"data":{…}}}``.

    The data of a value in a version that is not known, of a later Kafka, are ``"unknown"``.
    """

    KEY: type[Message] = OffsetCommitKey
    VALUE: type[Message] = OffsetCommitValue

    def line(self, record: ConsumerRecord) -> str:
        """The line; ``"value":null`` for a tombstone."""
        value = None if record.value is None else _as_json(self.VALUE, record.value)
        return json.dumps(
            {"key": _as_json(self.KEY, record.key), "value": value}, separators=(",", ":"), ensure_ascii=False
        )


class JsonGroupMetadataMessageFormatter(JsonOffsetsMessageFormatter):
    """The same for group metadata; subscriptions and assignments in base64."""

    KEY, VALUE = GroupMetadataKey, GroupMetadataValue


def _as_json(kind: type[M], data: bytes) -> dict[str, object]:
    version = read_version(data)
    if version not in kind.VERSIONS:
        return {"version": version, "data": UNKNOWN}
    return {"version": version, "data": json_fields(decode_with_version(kind, data), version)}


TEXT_FORMATTERS: Mapping[str, type[MessageFormatter]] = {
    kind.__name__: kind for kind in (OffsetsMessageFormatter, GroupMetadataMessageFormatter)
}
JSON_FORMATTERS: Mapping[str, type[MessageFormatter]] = {
    "OffsetsMessageFormatter": JsonOffsetsMessageFormatter,
    "GroupMetadataMessageFormatter": JsonGroupMetadataMessageFormatter,
}
