"""Groups and offsets are restored from their partition, whose last value of each key counts."""

from __future__ import annotations

import logging

import pytest

from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from tests.support.groups import GROUP, Groups, MemoryLog


@pytest.fixture
def groups() -> Groups:
    return Groups()


def group_log(groups: Groups, group_id: str = GROUP) -> MemoryLog:
    return groups.offsets_log.log(groups.manager.topic_partition_for(group_id))


def append(groups: Groups, *records: tuple[bytes, bytes | None], **batch: object) -> None:
    builder = MemoryRecordsBuilder(base_offset=group_log(groups).log_end_offset, **batch)  # type: ignore[arg-type]
    for key, value in records:
        builder.append(0, key, value)
    group_log(groups).batches.append((builder.last_offset, builder.build()))
    group_log(groups).log_end_offset = builder.last_offset + 1


def offset_record(number: int) -> tuple[bytes, bytes]:
    source = Groups()
    source.commit(number)
    (record,) = group_log(source).records()
    return record.key or b"", record.value or b""


def marker(kind: ControlRecordType) -> tuple[bytes, bytes]:
    end = EndTransactionMarker(kind, 0)
    return end.key, end.value


@pytest.mark.parametrize(("end", "expected"), [(ControlRecordType.COMMIT, 2), (ControlRecordType.ABORT, 1), (None, 1)])
def test_offsets_of_a_transaction_count_once_it_commits(
    groups: Groups, end: ControlRecordType | None, expected: int
) -> None:
    append(groups, offset_record(1))
    append(groups, offset_record(2), producer_id=9, producer_epoch=0, base_sequence=0, is_transactional=True)
    if end is not None:
        append(groups, marker(end), producer_id=9, producer_epoch=0, is_transactional=True, is_control=True)
    assert groups.restart().committed() == expected


def test_a_commit_between_a_transaction_and_its_marker_is_the_newer_one(groups: Groups) -> None:
    append(groups, offset_record(2), producer_id=9, producer_epoch=0, base_sequence=0, is_transactional=True)
    append(groups, offset_record(3))
    append(
        groups,
        marker(ControlRecordType.COMMIT),
        producer_id=9,
        producer_epoch=0,
        is_transactional=True,
        is_control=True,
    )
    assert groups.restart().committed() == 3


def test_undecodable_records_are_skipped(groups: Groups, caplog: pytest.LogCaptureFixture) -> None:
    key, value = offset_record(5)
    append(groups, (key, value))
    append(groups, (b"\x00\x63from the future", b""), (b"\x00", b""), (key, b"\x00\x09"), (b"\x00\x02\x00\x01x", b"?"))
    with caplog.at_level(logging.WARNING):
        after = groups.restart()
    assert after.committed() == 5
    assert "Ignoring the record with an unknown key at offset 1" in caplog.text
    assert caplog.text.count("Skipping the record") == 3
