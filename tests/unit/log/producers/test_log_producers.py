"""A log and its producers: appends, reopening after a stop and after a crash, truncation, retention, deletion."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.log.loading.producer_state_loader import producer_batches
from kafka_lite.log.log import Log
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from tests.support.logs import open_log, read_records, record_set

NOW_MS = MockTime().milliseconds()


def produced(
    sequence: int, *values: bytes, epoch: int = 0, producer_id: int = 7, codec: CompressionType = CompressionType.NONE
) -> bytearray:
    builder = MemoryRecordsBuilder(
        compression=codec, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence
    )
    for value in values or (b"v",):
        builder.append(NOW_MS, None, value)
    return bytearray(builder.build())


def send(log: Log, sequence: int, *values: bytes, epoch: int = 0, producer_id: int = 7) -> int:
    """Append a batch of one record; returns its offset."""
    return log.append_as_leader(produced(sequence, *values, epoch=epoch, producer_id=producer_id), 0).first_offset


def refused(log: Log, sequence: int, **more: int) -> Errors:
    with pytest.raises(ApiError) as info:
        send(log, sequence, **more)
    return info.value.error


def snapshots(log: Log) -> list[int]:
    return sorted(int(file.stem) for file in log.dir.glob("*.snapshot"))


def reopened(log: Log, tmp_path: Path, *, clean: bool) -> Log:
    start = log.log_start_offset
    if clean:
        log.close()
    return open_log(tmp_path, had_clean_shutdown=clean, recovery_point=log.recovery_point, log_start_offset=start)


def test_a_duplicate_batch_is_appended_once(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    assert send(log, 0, b"a", b"b") == 0
    assert send(log, 2, b"c") == 2
    size = log.size
    info = log.append_as_leader(produced(0, b"a", b"b"), 5)
    assert (info.first_offset, info.last_offset, info.log_append_time, info.log_start_offset) == (0, 1, NOW_MS, 0)
    assert (log.log_end_offset, log.size, log.latest_epoch) == (3, size, 0)
    assert [record.value for record in read_records(log)] == [b"a", b"b", b"c"]
    log.maybe_increment_log_start_offset(2)
    assert log.append_as_leader(produced(0, b"a", b"b"), 5).log_start_offset == 2


def test_a_rejected_batch_leaves_the_log_unchanged(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    send(log, 0)
    assert refused(log, 2) is Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
    send(log, 0, epoch=1)
    assert refused(log, 1, epoch=0) is Errors.INVALID_PRODUCER_EPOCH
    assert (log.log_end_offset, len(log.segments)) == (2, 1)


@pytest.mark.parametrize("source", list(CompressionType))
@pytest.mark.parametrize("target", ["producer", "uncompressed", "gzip"])
def test_sequences_are_kept_if_the_broker_recompresses(tmp_path: Path, source: CompressionType, target: str) -> None:
    log = open_log(tmp_path, compression_type=target)
    for _ in range(2):
        assert log.append_as_leader(produced(0, b"a" * 50, b"b" * 50, codec=source), 0).first_offset == 0
    assert log.append_as_leader(produced(2, b"c", codec=source), 0).first_offset == 2


def test_old_formats_reject_producer_ids(tmp_path: Path) -> None:
    log = open_log(tmp_path, message_format_version="0.10.2")
    assert refused(log, 0) is Errors.UNSUPPORTED_FOR_MESSAGE_FORMAT


@pytest.mark.parametrize("clean", [True, False])
def test_producer_state_survives_a_restart(tmp_path: Path, clean: bool) -> None:
    log = open_log(tmp_path)
    for sequence in range(6):
        send(log, sequence)
        log.append_as_leader(record_set(b"of nobody"), 0)
        if sequence == 2:
            log.roll()
    again = reopened(log, tmp_path, clean=clean)
    assert snapshots(again) == [6, 12]
    assert again.producer_state.map_end_offset == 12
    assert send(again, 5) == 10
    assert send(again, 4) == 8  # not only the last one is known
    assert send(again, 6) == 12


def test_lost_snapshots_are_rebuilt_for_the_last_two_segments_only(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    for sequence in range(5):
        send(log, sequence)
        log.append_as_leader(record_set(b"of nobody"), 0)
        log.roll()
    send(log, 5)
    log.close()
    for file in log.dir.glob("*.snapshot"):
        file.unlink()
    again = reopened(log, tmp_path, clean=False)
    assert snapshots(again) == [8, 10, 11]
    assert set(again.producer_state.active_producers) == {7}


def test_only_batches_of_producers_between_the_two_offsets_are_loaded(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    for sequence in range(3):
        send(log, sequence)
        log.append_as_leader(record_set(b"of nobody"), 0)
    assert [batch.base_offset for batch in producer_batches(log.active_segment, 0, 4)] == [0, 2]
    assert [batch.base_offset for batch in producer_batches(log.active_segment, 1, 5)] == [2, 4]
    assert list(producer_batches(log.active_segment, 9, 9)) == []
    old = open_log(tmp_path, name="old-0", message_format_version="0.10.2")
    old.append_as_leader(record_set(b"a", magic=1), 0)
    assert list(producer_batches(old.active_segment, 0, 1)) == []


def test_a_clean_start_does_not_read_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = open_log(tmp_path)
    send(log, 0)
    log.close()
    monkeypatch.setattr("kafka_lite.log.loading.producer_state_loader._load_producers", None)
    assert send(open_log(tmp_path, had_clean_shutdown=True), 0) == 0


def test_a_log_without_snapshots_is_not_read_after_a_clean_shutdown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = open_log(tmp_path)
    for _ in range(3):
        log.append_as_leader(record_set(b"a"), 0)
        log.roll()
    log.close()
    for file in log.dir.glob("*.snapshot"):
        file.unlink()
    monkeypatch.setattr("kafka_lite.log.loading.producer_state_loader._load_producers", None)
    assert snapshots(open_log(tmp_path, had_clean_shutdown=True)) == [2, 3]


@pytest.mark.parametrize("clean", [True, False])
def test_a_corrupt_snapshot_is_replaced(tmp_path: Path, clean: bool) -> None:
    log = open_log(tmp_path)
    send(log, 0)
    log.roll()
    send(log, 1)
    log.close()
    for file in log.dir.glob("*.snapshot"):
        file.write_bytes(b"\0\1torn")
    again = open_log(tmp_path, had_clean_shutdown=clean)
    assert send(again, 1) == 1
    assert send(again, 0) == 0
    assert all(file.read_bytes() != b"\0\1torn" for file in again.dir.glob("*.snapshot"))


def test_recovery_drops_the_state_of_truncated_batches(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    send(log, 0)
    send(log, 1)
    file = log.active_segment.log.file
    with file.open("r+b") as data:
        data.truncate(log.size - 1)
    again = open_log(tmp_path)
    assert again.log_end_offset == 1
    assert send(again, 1) == 1


def test_snapshots_above_the_recovery_point_are_ignored(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    send(log, 0)
    log.roll()
    # As if the snapshot had reached the disk, but the last batches of the segment before it had not.
    other = log.dir / f"{1:020d}.snapshot"
    foreign = open_log(tmp_path, name="other-0")
    send(foreign, 0, producer_id=99)
    foreign.close()
    other.write_bytes((foreign.dir / f"{1:020d}.snapshot").read_bytes())
    again = open_log(tmp_path)
    assert set(again.producer_state.active_producers) == {7}


def test_truncation_restores_the_earlier_producer_state(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    for sequence in range(6):
        send(log, sequence)
        if sequence in (1, 3):
            log.roll()
    assert snapshots(log) == [2, 4]
    log.truncate_to(3)
    assert set(snapshots(log)) == {2, 3}
    assert refused(log, 4) is Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert send(log, 2) == 2
    assert send(log, 3) == 3
    log.truncate_fully_and_start_at(100)
    assert snapshots(log) == []
    assert send(log, 77) == 100


def test_snapshots_are_deleted_with_their_segments_but_producer_state_is_kept(tmp_path: Path) -> None:
    time = MockTime()
    log = open_log(tmp_path, time=time, retention_bytes=0, file_delete_delay_ms=100)
    send(log, 0)
    log.roll()
    send(log, 1)
    log.roll()
    assert snapshots(log) == [1, 2]
    assert log.delete_old_segments() == 2
    assert snapshots(log) == [2]
    assert (log.dir / f"{1:020d}.snapshot.deleted").exists()
    time.sleep(100)
    assert not list(log.dir.glob("*.deleted"))
    assert refused(log, 3) is Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert send(log, 2) == 2


def test_producer_state_outlives_deleted_records(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    send(log, 0)
    send(log, 1)
    log.maybe_increment_log_start_offset(2)
    assert send(log, 1) == 1
    again = reopened(log, tmp_path, clean=True)
    assert send(again, 2) == 2


def test_idle_producers_expire(tmp_path: Path) -> None:
    time = MockTime()
    log = open_log(tmp_path, time=time)
    send(log, 0)
    time.sleep(86_400_000 - 1)
    log.derived_state.remove_expired_producers()
    assert refused(log, 5) is Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
    time.sleep(1)
    log.derived_state.remove_expired_producers()
    assert send(log, 5) == 1


def test_followers_keep_producer_state(tmp_path: Path) -> None:
    leader, follower = open_log(tmp_path), open_log(tmp_path, name="follower-0")
    for sequence in range(3):
        send(leader, sequence)
    data = leader.read(0, 10_000).records
    follower.append_as_follower(data.to_bytes())  # type: ignore[union-attr]
    assert send(follower, 1) == 1
    assert send(follower, 3) == 3


def test_a_renamed_directory_keeps_its_snapshots(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    send(log, 0)
    log.rename_dir(log.dir.with_name("topic-0.0123-delete"))
    log.close()
    assert snapshots(log) == [1]
