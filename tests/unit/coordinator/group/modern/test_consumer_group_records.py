"""Records of groups of KIP-848 as bytes."""

from __future__ import annotations

import pytest

from kafka_lite.coordinator.group.modern import consumer_group_records as group_records
from kafka_lite.coordinator.group.modern.consumer_group_records import GroupRecord
from kafka_lite.coordinator.group.modern.record_kinds import encode
from kafka_lite.protocol.messages import group_records as classic_records
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.protocol.version_prefixed import encode_with_version
from tests.support.modern_groups import EVERY_RECORD


@pytest.mark.parametrize("record", EVERY_RECORD)
def test_records_survive_the_log(record: GroupRecord) -> None:
    key, value = encode(record)
    read = group_records.KINDS.read_key(key)
    assert read == record[0]
    assert group_records.KINDS.read_value(read, value) == record[1]
    assert group_records.KINDS.read_value(read, None) is None


def test_keys_of_other_kinds_are_left_alone() -> None:
    assert group_records.KINDS.read_key(encode_with_version(classic_records.GroupMetadataKey(group="g"), 2)) is None
    assert group_records.KINDS.read_key(b"\0\x63rest") is None
    with pytest.raises(SchemaError):
        group_records.KINDS.read_key(b"\0\5\0")
