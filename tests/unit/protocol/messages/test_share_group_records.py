"""The records of share groups as Kafka 4.1 writes them."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_lite.protocol.messages import share_group_records as records
from kafka_lite.protocol.schema import Message
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.protocol.version_prefixed import decode_with_version, encode_with_version

TOPIC_ID = UUID("00010203-0405-0607-0809-0a0b0c0d0e0f")
READ = records.TopicPartition(topic_id=TOPIC_ID, partitions=[0, 2])
NAMED = records.TopicPartitionsInfo(topic_id=TOPIC_ID, topic_name="t", partitions=[1])

RECORDS: list[tuple[Message, int, str]] = [
    (records.ShareGroupMemberMetadataKey(group_id="g", member_id="m"), 10, "000a 0001 67 0001 6d"),
    (
        records.ShareGroupMemberMetadataValue(
            rack_id=None, client_id="c", client_host="/h", subscribed_topic_names=["t"]
        ),
        0,
        "0000 00 02 63 03 2f68 02 02 74 00",
    ),
    (records.ShareGroupMetadataKey(group_id="g"), 11, "000b 0001 67"),
    (records.ShareGroupMetadataValue(epoch=7, metadata_hash=1), 0, "0000 00000007 0000000000000001 00"),
    (records.ShareGroupTargetAssignmentMetadataKey(group_id="g"), 12, "000c 0001 67"),
    (records.ShareGroupTargetAssignmentMetadataValue(assignment_epoch=7), 0, "0000 00000007 00"),
    (records.ShareGroupTargetAssignmentMemberKey(group_id="g", member_id="m"), 13, "000d 0001 67 0001 6d"),
    (
        records.ShareGroupTargetAssignmentMemberValue(topic_partitions=[READ]),
        0,
        "0000 02 000102030405060708090a0b0c0d0e0f 03 00000000 00000002 00 00",
    ),
    (records.ShareGroupCurrentMemberAssignmentKey(group_id="g", member_id="m"), 14, "000e 0001 67 0001 6d"),
    (
        records.ShareGroupCurrentMemberAssignmentValue(
            member_epoch=7, previous_member_epoch=6, assigned_partitions=[READ]
        ),
        0,
        "0000 00000007 00000006 00 02 000102030405060708090a0b0c0d0e0f 03 00000000 00000002 00 00",
    ),
    (records.ShareGroupStatePartitionMetadataKey(group_id="g"), 15, "000f 0001 67"),
    (
        records.ShareGroupStatePartitionMetadataValue(
            initializing_topics=[NAMED], deleting_topics=[records.TopicInfo(topic_id=TOPIC_ID, topic_name="t")]
        ),
        0,
        "0000 02 000102030405060708090a0b0c0d0e0f 02 74 02 00000001 00 01"
        "02 000102030405060708090a0b0c0d0e0f 02 74 00 00",
    ),
]


@pytest.mark.parametrize(("message", "version", "golden"), RECORDS)
def test_records_are_those_of_kafka_4_1(message: Message, version: int, golden: str) -> None:
    encoded = encode_with_version(message, version)
    assert encoded == bytes.fromhex(golden.replace(" ", ""))
    assert decode_with_version(type(message), encoded) == message


@pytest.mark.parametrize(("message", "version", "golden"), RECORDS)
def test_a_record_that_was_cut_is_refused(message: Message, version: int, golden: str) -> None:
    """As after a crash of the disk: the coordinator skips such a record, and says so."""
    assert encode_with_version(message, version).hex() == golden.replace(" ", "")
    encoded = encode_with_version(message, version)
    for length in range(2, len(encoded)):
        with pytest.raises(SchemaError):
            decode_with_version(type(message), encoded[:length])


def test_a_version_of_later_brokers_is_refused() -> None:
    encoded = encode_with_version(records.ShareGroupMetadataValue(epoch=7), 0)
    with pytest.raises(SchemaError):
        decode_with_version(records.ShareGroupMetadataValue, b"\0\1" + encoded[2:])


def test_the_version_of_a_key_is_its_kind() -> None:
    kinds = [message.VERSIONS.lowest for message, version, _ in RECORDS if version]
    assert kinds == list(range(10, 16))
    assert all(message.VERSIONS.lowest == message.VERSIONS.highest for message, _, _ in RECORDS)
