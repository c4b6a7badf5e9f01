"""Every record of a share group is read as it was written."""

from __future__ import annotations

import pytest

from kafka_lite.coordinator.group.modern.member_state import MemberState
from kafka_lite.coordinator.group.modern.record_kinds import encode
from kafka_lite.coordinator.group.modern.share import share_group_records as group_records
from kafka_lite.coordinator.group.modern.share.share_group_member import ShareGroupMember
from kafka_lite.coordinator.group.modern.share.share_group_records import ShareGroupRecord
from kafka_lite.protocol.messages import share_group_records as records
from tests.support.share_groups import EVERY_SHARE_RECORD, WHOLE_SHARE_MEMBER


@pytest.mark.parametrize("record", EVERY_SHARE_RECORD)
def test_records_survive_the_log(record: ShareGroupRecord) -> None:
    key, value = encode(record)
    read = group_records.KINDS.read_key(key)
    assert read == record[0]
    assert read is not None
    assert group_records.KINDS.read_value(read, value) == record[1]


def test_a_member_is_what_its_records_say() -> None:
    _, subscription = group_records.member_subscription("g", WHOLE_SHARE_MEMBER)
    _, current = group_records.current_assignment("g", WHOLE_SHARE_MEMBER)
    assert isinstance(subscription, records.ShareGroupMemberMetadataValue)
    assert isinstance(current, records.ShareGroupCurrentMemberAssignmentValue)
    member = group_records.assigned(group_records.described(ShareGroupMember("m"), subscription), current)
    assert member == WHOLE_SHARE_MEMBER
    assert member.state is MemberState.STABLE


def test_the_same_assignment_has_the_same_bytes() -> None:
    (_, value) = encode(group_records.member_subscription("g", WHOLE_SHARE_MEMBER))
    assert value is not None
    assert value.index(b"\2a") < value.index(b"\2b")


def test_a_member_is_deleted_before_its_group() -> None:
    kinds = [type(key) for key, value in group_records.group_tombstones("g", ["m"]) if value is None]
    assert kinds == [
        records.ShareGroupCurrentMemberAssignmentKey,
        records.ShareGroupTargetAssignmentMemberKey,
        records.ShareGroupMemberMetadataKey,
        records.ShareGroupTargetAssignmentMetadataKey,
        records.ShareGroupStatePartitionMetadataKey,
        records.ShareGroupMetadataKey,
    ]
