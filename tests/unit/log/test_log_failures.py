"""Disks that are full, read-only or broken."""

from __future__ import annotations

import errno
import io
import itertools
import mmap
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.log.dirs.log_dir_failure_channel import LogDirFailureChannel
from kafka_lite.log.log import Log
from kafka_lite.log.offset_index import OffsetIndex
from tests.support.full_disk import mounted_tmpfs
from tests.support.logs import open_log, read_records, record_set
from tests.support.patience import patient_s


class Disk:
    """Stands in for ``os.pwrite``: writes ``bytes_left`` bytes, then fails."""

    def __init__(self) -> None:
        self.bytes_left: int | None = None
        self.errno = errno.ENOSPC
        self._pwrite = os.pwrite

    def pwrite(self, fd: int, data: memoryview, position: int) -> int:
        if self.bytes_left is None:
            return self._pwrite(fd, data, position)
        if self.bytes_left == 0:
            raise OSError(self.errno, os.strerror(self.errno))
        written = self._pwrite(fd, memoryview(data)[: self.bytes_left], position)
        self.bytes_left -= written
        return written


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk()
    monkeypatch.setattr(os, "pwrite", disk.pwrite)
    return disk


def append(log: Log, *values: bytes) -> None:
    log.append_as_leader(record_set(*values), 0)


def assert_storage_error(call: Callable[[], object]) -> str:
    with pytest.raises(ApiError) as info:
        call()
    assert info.value.error is Errors.KAFKA_STORAGE_ERROR
    assert info.value.retriable
    return str(info.value)


SET_SIZE = len(record_set(b"x" * 20))


@pytest.mark.parametrize("room", range(0, SET_SIZE, 7))
def test_full_disk_leaves_no_partial_append(tmp_path: Path, disk: Disk, room: int) -> None:
    failures = LogDirFailureChannel()
    log = open_log(tmp_path, failures=failures)
    append(log, b"a" * 20)
    disk.bytes_left = room
    message = assert_storage_error(lambda: append(log, b"b" * 20))
    assert "No space left on device" in message
    assert (log.log_end_offset, log.size) == (1, SET_SIZE)
    assert log.active_segment.log.file.stat().st_size == SET_SIZE
    assert not failures.has_offline_log_dir(tmp_path)  # reads still work, and so do appends once there is space again
    disk.bytes_left = None
    append(log, b"c" * 20)
    assert [record.value for record in read_records(log)] == [b"a" * 20, b"c" * 20]
    assert [record.value for record in read_records(open_log(tmp_path))] == [b"a" * 20, b"c" * 20]


def test_short_writes_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = open_log(tmp_path)
    pwrite = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda fd, data, position: pwrite(fd, memoryview(data)[:3], position))
    append(log, b"a" * 20)
    assert [record.value for record in read_records(log)] == [b"a" * 20]


def test_full_disk_when_an_index_entry_is_due(tmp_path: Path, disk: Disk) -> None:
    """Space for the index entry is reserved before the messages are written, so the append fails as a whole."""
    log = open_log(tmp_path, index_interval_bytes=0, segment_index_bytes=100_000)
    append(log, b"a" * 20)
    disk.bytes_left = 0
    assert_storage_error(lambda: append(log, b"b" * 20))
    assert (log.log_end_offset, log.size, log.active_segment.offset_index.entries) == (1, SET_SIZE, 0)
    disk.bytes_left = None
    append(log, b"c" * 20)
    assert [record.value for record in read_records(log, 1)] == [b"c" * 20]


