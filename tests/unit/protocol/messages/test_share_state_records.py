"""The records of ``__share_group_state`` as Kafka 4.1 writes them, and the messages with the same structs."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_lite.protocol.messages import api_83_initialize_share_group_state as initialize
from kafka_lite.protocol.messages import api_84_read_share_group_state as read
from kafka_lite.protocol.messages import api_85_write_share_group_state as write
from kafka_lite.protocol.messages import api_86_delete_share_group_state as delete
from kafka_lite.protocol.messages import api_87_read_share_group_state_summary as summary
from kafka_lite.protocol.messages import share_state_records as records
from kafka_lite.protocol.messages.share_state import PartitionResult, StateBatch
from kafka_lite.protocol.schema import Message
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.protocol.version_prefixed import decode_with_version, encode_with_version

TOPIC_ID = UUID("00010203-0405-0607-0809-0a0b0c0d0e0f")
ID = "000102030405060708090a0b0c0d0e0f"
BATCH = StateBatch(first_offset=5, last_offset=9, delivery_state=2, delivery_count=3)
BATCHES = "02 0000000000000005 0000000000000009 02 0003 00"

RECORDS: list[tuple[Message, int, str]] = [
    (
        records.ShareSnapshotKey(group_id="g", topic_id=TOPIC_ID, partition=1),
        0,
        f"0000 0001 67 {ID} 00000001",
    ),
    (
        records.ShareUpdateKey(group_id="g", topic_id=TOPIC_ID, partition=1),
        1,
        f"0001 0001 67 {ID} 00000001",
    ),
    (
        records.ShareSnapshotValue(
            snapshot_epoch=1,
            state_epoch=2,
            leader_epoch=3,
            start_offset=5,
            create_timestamp=6,
            write_timestamp=7,
            state_batches=[BATCH],
        ),
        0,
        f"0000 00000001 00000002 00000003 0000000000000005 0000000000000006 0000000000000007 {BATCHES} 00",
    ),
    (
        records.ShareUpdateValue(snapshot_epoch=1, leader_epoch=3, start_offset=-1, state_batches=[BATCH]),
        0,
        f"0000 00000001 00000003 ffffffffffffffff {BATCHES} 00",
    ),
]


@pytest.mark.parametrize(("message", "version", "golden"), RECORDS)
def test_records_are_those_of_kafka_4_1(message: Message, version: int, golden: str) -> None:
    encoded = encode_with_version(message, version)
    assert encoded == bytes.fromhex(golden.replace(" ", ""))
    assert decode_with_version(type(message), encoded) == message


def test_the_two_keys_of_a_partition_differ() -> None:
    snapshot = encode_with_version(records.ShareSnapshotKey(group_id="g"), 0)
    with pytest.raises(SchemaError):
        decode_with_version(records.ShareUpdateKey, snapshot)


MESSAGES: list[tuple[Message, str]] = [
    (
        initialize.InitializeShareGroupStateRequest(
            group_id="g",
            topics=[
                initialize.InitializeStateData(
                    topic_id=TOPIC_ID,
                    partitions=[initialize.PartitionData(partition=1, state_epoch=2, start_offset=-1)],
                )
            ],
        ),
        f"02 67 02 {ID} 02 00000001 00000002 ffffffffffffffff 00 00 00",
    ),
    (
        read.ReadShareGroupStateResponse(
            results=[
                read.ReadStateResult(
                    topic_id=TOPIC_ID,
                    partitions=[
                        read.PartitionResult(partition=1, state_epoch=2, start_offset=5, state_batches=[BATCH])
                    ],
                )
            ]
        ),
        f"02 {ID} 02 00000001 0000 00 00000002 0000000000000005 {BATCHES} 00 00 00",
    ),
    (
        write.WriteShareGroupStateRequest(
            group_id="g",
            topics=[
                write.WriteStateData(
                    topic_id=TOPIC_ID,
                    partitions=[
                        write.PartitionData(
                            partition=1, state_epoch=2, leader_epoch=3, start_offset=5, state_batches=[BATCH]
                        )
                    ],
                )
            ],
        ),
        f"02 67 02 {ID} 02 00000001 00000002 00000003 0000000000000005 {BATCHES} 00 00 00",
    ),
    (
        delete.DeleteShareGroupStateResponse(
            results=[
                delete.DeleteStateResult(
                    topic_id=TOPIC_ID, partitions=[PartitionResult(partition=1, error_code=42, error_message="no")]
                )
            ]
        ),
        f"02 {ID} 02 00000001 002a 03 6e6f 00 00 00",
    ),
    (
        summary.ReadShareGroupStateSummaryResponse(
            results=[
                summary.ReadStateSummaryResult(
                    topic_id=TOPIC_ID,
                    partitions=[summary.PartitionResult(partition=1, state_epoch=2, leader_epoch=3, start_offset=5)],
                )
            ]
        ),
        f"02 {ID} 02 00000001 0000 00 00000002 00000003 0000000000000005 00 00 00",
    ),
]


@pytest.mark.parametrize(("message", "golden"), MESSAGES)
def test_messages_have_the_same_batches(message: Message, golden: str) -> None:
    encoded = message.encode(0)
    assert encoded == bytes.fromhex(golden.replace(" ", ""))
    assert type(message).decode(encoded, 0) == message


def test_an_uninitialized_offset_and_no_batches_are_what_a_state_begins_with() -> None:
    value = records.ShareSnapshotValue(start_offset=-1)
    decoded = decode_with_version(records.ShareSnapshotValue, encode_with_version(value, 0))
    assert (decoded.start_offset, decoded.state_batches, decoded.snapshot_epoch) == (-1, [], 0)


def test_batches_of_two_partitions_are_not_shared() -> None:
    first, second = write.PartitionData(), write.PartitionData()
    first.state_batches.append(BATCH)
    assert second.state_batches == []


@pytest.mark.parametrize("count", [-1, 2**31 - 1])
def test_more_batches_than_bytes_are_refused(count: int) -> None:
    """The compact length of an array is its number of elements plus one."""
    number, length = count + 1, b""
    while number > 0x7F:
        length += bytes([number & 0x7F | 0x80])
        number >>= 7
    length += bytes([number])
    value = encode_with_version(records.ShareUpdateValue(), 0)
    hostile = value[:-2] + length + b"\0"
    with pytest.raises(SchemaError):
        decode_with_version(records.ShareUpdateValue, hostile)


@pytest.mark.parametrize("cut", [1, 9, 20])
def test_records_that_end_early_are_refused(cut: int) -> None:
    key = encode_with_version(records.ShareUpdateKey(group_id="g", topic_id=TOPIC_ID, partition=1), 1)
    with pytest.raises(SchemaError):
        decode_with_version(records.ShareUpdateKey, key[:-cut])


def test_an_error_has_no_message_by_default() -> None:
    response = initialize.InitializeShareGroupStateResponse(
        results=[initialize.InitializeStateResult(topic_id=TOPIC_ID, partitions=[PartitionResult(error_code=3)])]
    )
    assert response.encode(0).hex() == "02" + ID + "02" + "00000000" + "0003" + "00" + "00" + "00" + "00"
    assert initialize.InitializeShareGroupStateResponse.decode(response.encode(0), 0) == response


def test_a_summary_is_asked_for_with_a_leader_epoch_and_a_deletion_without() -> None:
    asked = summary.ReadShareGroupStateSummaryRequest(
        group_id="g",
        topics=[
            summary.ReadStateSummaryData(
                topic_id=TOPIC_ID, partitions=[summary.PartitionData(partition=1, leader_epoch=-1)]
            )
        ],
    )
    deleted = delete.DeleteShareGroupStateRequest(
        group_id="g",
        topics=[delete.DeleteStateData(topic_id=TOPIC_ID, partitions=[delete.PartitionData(partition=1)])],
    )
    assert asked.encode(0).hex() == "0267" + "02" + ID + "02" + "00000001" + "ffffffff" + "00" + "00" + "00"
    assert deleted.encode(0).hex() == "0267" + "02" + ID + "02" + "00000001" + "00" + "00" + "00"


@pytest.mark.parametrize(("message", "_golden"), MESSAGES)
def test_messages_that_end_early_are_refused(message: Message, _golden: str) -> None:
    encoded = message.encode(0)
    for end in range(len(encoded)):
        with pytest.raises(SchemaError):
            type(message).decode(encoded[:end], 0)
