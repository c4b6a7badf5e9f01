"""The records of a share coordinator, from values to bytes and back."""

from __future__ import annotations

import pytest

from kafka_lite.coordinator.share import share_coordinator_records as records
from kafka_lite.coordinator.share.share_coordinator_records import ShareSnapshot, ShareUpdate
from kafka_lite.coordinator.share.share_group_offset import ShareGroupOffset
from kafka_lite.protocol.schema_error import SchemaError
from tests.support.share_coordinators import KEY, batch

SNAPSHOT = ShareGroupOffset(3, 7, 100, (batch(100, 109, 2), batch(120, 120, 0, 4)), 2, 1000, 2000)
UPDATE = ShareGroupOffset(3, 8, -1, (batch(110, 119),))


@pytest.mark.parametrize("record", [ShareSnapshot(KEY, SNAPSHOT), ShareUpdate(KEY, UPDATE), ShareSnapshot(KEY, None)])
def test_what_is_written_is_read(record: records.ShareRecord) -> None:
    assert records.decode(*records.encode(record)) == record


def test_a_tombstone_has_the_key_of_a_snapshot() -> None:
    key, value = records.encode(ShareSnapshot(KEY, None))
    assert value is None
    assert key == records.encode(ShareSnapshot(KEY, SNAPSHOT))[0]
    assert key != records.encode(ShareUpdate(KEY, UPDATE))[0]


def test_a_later_kind_of_record_is_unknown() -> None:
    key, value = records.encode(ShareUpdate(KEY, UPDATE))
    assert records.decode(b"\0\7" + key[2:], value) is None


@pytest.mark.parametrize("key", [b"", b"\0", b"\0\0", b"\0\1\0\5gr"])
def test_a_key_that_ends_early_is_refused(key: bytes) -> None:
    with pytest.raises(SchemaError):
        records.decode(key, records.encode(ShareUpdate(KEY, UPDATE))[1])


def test_an_update_needs_a_value() -> None:
    key, _ = records.encode(ShareUpdate(KEY, UPDATE))
    with pytest.raises(SchemaError, match="no value"):
        records.decode(key, None)


def test_a_value_of_a_later_version_is_refused() -> None:
    key, value = records.encode(ShareSnapshot(KEY, SNAPSHOT))
    assert value is not None
    with pytest.raises(SchemaError):
        records.decode(key, b"\0\1" + value[2:])


def test_batches_become_messages_and_back() -> None:
    assert records.from_messages(records.to_messages(SNAPSHOT.state_batches)) == SNAPSHOT.state_batches
