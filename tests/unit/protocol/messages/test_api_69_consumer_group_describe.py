"""ConsumerGroupDescribe: the bytes of both versions, and the kind of a member that only the later one has."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_lite.protocol.messages import api_69_consumer_group_describe as describe
from kafka_lite.protocol.schema_error import SchemaError

TOPIC_ID = UUID("00010203-0405-0607-0809-0a0b0c0d0e0f")


def group() -> describe.DescribedGroup:
    partitions = describe.TopicPartitions(topic_id=TOPIC_ID, topic_name="t", partitions=[1])
    member = describe.Member(
        member_id="m",
        member_epoch=2,
        client_id="c",
        client_host="/h",
        subscribed_topic_names=["t"],
        assignment=describe.Assignment(topic_partitions=[partitions]),
        member_type=1,
    )
    return describe.DescribedGroup(
        group_id="g", group_state="Stable", group_epoch=3, assignment_epoch=3, assignor_name="range", members=[member]
    )


ASSIGNMENT = "02 000102030405060708090a0b0c0d0e0f 02 74 02 00000001 00 00"
MEMBER = f"02 6d 00 00 00000002 02 63 03 2f68 02 02 74 00 {ASSIGNMENT} 01 00"
GROUP = "0000 00 02 67 07 537461626c65 00000003 00000003 06 72616e6765"


@pytest.mark.parametrize(("version", "member_type"), [(0, ""), (1, "01")])
def test_a_group_is_written_as_kafka_writes_it(version: int, member_type: str) -> None:
    response = describe.ConsumerGroupDescribeResponse(groups=[group()])
    golden = f"00000000 02 {GROUP} 02 {MEMBER} {member_type} 00 80000000 00 00"
    encoded = response.encode(version)
    assert encoded == bytes.fromhex(golden.replace(" ", ""))
    decoded = describe.ConsumerGroupDescribeResponse.decode(encoded, version)
    if version == 0:
        assert decoded.groups[0].members[0].member_type == -1
        decoded.groups[0].members[0].member_type = 1
    assert decoded == response


def test_a_request_has_names_and_a_flag() -> None:
    request = describe.ConsumerGroupDescribeRequest(group_ids=["g", "h"], include_authorized_operations=True)
    assert request.encode(1).hex() == "03" + "0267" + "0268" + "01" + "00"


def test_null_is_no_list_of_groups() -> None:
    with pytest.raises(SchemaError, match="group_ids"):
        describe.ConsumerGroupDescribeRequest.decode(bytes.fromhex("000000"), 0)


def test_no_rights_were_asked_for_by_default() -> None:
    empty = describe.DescribedGroup()
    assert (empty.authorized_operations, empty.members, empty.error_message) == (describe.NO_OPERATIONS, [], None)


def test_assignments_of_two_members_are_not_shared() -> None:
    first, second = describe.Member(), describe.Member()
    first.assignment.topic_partitions.append(describe.TopicPartitions(topic_name="t"))
    assert second.assignment.topic_partitions == []
