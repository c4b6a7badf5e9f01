"""What a crash may leave on disk, and how the log recovers from it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.log.log import Log
from kafka_lite.log.log_file_utils import log_file, offset_index_file, time_index_file
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.record.compression import CompressionType
from tests.support.logs import open_log, read_records, record_set

CONFIG = {"segment_bytes": 400, "index_interval_bytes": 50}
SET_SIZE = len(record_set(b"x" * 20))


def filled(tmp_path: Path, count: int = 12, **overrides: int) -> Log:
    log = open_log(tmp_path, **{**CONFIG, **overrides})
    for i in range(count):
        log.append_as_leader(record_set(b"%020d" % i, timestamp=1_000 + i), i // 5)
    return log


def reopened(tmp_path: Path, **kwargs: object) -> Log:
    return open_log(tmp_path, **CONFIG, **kwargs)  # type: ignore[arg-type]


def index_bytes(log: Log) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in log.dir.iterdir() if "index" in file.name}


def assert_holds(log: Log, count: int) -> None:
    assert log.log_end_offset == count
    assert [(r.offset, r.timestamp, r.value) for r in read_records(log)] == [
        (i, 1_000 + i, b"%020d" % i) for i in range(count)
    ]
    for timestamp in range(1_000, 1_000 + count):
        found = log.fetch_offset_by_timestamp(timestamp)
        assert found is not None
        assert found.offset == timestamp - 1_000
    next_offset = log.append_as_leader(record_set(b"next"), 9).first_offset
    assert next_offset == count
    assert read_records(log)[-1].value == b"next"


def test_nothing_is_lost_in_a_clean_shutdown(tmp_path: Path) -> None:
    filled(tmp_path).close()
    log = reopened(tmp_path, had_clean_shutdown=True)
    assert log.recovery_point == 12
    assert log.derived_state.leader_epoch_cache is not None
    assert log.derived_state.leader_epoch_cache.entries == [(0, 0), (1, 5), (2, 10)]
    assert_holds(log, 12)


def test_a_crash_without_damage_loses_nothing(tmp_path: Path) -> None:
    filled(tmp_path)
    log = reopened(tmp_path, recovery_point=3)
    assert log.recovery_point == 3
    assert_holds(log, 12)


def test_recovered_indexes_equal_those_written_by_appends(tmp_path: Path) -> None:
    log = filled(tmp_path)
    expected = index_bytes(log)
    assert len(expected) == 6
    for file in log.dir.glob("*index"):
        file.unlink()
    again = index_bytes(reopened(tmp_path))
    # Recovery adds the last entry of a closed segment to the active one's time index, too.
    active = time_index_file(log.dir, log.active_segment.base_offset).name
    used = len(expected[active].rstrip(b"\0"))
    assert again.pop(active)[:used] == expected.pop(active)[:used]
    assert again == expected


def test_recovered_index_of_compressed_messages_has_their_first_offsets(tmp_path: Path) -> None:
    """As in Kafka 0.10: recovery must decompress the messages to know these offsets."""
    config = {"message_format_version": "0.10.2", "index_interval_bytes": 50}
    log = open_log(tmp_path, **config)  # type: ignore[arg-type]
    for i in range(8):
        values = [b"%020d" % (3 * i + j) for j in range(3)]
        log.append_as_leader(record_set(*values, magic=1, compression=CompressionType.GZIP), 0)
    index = log.active_segment.offset_index
    expected = [index.entry(n) for n in range(index.entries)]
    assert [entry.offset for entry in expected] == [3, 6, 9, 12, 15, 18, 21]
    recovered = open_log(tmp_path, **config).active_segment.offset_index  # type: ignore[arg-type]
    assert [recovered.entry(n) for n in range(recovered.entries)] == expected


def test_every_truncation_of_the_last_two_batches_is_recovered(tmp_path: Path) -> None:
    original = filled(tmp_path, 5, segment_bytes=1_000)
    size = original.active_segment.size
    assert size == original.size
    for cut in range(size - 2 * SET_SIZE, size):
        directory = tmp_path / f"cut{cut}"
        shutil.copytree(original.dir, directory / "topic-0")
        with open(log_file(directory / "topic-0", 0), "r+b") as file:
            file.truncate(cut)
        assert_holds(reopened(directory), cut // SET_SIZE)


def test_damage_to_any_byte_of_the_last_batch_is_recovered(tmp_path: Path) -> None:
    """All batches before the damaged one are kept. The CRC does not cover offset and epoch."""
    original = filled(tmp_path, 5, segment_bytes=1_000)
    size = original.active_segment.size
    not_covered = {*range(8), *range(12, 16)}
    for position in range(SET_SIZE):
        directory = tmp_path / f"damage{position}"
        shutil.copytree(original.dir, directory / "topic-0")
        with open(log_file(directory / "topic-0", 0), "r+b") as file:
            file.seek(size - SET_SIZE + position)
            byte = file.read(1)[0]
            file.seek(-1, 1)
            file.write(bytes([byte ^ 0x55]))
        log = reopened(directory)
        if position in not_covered:
            assert [record.value for record in read_records(log)][:4] == [b"%020d" % i for i in range(4)]
        else:
            assert_holds(log, 4)


def test_the_log_ends_at_a_damaged_batch_of_an_old_segment(tmp_path: Path) -> None:
    log = filled(tmp_path)
    assert [segment.base_offset for segment in log.segments] == [0, 4, 8]
    with open(log_file(log.dir, 4), "r+b") as file:
        file.seek(SET_SIZE + 70)
        file.write(b"\xff\xff")
    again = reopened(tmp_path)
    assert [segment.base_offset for segment in again.segments] == [0, 4]
    assert again.latest_epoch == 0  # epoch 1 began at the damaged offset
    assert_holds(again, 5)


def test_segments_below_the_recovery_point_are_not_read(tmp_path: Path) -> None:
    log = filled(tmp_path)
    with open(log_file(log.dir, 0), "r+b") as file:
        file.seek(70)
        file.write(b"\xff\xff")
    assert reopened(tmp_path, recovery_point=8).log_end_offset == 12


@pytest.mark.parametrize(("recovery_point", "expected"), [(0, [0, 4, 8]), (3, [0, 4, 8]), (4, [4, 8]), (9, [8])])
def test_each_segment_is_recovered_only_once_after_a_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recovery_point: int, expected: list[int]
) -> None:
    """The preallocated index of the active segment looks corrupt, but this must not recover the segment again."""
    filled(tmp_path)
    read: list[int] = []
    recover = LogSegment.recover

    def noted(segment: LogSegment, *args: Any) -> int:
        read.append(segment.base_offset)
        return recover(segment, *args)

    monkeypatch.setattr(LogSegment, "recover", noted)
    log = reopened(tmp_path, recovery_point=recovery_point)
    assert read == expected
    assert_holds(log, 12)


def test_zeros_at_the_end_of_a_preallocated_file_are_truncated(tmp_path: Path) -> None:
    log = filled(tmp_path)
    with open(log.active_segment.log.file, "r+b") as file:
        file.truncate(100_000)
    assert_holds(reopened(tmp_path), 12)


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("damage", ["missing", "garbage", "odd", "zeros"])
@pytest.mark.parametrize("file_of", [offset_index_file, time_index_file])
def test_a_corrupt_or_missing_index_is_rebuilt(tmp_path: Path, file_of: object, damage: str, clean: bool) -> None:
    log = filled(tmp_path)
    log.close()
    for base_offset in (0, 8):
        file = file_of(log.dir, base_offset)  # type: ignore[operator]
        if damage == "missing":
            file.unlink()
        elif damage == "garbage":
            file.write_bytes(b"\xff" * 48)
        elif damage == "odd":
            file.write_bytes(file.read_bytes() + b"x")
        else:
            file.write_bytes(bytes(2400))
    again = reopened(tmp_path, had_clean_shutdown=clean, recovery_point=12)
    assert [record.offset for record in read_records(again)] == list(range(12))
    if not (damage == "missing" and file_of is time_index_file):
        assert_holds(again, 12)


def test_a_corrupt_tail_is_truncated_even_after_a_clean_shutdown(tmp_path: Path) -> None:
    log = filled(tmp_path)
    log.close()
    with open(log.active_segment.log.file, "ab") as file:
        file.write(b"\xff" * 100)
    assert_holds(reopened(tmp_path, had_clean_shutdown=True), 12)


def test_temporary_files_are_deleted_and_unknown_files_kept(tmp_path: Path) -> None:
    log = filled(tmp_path)
    log.close()
    for name in (
        "00000000000000000000.log.deleted",
        "00000000000000000000.index.cleaned",
        "00000000000000000099.index",
    ):
        (log.dir / name).write_bytes(b"x")
    (log.dir / "00000000000000000000.newindex").write_bytes(b"x")
    (log.dir / "README.log").write_bytes(b"x")
    again = reopened(tmp_path, had_clean_shutdown=True)
    names = {file.name for file in log.dir.iterdir()}
    assert not any(name.endswith((".deleted", ".cleaned")) or "99" in name for name in names)
    assert {"00000000000000000000.newindex", "README.log"} <= names
    assert_holds(again, 12)


def swapped(tmp_path: Path, kept: list[int]) -> Log:
    """A log whose first two segments have been compacted to ``kept``; it crashed before they were replaced."""
    log = filled(tmp_path)
    log.close()
    compacted = open_log(tmp_path, name="compacted-0", index_interval_bytes=50)
    for offset in kept:
        record = record_set(b"%020d" % offset, base_offset=offset, timestamp=1_000 + offset)
        compacted.append_as_follower(record)
    compacted.close()
    for suffix in ("log", "index", "timeindex"):
        shutil.copy(compacted.dir / f"00000000000000000000.{suffix}", log.dir / f"00000000000000000000.{suffix}.swap")
    return log


@pytest.mark.parametrize("already_gone", [False, True])
def test_an_interrupted_swap_is_completed(tmp_path: Path, already_gone: bool) -> None:
    log = swapped(tmp_path, [1, 6, 7])
    if already_gone:
        for suffix in ("log", "index", "timeindex"):
            file = log.dir / f"00000000000000000000.{suffix}"
            file.rename(file.with_name(file.name + ".deleted"))
    again = reopened(tmp_path)
    assert [segment.base_offset for segment in again.segments] == [0, 8]
    assert [record.offset for record in read_records(again)] == [1, 6, 7, 8, 9, 10, 11]
    assert not list(log.dir.glob("*.swap"))


def test_an_unfinished_split_is_discarded(tmp_path: Path) -> None:
    """A .swap file at or above the base offset of a .cleaned one belongs to an unfinished split."""
    log = swapped(tmp_path, [1, 6, 7])
    (log.dir / "00000000000000000000.log.cleaned").write_bytes(b"")
    assert_holds(reopened(tmp_path), 12)


def test_a_log_that_ends_below_its_start_offset_is_emptied(tmp_path: Path) -> None:
    filled(tmp_path)
    log = reopened(tmp_path, log_start_offset=50)
    assert (log.log_start_offset, log.log_end_offset, len(log.segments)) == (50, 50, 1)
    assert log.append_as_leader(record_set(b"x"), 3).first_offset == 50


def test_a_log_that_ends_at_its_start_offset_keeps_its_segments(tmp_path: Path) -> None:
    filled(tmp_path)
    log = reopened(tmp_path, log_start_offset=12)
    assert (log.log_start_offset, log.log_end_offset, log.segments.first.base_offset) == (12, 12, 0)


def test_log_start_offset_survives_a_restart(tmp_path: Path) -> None:
    filled(tmp_path)
    log = reopened(tmp_path, log_start_offset=6)
    assert (log.log_start_offset, log.segments.first.base_offset) == (6, 0)
    assert [record.offset for record in read_records(log)] == list(range(6, 12))
    assert log.derived_state.leader_epoch_cache is not None
    assert log.derived_state.leader_epoch_cache.earliest_entry == (1, 6)


def test_epochs_are_recovered_from_the_batches(tmp_path: Path) -> None:
    log = filled(tmp_path)
    (log.dir / "leader-epoch-checkpoint").unlink()
    again = reopened(tmp_path)
    assert again.derived_state.leader_epoch_cache is not None
    assert again.derived_state.leader_epoch_cache.entries == [(0, 0), (1, 5), (2, 10)]


@pytest.mark.parametrize("content", ["", "x", "0\n5\n1 0\n", "7\n0\n", "0\n1\n1\n"])
def test_a_malformed_epoch_checkpoint_is_rebuilt(tmp_path: Path, content: str) -> None:
    log = filled(tmp_path)
    (log.dir / "leader-epoch-checkpoint").write_text(content)
    assert_holds(reopened(tmp_path), 12)


def test_the_log_ends_where_offsets_go_backwards(tmp_path: Path) -> None:
    log = filled(tmp_path, 2)
    with open(log.active_segment.log.file, "ab") as file:
        for offset in (5, 1, 6):
            file.write(record_set(b"x", base_offset=offset))
    again = reopened(tmp_path)
    assert [record.offset for record in read_records(again)] == [0, 1, 5]
    assert again.log_end_offset == 6
