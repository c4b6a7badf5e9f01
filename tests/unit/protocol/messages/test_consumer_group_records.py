"""The messages of KIP-848: structs that may be null, and the records as Kafka 4.1 writes them."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_lite.protocol.messages import api_68_consumer_group_heartbeat as heartbeat
from kafka_lite.protocol.messages import consumer_group_records as records
from kafka_lite.protocol.schema import Message
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.protocol.version_prefixed import decode_with_version, encode_with_version

TOPIC_ID = UUID("00010203-0405-0607-0809-0a0b0c0d0e0f")
OWNED = records.TopicPartition(topic_id=TOPIC_ID, partitions=[0, 2])


def test_an_assignment_that_has_not_changed_is_one_byte() -> None:
    unchanged = heartbeat.ConsumerGroupHeartbeatResponse(member_epoch=3)
    assert unchanged.encode(0).hex() == "00000000" + "0000" + "00" + "00" + "00000003" + "00000000" + "ff" + "00"
    assert heartbeat.ConsumerGroupHeartbeatResponse.decode(unchanged.encode(0), 0).assignment is None


def test_an_empty_assignment_is_not_null() -> None:
    told = heartbeat.ConsumerGroupHeartbeatResponse(assignment=heartbeat.Assignment())
    assert told.encode(1).hex().endswith("01" + "01" + "00" + "00")
    assert heartbeat.ConsumerGroupHeartbeatResponse.decode(told.encode(1), 1) == told


def test_a_regular_expression_needs_version_1() -> None:
    request = heartbeat.ConsumerGroupHeartbeatRequest(subscribed_topic_regex="a.*")
    assert heartbeat.ConsumerGroupHeartbeatRequest.decode(request.encode(1), 1) == request
    with pytest.raises(SchemaError):
        request.encode(0)


RECORDS: list[tuple[Message, int, str]] = [
    (records.ConsumerGroupMetadataKey(group_id="g"), 3, "0003 0001 67"),
    (records.ConsumerGroupMetadataValue(epoch=7), 0, "0000 00000007 00"),
    (records.ConsumerGroupMetadataValue(epoch=7, metadata_hash=1), 0, "0000 00000007 01 00 08 0000000000000001"),
    (records.ConsumerGroupMemberMetadataKey(group_id="g", member_id="m"), 5, "0005 0001 67 0001 6d"),
    (
        records.ConsumerGroupMemberMetadataValue(
            instance_id=None,
            rack_id="r",
            client_id="c",
            client_host="/h",
            subscribed_topic_names=["t"],
            subscribed_topic_regex=None,
            rebalance_timeout_ms=1000,
            server_assignor=None,
        ),
        0,
        "0000 00 02 72 02 63 03 2f68 02 02 74 00 000003e8 00 00",
    ),
    (
        records.ConsumerGroupMemberMetadataValue(
            instance_id="i",
            rack_id=None,
            client_id="",
            client_host="",
            subscribed_topic_names=[],
            subscribed_topic_regex="x",
            server_assignor="uniform",
            classic_member_metadata=records.ClassicMemberMetadata(
                session_timeout_ms=5,
                supported_protocols=[records.ClassicProtocol(name="range", metadata=b"\1\2")],
            ),
        ),
        0,
        "0000 02 69 00 01 01 01 02 78 ffffffff 08 756e69666f726d 01 00 11 01 00000005 02 06 72616e6765 03 0102 00 00",
    ),
    (records.ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch=7), 0, "0000 00000007 00"),
    (
        records.ConsumerGroupTargetAssignmentMemberValue(topic_partitions=[OWNED]),
        0,
        "0000 02 000102030405060708090a0b0c0d0e0f 03 00000000 00000002 00 00",
    ),
    (
        records.ConsumerGroupCurrentMemberAssignmentValue(
            member_epoch=7, previous_member_epoch=6, state=2, assigned_partitions=[OWNED]
        ),
        0,
        "0000 00000007 00000006 02 02 000102030405060708090a0b0c0d0e0f 03 00000000 00000002 00 01 00",
    ),
    (
        records.ConsumerGroupRegularExpressionKey(group_id="g", regular_expression="x.*"),
        16,
        "0010 0001 67 0003 782e2a",
    ),
]


@pytest.mark.parametrize(("message", "version", "golden"), RECORDS)
def test_records_are_those_of_kafka_4_1(message: Message, version: int, golden: str) -> None:
    encoded = encode_with_version(message, version)
    assert encoded == bytes.fromhex(golden.replace(" ", ""))
    assert decode_with_version(type(message), encoded) == message
