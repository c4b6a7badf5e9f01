"""The three APIs about the offsets of share groups: their bytes, and what may be null."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_lite.protocol.messages import api_90_describe_share_group_offsets as describe
from kafka_lite.protocol.messages import api_91_alter_share_group_offsets as alter
from kafka_lite.protocol.messages import api_92_delete_share_group_offsets as delete
from kafka_lite.protocol.schema import Message
from kafka_lite.protocol.schema_error import SchemaError

TOPIC_ID = UUID("00010203-0405-0607-0809-0a0b0c0d0e0f")
ID = "000102030405060708090a0b0c0d0e0f"


MESSAGES: list[tuple[Message, str]] = [
    (
        describe.DescribeShareGroupOffsetsRequest(
            groups=[
                describe.DescribeShareGroupOffsetsRequestGroup(
                    group_id="g",
                    topics=[describe.DescribeShareGroupOffsetsRequestTopic(topic_name="t", partitions=[3])],
                )
            ]
        ),
        "02 02 67 02 02 74 02 00000003 00 00 00",
    ),
    (
        describe.DescribeShareGroupOffsetsResponse(
            groups=[
                describe.DescribeShareGroupOffsetsResponseGroup(
                    group_id="g",
                    topics=[
                        describe.DescribeShareGroupOffsetsResponseTopic(
                            topic_name="t",
                            topic_id=TOPIC_ID,
                            partitions=[
                                describe.DescribeShareGroupOffsetsResponsePartition(
                                    partition_index=3, start_offset=-1, leader_epoch=4
                                )
                            ],
                        )
                    ],
                )
            ]
        ),
        f"00000000 02 02 67 02 02 74 {ID} 02 00000003 ffffffffffffffff 00000004 0000 00 00 00 0000 00 00 00",
    ),
    (
        alter.AlterShareGroupOffsetsRequest(
            group_id="g",
            topics=[
                alter.AlterShareGroupOffsetsRequestTopic(
                    topic_name="t",
                    partitions=[alter.AlterShareGroupOffsetsRequestPartition(partition_index=3, start_offset=9)],
                )
            ],
        ),
        "02 67 02 02 74 02 00000003 0000000000000009 00 00 00",
    ),
    (
        delete.DeleteShareGroupOffsetsResponse(
            error_code=68,
            responses=[delete.DeleteShareGroupOffsetsResponseTopic(topic_name="t", topic_id=TOPIC_ID, error_code=3)],
        ),
        f"00000000 0044 00 02 02 74 {ID} 0003 00 00 00",
    ),
]


@pytest.mark.parametrize(("message", "golden"), MESSAGES)
def test_offsets_are_written_as_kafka_writes_them(message: Message, golden: str) -> None:
    encoded = message.encode(0)
    assert encoded == bytes.fromhex(golden.replace(" ", ""))
    assert type(message).decode(encoded, 0) == message


def test_all_topics_of_a_group_are_null() -> None:
    request = describe.DescribeShareGroupOffsetsRequest(
        groups=[describe.DescribeShareGroupOffsetsRequestGroup(group_id="g", topics=None)]
    )
    assert request.encode(0).hex() == "02" + "0267" + "00" + "00" + "00"
    with pytest.raises(SchemaError, match="topics"):
        alter.AlterShareGroupOffsetsRequest.decode(bytes.fromhex("02670000"), 0)


def test_an_error_of_the_group_comes_without_topics() -> None:
    refused = alter.AlterShareGroupOffsetsResponse(error_code=68, error_message="not empty")
    assert refused.encode(0).hex() == "00000000" + "0044" + "0a" + b"not empty".hex() + "01" + "00"
    assert alter.AlterShareGroupOffsetsResponse.decode(refused.encode(0), 0) == refused


def test_a_topic_is_deleted_with_all_of_its_partitions() -> None:
    request = delete.DeleteShareGroupOffsetsRequest(
        group_id="g", topics=[delete.DeleteShareGroupOffsetsRequestTopic(topic_name="t")]
    )
    assert request.encode(0).hex() == "0267" + "02" + "0274" + "00" + "00"
    assert delete.DeleteShareGroupOffsetsRequest.decode(request.encode(0), 0) == request


def test_a_group_without_partitions_is_described_as_such() -> None:
    described = describe.DescribeShareGroupOffsetsResponseGroup(group_id="g")
    assert (described.topics, described.error_code, described.error_message) == ([], 0, None)


@pytest.mark.parametrize(("message", "_golden"), MESSAGES)
def test_messages_that_end_early_are_refused(message: Message, _golden: str) -> None:
    encoded = message.encode(0)
    for end in range(len(encoded)):
        with pytest.raises(SchemaError):
            type(message).decode(encoded[:end], 0)


def test_an_unknown_topic_has_no_id_and_no_offset() -> None:
    partition = describe.DescribeShareGroupOffsetsResponsePartition(partition_index=1, start_offset=-1)
    topic = describe.DescribeShareGroupOffsetsResponseTopic(topic_name="t", partitions=[partition])
    response = describe.DescribeShareGroupOffsetsResponse(
        groups=[describe.DescribeShareGroupOffsetsResponseGroup(group_id="g", topics=[topic])]
    )
    decoded = describe.DescribeShareGroupOffsetsResponse.decode(response.encode(0), 0)
    assert decoded.groups[0].topics[0].topic_id.int == 0
    assert decoded.groups[0].topics[0].partitions[0].start_offset == -1


def test_each_partition_that_is_altered_has_its_own_error() -> None:
    partitions = [
        alter.AlterShareGroupOffsetsResponsePartition(partition_index=index, error_code=code, error_message=message)
        for index, code, message in ((0, 0, None), (1, 3, "unknown"))
    ]
    topic = alter.AlterShareGroupOffsetsResponseTopic(topic_name="t", topic_id=TOPIC_ID, partitions=partitions)
    response = alter.AlterShareGroupOffsetsResponse(responses=[topic])
    assert alter.AlterShareGroupOffsetsResponse.decode(response.encode(0), 0) == response
