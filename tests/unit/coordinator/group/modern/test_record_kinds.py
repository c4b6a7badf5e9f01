"""The version of a key tells the kind of record."""

from __future__ import annotations

import pytest

from kafka_lite.coordinator.group.modern import consumer_group_records
from kafka_lite.coordinator.group.modern.record_kinds import encode
from kafka_lite.coordinator.group.modern.share import share_group_records
from kafka_lite.protocol.schema_error import SchemaError


def test_each_kind_of_group_reads_its_own_records_only() -> None:
    ours, _ = encode(share_group_records.group_epoch("g", 3, 5))
    theirs, _ = encode(consumer_group_records.group_epoch("g", 3, 5))
    assert share_group_records.KINDS.read_key(ours) is not None
    assert share_group_records.KINDS.read_key(theirs) is None
    assert consumer_group_records.KINDS.read_key(ours) is None
    with pytest.raises(SchemaError):
        share_group_records.KINDS.read_key(ours[:-1])


def test_a_tombstone_has_no_value() -> None:
    record = share_group_records.group_tombstones("g")[-1]
    key, value = encode(record)
    assert value is None
    read = share_group_records.KINDS.read_key(key)
    assert read == record[0]
    assert read is not None
    assert share_group_records.KINDS.read_value(read, None) is None