def test_full_disk_during_a_roll(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = open_log(tmp_path, segment_bytes=SET_SIZE, index_interval_bytes=0)
    append(log, b"a" * 20)

    def no_room(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "truncate", no_room)  # which gives the new index its room
        assert_storage_error(lambda: append(log, b"b" * 20))
    assert (len(log.segments), log.log_end_offset) == (1, 1)
    append(log, b"c" * 20)
    assert [record.value for record in read_records(log)] == [b"a" * 20, b"c" * 20]


def test_broken_disk_takes_the_directory_offline(tmp_path: Path, disk: Disk) -> None:
    failures = LogDirFailureChannel()
    log = open_log(tmp_path, failures=failures)
    append(log, b"a")
    disk.errno, disk.bytes_left = errno.EIO, 0
    assert_storage_error(lambda: append(log, b"b"))
    assert failures.take_next_offline_log_dir(0) == tmp_path
    assert failures.take_next_offline_log_dir(0) is None
    disk.bytes_left = None
    assert "offline" in assert_storage_error(lambda: append(log, b"c"))
    assert "offline" in assert_storage_error(lambda: log.read(0, 10))


def test_file_size_limit_of_the_process(tmp_path: Path) -> None:
    """The kernel itself refuses the write: EFBIG in the middle of a batch."""
    script = f"""
import resource
from pathlib import Path
from kafka_lite.common.errors import ApiError, Errors
from tests.support.logs import open_log, read_records, record_set

log = open_log(Path({str(tmp_path)!r}), segment_index_bytes=1024)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))
count = 0
try:
    while True:
        log.append_as_leader(record_set(b"x" * 100), 0)
        count += 1
except ApiError as error:
    assert error.error is Errors.KAFKA_STORAGE_ERROR, error
assert log.log_end_offset == count == len(read_records(log))
assert log.active_segment.log.file.stat().st_size == log.size <= 2000
print(count)
"""
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=patient_s(60), check=False
    )
    assert result.returncode == 0, result.stderr
    count = int(result.stdout)
    assert count == 2000 // len(record_set(b"x" * 100))
    assert len(read_records(open_log(tmp_path, segment_index_bytes=1024))) == count


@pytest.fixture
def full_filesystem(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KB; the test is skipped where it cannot be mounted."""
    with mounted_tmpfs(tmp_path / "small", "size=64k"):
        yield tmp_path / "small"


def test_appends_to_a_full_file_system_fail_and_succeed_after_truncation(full_filesystem: Path) -> None:
    log = open_log(full_filesystem, segment_index_bytes=20_000, index_interval_bytes=0)
    count = 0
    with pytest.raises(ApiError) as info:  # noqa: PT012
        while count < 5_000:
            append(log, b"x")
            count += 1
    assert info.value.error is Errors.KAFKA_STORAGE_ERROR
    assert count > 100
    assert log.log_end_offset == count == len(read_records(log))
    log.truncate_to(100)
    append(log, b"y")
    assert len(read_records(log)) == 101


def test_full_disk_under_a_mapped_index_fails_the_append(full_filesystem: Path) -> None:
    """The .log file's last block has room, the sparse index has no block: a write to its mapping would be a SIGBUS."""
    script = f"""
import errno
from pathlib import Path
from kafka_lite.common.errors import ApiError
from tests.support.logs import open_log, read_records, record_set

log = open_log(Path({str(full_filesystem)!r}), segment_index_bytes=20_000, index_interval_bytes=0)
log.append_as_leader(record_set(b"x"), 0)
try:
    with open({str(full_filesystem / "filler")!r}, "wb", buffering=0) as filler:
        while True:
            filler.write(bytes(512))
except OSError as error:
    assert error.errno == errno.ENOSPC
try:
    log.append_as_leader(record_set(b"y"), 0)
except ApiError as error:
    print(error.error.name, log.log_end_offset, len(read_records(log)))
"""
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=patient_s(60), check=False
    )
    assert (result.returncode, result.stdout) == (0, "KAFKA_STORAGE_ERROR 1 1\n"), result.stderr


def test_a_log_whose_snapshot_cannot_be_written_is_closed_and_trimmed(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, b"x")
    (log.dir / f"{1:020d}.snapshot").mkdir()
    assert_storage_error(log.close)
    assert (log.dir / f"{0:020d}.index").stat().st_size == 0


def test_reading_a_closed_log_is_an_error(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, b"x")
    log.close()
    assert_storage_error(lambda: log.read(0, 1))


def test_unusable_directory_raises(tmp_path: Path) -> None:
    """A plain file in place of the directory stands for any directory that this user may not use."""
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError, match="Not a directory"):
        open_log(tmp_path / "file")


