"""ShareGroupDescribe: the bytes of its only version."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_lite.protocol.messages import api_77_share_group_describe as describe
from kafka_lite.protocol.schema_error import SchemaError

TOPIC_ID = UUID("00010203-0405-0607-0809-0a0b0c0d0e0f")
ASSIGNMENT = "02 000102030405060708090a0b0c0d0e0f 02 74 02 00000001 00 00"
MEMBER = f"02 6d 00 00000002 02 63 03 2f68 02 02 74 {ASSIGNMENT} 00"
GROUP = "0000 00 02 67 07 537461626c65 00000003 00000003 07 73696d706c65"


def test_a_group_is_written_as_kafka_writes_it() -> None:
    partitions = describe.TopicPartitions(topic_id=TOPIC_ID, topic_name="t", partitions=[1])
    member = describe.Member(
        member_id="m",
        member_epoch=2,
        client_id="c",
        client_host="/h",
        subscribed_topic_names=["t"],
        assignment=describe.Assignment(topic_partitions=[partitions]),
    )
    group = describe.DescribedGroup(
        group_id="g", group_state="Stable", group_epoch=3, assignment_epoch=3, assignor_name="simple", members=[member]
    )
    response = describe.ShareGroupDescribeResponse(groups=[group])
    encoded = response.encode(1)
    assert encoded == bytes.fromhex(f"00000000 02 {GROUP} 02 {MEMBER} 80000000 00 00".replace(" ", ""))
    assert describe.ShareGroupDescribeResponse.decode(encoded, 1) == response


def test_a_request_has_names_and_a_flag() -> None:
    request = describe.ShareGroupDescribeRequest(group_ids=["g", "h"], include_authorized_operations=True)
    assert request.encode(1).hex() == "03" + "0267" + "0268" + "01" + "00"


def test_null_is_no_list_of_groups() -> None:
    with pytest.raises(SchemaError, match="group_ids"):
        describe.ShareGroupDescribeRequest.decode(bytes.fromhex("000000"), 1)


def test_a_group_that_there_is_not_has_an_error_and_nothing_else() -> None:
    group = describe.DescribedGroup(error_code=69, error_message="x", group_id="g")
    encoded = describe.ShareGroupDescribeResponse(groups=[group]).encode(1)
    assert encoded == bytes.fromhex("00000000 02 0045 02 78 02 67 01 00000000 00000000 01 01 80000000 00 00")


def test_no_rights_were_asked_for_by_default() -> None:
    assert describe.DescribedGroup().authorized_operations == describe.NO_OPERATIONS


@pytest.mark.parametrize("version", [0, 2])
def test_other_versions_are_unknown(version: int) -> None:
    with pytest.raises(SchemaError):
        describe.ShareGroupDescribeRequest(group_ids=["g"]).encode(version)


def test_a_response_that_was_cut_is_refused() -> None:
    member = describe.Member(member_id="m", rack_id="r", client_id="c", client_host="/h", subscribed_topic_names=["t"])
    group = describe.DescribedGroup(group_id="g", group_state="Stable", members=[member])
    encoded = describe.ShareGroupDescribeResponse(groups=[group]).encode(1)
    assert describe.ShareGroupDescribeResponse.decode(encoded, 1).groups == [group]
    for length in range(len(encoded)):
        with pytest.raises(SchemaError):
            describe.ShareGroupDescribeResponse.decode(encoded[:length], 1)
