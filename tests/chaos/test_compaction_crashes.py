"""Long histories of compacted logs, and crashes at every step of a cleaning and of the start after it."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import settings

from kafka_lite.common.time import MockTime
from kafka_lite.log.log import Log
from tests.support.compaction import Crash, all_records, append, clean, crash_at, no_waiting_for_the_disk, replayed
from tests.support.compaction_machine import CompactionMachine
from tests.support.logs import open_log


class LongCompactionMachine(CompactionMachine):
    """The same machine with longer histories."""

    def teardown(self) -> None:
        super().teardown()
        gc.collect()  # the files of crashed processes are closed once their logs are gone


class ManyLongCompactionsMachine(LongCompactionMachine):
    """The same with more histories."""


LongCompactionMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=60, deadline=None)
ManyLongCompactionsMachine.TestCase.settings = settings(max_examples=150, stateful_step_count=60, deadline=None)
TestLongCompactionModel = pytest.mark.soak(pytest.mark.timeout(900)(LongCompactionMachine.TestCase))
TestManyLongCompactionsModel = pytest.mark.nightly(
    pytest.mark.soak(pytest.mark.timeout(900)(ManyLongCompactionsMachine.TestCase))
)


@pytest.fixture(autouse=True)
def quick() -> Iterator[None]:
    with no_waiting_for_the_disk():
        yield


def open_compacted(parent: Path, time: MockTime) -> Log:
    return open_log(parent, time=time, cleanup_policy="compact", segment_bytes=200, index_interval_bytes=50)


def filled(parent: Path, time: MockTime) -> Log:
    """Groups of several segments each: of some, few records remain, of one, none."""
    log = open_compacted(parent, time)
    for n in range(9):
        append(log, (b"%d" % (n % 2 + 2 * (n // 4)), b"%d" % n))
    append(log, (b"3", None))
    log.roll()
    append(log, (b"active", b"v"))
    return log


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "stride",
    [pytest.param(2, marks=[pytest.mark.soak, pytest.mark.nightly]), pytest.param(3, marks=pytest.mark.soak), 47],
)
def test_two_crashes_at_any_two_steps(tmp_path: Path, stride: int) -> None:
    """The first crash at every second or third step of the cleaning, or fewer; the second at every step of the start.

    Steps that leave the same bytes on the disk, as those between two writes do, are judged once.
    """
    time = MockTime()
    started, judged = set[bytes](), set[bytes]()
    original = filled(tmp_path / "original", time)
    before = replayed(all_records(original))
    step, crashed = 0, True
    while crashed:
        directory = tmp_path / "crashed"
        shutil.copytree(tmp_path / "original", directory)
        log = open_compacted(directory, MockTime())
        crashed = False
        try:
            with crash_at(step):
                clean(log, time)
        except Crash:
            crashed = True
        if _is_new(directory, started):
            _crash_at_any_step_of_the_start(directory, before, tmp_path, judged)
        shutil.rmtree(directory)
        step += stride
    assert step > 30


def _crash_at_any_step_of_the_start(
    directory: Path, before: dict[bytes | None, bytes], scratch: Path, judged: set[bytes]
) -> None:
    step, crashed = 0, True
    while crashed:
        again = scratch / "again"
        shutil.copytree(directory, again)
        crashed = False
        try:
            with crash_at(step):
                open_compacted(again, MockTime())
        except Crash:
            crashed = True
        if _is_new(again, judged):
            _must_be_whole(again, before)
        shutil.rmtree(again)
        step += 1


def _is_new(directory: Path, seen: set[bytes]) -> bool:
    """Whether a folder has other files, or other bytes in them, than all before it."""
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    digest = sha256()
    for path in files:
        digest.update(f"{path.relative_to(directory)} {path.stat().st_size}\n".encode() + path.read_bytes())
    is_new = digest.digest() not in seen
    seen.add(digest.digest())
    return is_new


def _must_be_whole(directory: Path, before: dict[bytes | None, bytes]) -> None:
    log = open_compacted(directory, MockTime())
    assert replayed(all_records(log)) == before
    assert log.log_end_offset == 11
    assert not [path for path in log.dir.iterdir() if path.suffix in (".cleaned", ".swap", ".deleted")]
    clean(log, MockTime())
    assert replayed(all_records(log)) == before