@pytest.mark.parametrize("files_left", range(8))
def test_limit_of_open_files_fails_a_roll_but_not_the_directory(tmp_path: Path, files_left: int) -> None:
    """Wherever in the roll the limit is reached, the existing segment stays intact."""
    failures = LogDirFailureChannel()
    log = open_log(tmp_path, failures=failures)
    append(log, b"a")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    next_free = os.dup(0)
    os.close(next_free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (next_free + files_left, hard))
    refused = None
    try:
        log.roll()
    except ApiError as error:
        refused = error.error
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert refused in (None, Errors.KAFKA_STORAGE_ERROR)
    assert len(log.segments) == (1 if refused else 2)
    assert not failures.has_offline_log_dir(tmp_path)
    assert [record.value for record in read_records(log)] == [b"a"]
    append(log, b"b")
    log.roll()
    append(log, b"c")
    assert [record.value for record in read_records(log)] == [b"a", b"b", b"c"]


class FailingCall:
    """Makes the ``fails_at``-th file system call of a roll fail."""

    def __init__(self, number: int, fails_at: int, patch: pytest.MonkeyPatch) -> None:
        self.calls = 0
        self._errno, self._fails_at = number, fails_at
        for module, name in ((os, "pwrite"), (os, "truncate"), (os, "ftruncate"), (os, "open"), (mmap, "mmap")):
            patch.setattr(module, name, self._wrapped(getattr(module, name)))
        patch.setattr(io, "open", self._wrapped(io.open))
        patch.setattr("builtins.open", self._wrapped(open))

    def _wrapped(self, function: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **named: object) -> object:
            self.calls += 1
            if self.calls == self._fails_at:
                raise OSError(self._errno, os.strerror(self._errno))
            return function(*arguments, **named)

        return call


def is_appended(log: Log, value: bytes) -> bool:
    try:
        append(log, value)
    except ApiError as error:
        if error.error is not Errors.KAFKA_STORAGE_ERROR:
            raise
        return False
    return True


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.ENOMEM, errno.EMFILE])
def test_a_roll_that_fails_at_any_call_keeps_the_log_usable(
    tmp_path: Path, number: int, caplog: pytest.LogCaptureFixture
) -> None:
    """One request fails. The log either is unchanged or has rolled; the log and its directory stay usable."""
    for fails_at in itertools.count(1):
        failures = LogDirFailureChannel()
        directory = tmp_path / f"t-{fails_at}"
        log = open_log(directory, failures=failures, segment_bytes=3 * SET_SIZE, index_interval_bytes=0)
        expected = [bytes([ord("a") + n]) * 20 for n in range(3)]
        append(log, *expected[:1])
        append(log, *expected[1:2])
        append(log, *expected[2:])
        with pytest.MonkeyPatch.context() as patch:
            call = FailingCall(number, fails_at, patch)
            if is_appended(log, b"d" * 20):
                expected.append(b"d" * 20)
        assert not failures.has_offline_log_dir(directory)
        append(log, b"e" * 20)
        expected.append(b"e" * 20)
        assert [record.value for record in read_records(log)] == expected
        assert "already exists" not in caplog.text
        log.close()
        assert [record.value for record in read_records(open_log(directory))] == expected
        if call.calls < fails_at:
            break
    assert fails_at > 10, "the roll makes more than ten calls"


@pytest.mark.parametrize("new_size", [0, 8, 4096])
@pytest.mark.parametrize("name", ["truncate", "mmap"])
def test_an_index_that_cannot_be_resized_is_unchanged(
    tmp_path: Path, new_size: int, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = OffsetIndex(tmp_path / "i", 0, 1024)
    for offset in range(1, 5):
        index.append(offset, offset * 100)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    module = os if name == "truncate" else mmap
    with monkeypatch.context() as patch:
        patch.setattr(module, name, refuse)
        with pytest.raises(OSError, match="Cannot allocate memory"):
            index.resize(max(new_size, index.size_in_bytes) if new_size else 2048)
    assert index.lookup(3) == (3, 300)
    assert (index.max_entries, index.file.stat().st_size) == (128, 1024)
    index.append(5, 500)
    index.trim_to_valid_size()
    assert index.lookup(9) == (5, 500)
    assert index.file.stat().st_size == 40
