"""A cleaning that crashes at any step leaves a complete log that can be cleaned again."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.log import segment_replacement
from kafka_lite.log.dirs.log_dir_failure_channel import LogDirFailureChannel
from kafka_lite.log.log import Log
from tests.support.compaction import Crash, all_records, append, clean, contents, crash_at, no_waiting_for_the_disk
from tests.support.logs import open_log, read_records

WANTED = [(6, b"0", b"6"), (7, b"1", b"7"), (8, b"active", b"v")]


@pytest.fixture(autouse=True)
def quick() -> Iterator[None]:
    with no_waiting_for_the_disk():
        yield


def open_compacted(parent: Path, **kwargs: object) -> Log:
    return open_log(parent, cleanup_policy="compact", segment_bytes=150, index_interval_bytes=50, **kwargs)  # type: ignore[arg-type]


def filled(parent: Path, **kwargs: object) -> Log:
    log = open_compacted(parent, **kwargs)
    for n in range(8):
        append(log, (b"%d" % (n % 2), b"%d" % n))
    log.roll()
    append(log, (b"active", b"v"))
    return log


def steps_of_a_cleaning(parent: Path) -> list[str]:
    log = filled(parent)
    with crash_at(None) as steps:
        clean(log, MockTime())
    assert contents(log) == WANTED
    return steps


def test_crash_at_every_step_of_a_cleaning(tmp_path: Path) -> None:
    steps = steps_of_a_cleaning(tmp_path / "whole")
    assert sum(step.startswith("replace") for step in steps) >= 2 * 9  # at least two groups
    for step in range(len(steps)):
        log = filled(tmp_path / "crashed")
        newest = contents(log)[6:]
        with pytest.raises(Crash), crash_at(step):
            clean(log, MockTime())
        again = open_compacted(tmp_path / "crashed")
        there = contents(again)
        assert newest == WANTED == [entry for entry in there if entry in WANTED], steps[step]
        assert (again.log_end_offset, again.active_segment.base_offset) == (9, 8)
        assert read_records(again) == all_records(again)
        assert not [path.name for path in again.dir.iterdir() if path.suffix in (".cleaned", ".swap", ".deleted")]
        clean(again, MockTime())
        assert contents(again) == WANTED
        shutil.rmtree(tmp_path / "crashed")


@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC])
def test_disk_error_at_every_step_of_a_cleaning(tmp_path: Path, error: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unlike after a crash, the broker keeps running: its memory must match the disk."""
    replace = os.replace
    renames = sum(step.startswith("replace") for step in steps_of_a_cleaning(tmp_path / "whole"))
    for step in range(renames):
        failures = LogDirFailureChannel()
        log = filled(tmp_path / "failing", failures=failures)
        left = step

        def failing(source: object, target: object) -> None:
            nonlocal left
            left -= 1
            if left == -1:
                raise OSError(error, os.strerror(error))
            replace(source, target)  # type: ignore[arg-type]

        with monkeypatch.context() as patched:
            patched.setattr(os, "replace", failing)
            with pytest.raises(ApiError) as raised:
                clean(log, MockTime())
        assert raised.value.error is Errors.KAFKA_STORAGE_ERROR
        assert [entry for entry in contents(log) if entry in WANTED] == WANTED
        # As long as no segment has been replaced, a full disk does not take the log offline.
        offline = failures.has_offline_log_dir(tmp_path / "failing")
        assert offline or (error == errno.ENOSPC and not list(log.dir.glob("*.swap")))
        if not offline:
            clean(log, MockTime())
            assert contents(log) == WANTED
        again = open_compacted(tmp_path / "failing")
        assert [entry for entry in contents(again) if entry in WANTED] == WANTED
        assert read_records(again) == all_records(again)
        shutil.rmtree(tmp_path / "failing")


def test_a_failed_fsync_after_the_renames_keeps_the_directory_online(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next flush of the log makes up for the missing fsync of the directory."""

    def refuse(_: Path) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    failures = LogDirFailureChannel()
    log = filled(tmp_path, failures=failures)
    with monkeypatch.context() as patched:
        patched.setattr(segment_replacement, "flush_file_or_directory", refuse)
        with pytest.raises(ApiError, match="Too many open files"):
            clean(log, MockTime())
    assert not failures.has_offline_log_dir(tmp_path)
    clean(log, MockTime())
    assert contents(log) == contents(open_compacted(tmp_path)) == WANTED
