"""Which records and batches a cleaning retains."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lite.common.errors import ApiError
from kafka_lite.common.time import MockTime
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.log import Log
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.default_record_batch import DefaultRecordBatch
from tests.support.compaction import (
    DAY_MS,
    FORMATS,
    all_batches,
    append,
    clean,
    compacted,
    dirty,
    keyed_set,
    values_of,
)


@pytest.fixture
def time() -> MockTime:
    return MockTime()


def batch_with(log: Log, offset: int) -> DefaultRecordBatch:
    found = next(batch for batch in all_batches(log) if batch.base_offset <= offset <= batch.last_offset)
    assert isinstance(found, DefaultRecordBatch)
    return found


@pytest.mark.parametrize("magic", FORMATS)
def test_records_without_a_key_are_removed(tmp_path: Path, time: MockTime, magic: int) -> None:
    log = compacted(tmp_path, time, message_format_version=FORMATS[magic], cleanup_policy="delete")
    append(log, (None, b"1"))
    append(log, (b"a", b"2"))
    append(log, (None, b"3"))
    log.roll()
    append(log, (None, b"in the active segment"))
    _, stats = clean(log, time)
    assert values_of(log) == {1: b"2", 3: b"in the active segment"}
    assert stats.invalid_messages_read == 2


def test_v2_tombstones_stay_until_their_delete_horizon(tmp_path: Path, time: MockTime) -> None:
    log = compacted(tmp_path, time)
    append(log, (b"a", b"1"), (b"b", b"1"), timestamp=time.milliseconds())
    append(log, (b"a", None), (b"c", b"1"), timestamp=time.milliseconds())
    log.roll()
    time.sleep(10 * DAY_MS)  # the record's age is irrelevant; the horizon counts from the first cleaning
    clean(log, time)
    assert values_of(log) == {1: b"1", 2: None, 3: b"1"}
    assert batch_with(log, 2).delete_horizon_ms == time.milliseconds() + DAY_MS
    assert batch_with(log, 1).delete_horizon_ms is None
    time.sleep(DAY_MS - 1)
    dirty(log, b"d")
    clean(log, time, 4)
    assert values_of(log) == {1: b"1", 2: None, 3: b"1", 4: b"v"}
    time.sleep(1)
    dirty(log, b"e")
    clean(log, time, 5)
    assert values_of(log) == {1: b"1", 3: b"1", 4: b"v", 5: b"v"}


def test_a_superseded_tombstone_is_removed_at_once(tmp_path: Path, time: MockTime) -> None:
    log = compacted(tmp_path, time)
    append(log, (b"a", None))
    append(log, (b"a", b"2"))
    log.roll()
    clean(log, time)
    assert values_of(log) == {1: b"2"}


@pytest.mark.parametrize("magic", [0, 1])
def test_v0_and_v1_tombstones_expire_by_the_age_of_their_segment(tmp_path: Path, time: MockTime, magic: int) -> None:
    log = compacted(tmp_path, time, message_format_version=FORMATS[magic], segment_bytes=50)
    append(log, (b"a", None))
    log.roll()
    dirty(log, b"b")
    first, second, _ = log.segments
    first.set_last_modified_ms(1_000_000)
    second.set_last_modified_ms(1_000_000 + DAY_MS - 1)
    clean(log, time)
    assert values_of(log) == {0: None, 1: b"v"}, "there was no clean segment yet"
    dirty(log, b"c")
    clean(log, time, 2)
    assert 0 in values_of(log), "the newest clean segment is not a day younger than the tombstone's"
    dirty(log, b"d")
    tuple(log.segments)[1].set_last_modified_ms(1_000_000 + DAY_MS)
    clean(log, time, 2)
    assert values_of(log) == {1: b"v", 2: b"v", 3: b"v"}


def test_empty_batches_are_removed(tmp_path: Path, time: MockTime) -> None:
    log = compacted(tmp_path, time)
    append(log, (b"a", b"1"), (b"b", b"1"))
    append(log, (b"a", b"2"), (b"b", b"2"))
    append(log, (b"c", b"1"))
    log.roll()
    clean(log, time)
    assert [batch.base_offset for batch in all_batches(log)] == [2, 4]


def test_the_last_batch_of_a_cleaning_is_kept_as_a_header(tmp_path: Path, time: MockTime) -> None:
    log = compacted(tmp_path, time, cleanup_policy="delete")
    append(log, (b"a", b"1"))
    append(log, (None, b"without a key, so it goes"))
    log.roll()
    append(log, (b"a", b"2"))
    clean(log, time)
    assert [(batch.base_offset, batch.record_count) for batch in all_batches(log)] == [(0, 1), (1, 0), (2, 1)]


def send(log: Log, sequence: int, *pairs: tuple[bytes, bytes], producer_id: int = 7, epoch: int = 0) -> None:
    records = keyed_set(*pairs, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence)
    log.append_as_leader(records, 0)


def test_the_last_batch_of_a_producer_is_kept_as_a_header(tmp_path: Path, time: MockTime) -> None:
    log = compacted(tmp_path, time)
    send(log, 0, (b"a", b"1"))
    send(log, 1, (b"a", b"2"), (b"b", b"2"))
    append(log, (b"a", b"3"), (b"b", b"3"))
    append(log, (b"c", b"3"))
    log.roll()
    clean(log, time)
    assert [(batch.base_offset, batch.record_count) for batch in all_batches(log)] == [(1, 0), (3, 2), (5, 1)]
    assert (batch_with(log, 1).producer_id, batch_with(log, 1).base_sequence) == (7, 1)
    # After a restart without a snapshot, the header is all that is known of the producer.
    for snapshot in log.dir.glob("*.snapshot"):
        snapshot.unlink()
    again = compacted(tmp_path, time)
    with pytest.raises(ApiError):
        send(again, 7, (b"d", b"4"))
    send(again, 3, (b"d", b"4"))
    # Now the producer has a newer last batch.
    again.roll()
    clean(again, time)
    assert [batch.base_offset for batch in all_batches(again)] == [3, 5, 6]


def test_batches_of_expired_producers_are_removed(tmp_path: Path, time: MockTime) -> None:
    log = compacted(tmp_path, time)
    send(log, 0, (b"a", b"1"))
    append(log, (b"a", b"2"))
    time.sleep(2 * DAY_MS)
    log.derived_state.remove_expired_producers()
    log.roll()
    clean(log, time)
    assert [batch.base_offset for batch in all_batches(log)] == [1]


def transactional(log: Log, sequence: int, *pairs: tuple[bytes, bytes], producer_id: int) -> None:
    records = keyed_set(
        *pairs, producer_id=producer_id, producer_epoch=0, base_sequence=sequence, is_transactional=True
    )
    log.append_as_leader(records, 0, AppendOrigin.COORDINATOR)


def end_transaction(log: Log, kind: ControlRecordType, *, producer_id: int, epoch: int = 0) -> None:
    marker = EndTransactionMarker(kind, 0).to_batch(producer_id, epoch, log._time.milliseconds())
    log.append_as_leader(bytearray(marker), 0, AppendOrigin.COORDINATOR)


@pytest.mark.parametrize("kind", [ControlRecordType.COMMIT, ControlRecordType.ABORT])
def test_a_transaction_marker_outlives_the_batches_of_its_transaction(
    tmp_path: Path, time: MockTime, kind: ControlRecordType
) -> None:
    log = compacted(tmp_path, time)
    transactional(log, 0, (b"a", b"1"), producer_id=7)
    end_transaction(log, kind, producer_id=7)
    append(log, (b"b", b"1"))
    log.roll()
    clean(log, time)
    assert [batch.base_offset for batch in all_batches(log)] == [0, 1, 2]
    assert batch_with(log, 1).delete_horizon_ms is None
    # Another producer writes the key, and the first one expires: now no batch is left.
    append(log, (b"a", b"2"))
    time.sleep(2 * DAY_MS)
    log.derived_state.remove_expired_producers()
    log.roll()
    clean(log, time, 3)
    assert [batch.base_offset for batch in all_batches(log)] == [1, 2, 3]
    # A cleaning sets the marker's delete horizon once the batches are gone.
    dirty(log, b"c")
    clean(log, time, 4)
    assert batch_with(log, 1).delete_horizon_ms == time.milliseconds() + DAY_MS
    time.sleep(DAY_MS)
    dirty(log, b"d")
    clean(log, time, 5)
    assert [batch.base_offset for batch in all_batches(log)] == [2, 3, 4, 5]


def test_the_marker_with_the_newest_epoch_of_a_producer_is_kept(tmp_path: Path, time: MockTime) -> None:
    log = compacted(tmp_path, time)
    end_transaction(log, ControlRecordType.ABORT, producer_id=7, epoch=5)
    append(log, (b"a", b"1"))
    log.roll()
    clean(log, time)
    time.sleep(DAY_MS // 2)
    end_transaction(log, ControlRecordType.ABORT, producer_id=8, epoch=1)
    time.sleep(DAY_MS // 2)
    log.roll()
    clean(log, time, 2)
    assert [(batch.base_offset, batch.record_count) for batch in all_batches(log)] == [(0, 0), (1, 1), (2, 1)]
    assert batch_with(log, 0).producer_epoch == 5
