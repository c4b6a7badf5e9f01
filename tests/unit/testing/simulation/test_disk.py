"""What a power failure leaves of files, and which calls a failing disk rejects."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kafka_lite.testing.simulation.disk import PAGE_BYTES, Disk
from kafka_lite.testing.simulation.endpoint import Listener
from kafka_lite.testing.simulation.system.files import Files
from kafka_lite.testing.simulation.system.kernel import Kernel

SEEDS = range(40)
MEMORY = Path("/dev/shm")


@pytest.fixture
def memory_path() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)


class Computer:
    """A disk, and a process's functions that write to it."""

    def __init__(self, folder: Path) -> None:
        self.kernel = Kernel()
        self.kernel.disk = self.disk = Disk(folder / "machine")
        self.files = Files(self.kernel)
        self.folder = self.disk.folder

    def write(self, name: str, data: bytes, *, flush: bool = False) -> None:
        with self.files.open_file(self.folder / name, "ab", buffering=0) as file:
            file.write(data)
            if flush:
                self.files.fsync(file.fileno())

    def content(self, name: str) -> bytes | None:
        file = self.folder / name
        return file.read_bytes() if file.exists() else None


def outcomes(tmp_path: Path, work: Callable[[Computer], Any], look: Callable[[Computer], Any]) -> set[Any]:
    """The contents after a power failure, over many draws."""
    seen = set()
    for seed in SEEDS:
        computer = Computer(tmp_path / str(seed))
        work(computer)
        computer.disk.crash(Random(seed))
        seen.add(look(computer))
    return seen


def test_flushed_data_survives(tmp_path: Path) -> None:
    found = outcomes(
        tmp_path,
        lambda computer: computer.write("log", b"durable", flush=True),
        lambda computer: computer.content("log"),
    )
    assert found == {b"durable"}


def test_data_that_was_not_flushed_survives_as_a_prefix(tmp_path: Path) -> None:
    def work(computer: Computer) -> None:
        computer.write("log", b"a", flush=True)
        for letter in b"bcd":
            computer.write("log", bytes([letter]))

    found = outcomes(tmp_path, work, lambda computer: computer.content("log"))
    assert found == {b"a", b"ab", b"abc", b"abcd"}


def test_a_file_that_was_not_flushed_may_be_missing(tmp_path: Path) -> None:
    found = outcomes(
        tmp_path, lambda computer: computer.write("new", b"x"), lambda computer: computer.content("new") is None
    )
    assert found == {True, False}


def test_a_large_write_may_be_torn_at_a_page(tmp_path: Path) -> None:
    def work(computer: Computer) -> None:
        computer.write("log", b"", flush=True)
        computer.write("log", bytes(3 * PAGE_BYTES))

    sizes = outcomes(tmp_path, work, lambda computer: len(computer.content("log") or b""))
    assert sizes == {0, PAGE_BYTES, 2 * PAGE_BYTES, 3 * PAGE_BYTES}


def test_an_overwritten_part_is_either_old_or_new(tmp_path: Path) -> None:
    def work(computer: Computer) -> None:
        computer.write("file", b"0123456789", flush=True)
        fd = computer.files.open(computer.folder / "file", os.O_RDWR)
        computer.files.pwrite(fd, b"ABC", 4)
        computer.files.close(fd)

    assert outcomes(tmp_path, work, lambda computer: computer.content("file")) == {b"0123456789", b"0123ABC789"}


def test_a_truncation_may_be_undone(tmp_path: Path) -> None:
    def work(computer: Computer) -> None:
        computer.write("file", b"0123456789", flush=True)
        computer.files.truncate(computer.folder / "file", 3)

    assert outcomes(tmp_path, work, lambda computer: computer.content("file")) == {b"0123456789", b"012"}


def test_a_rename_over_a_file_leaves_one_of_both(tmp_path: Path) -> None:
    def work(computer: Computer) -> None:
        computer.write("checkpoint", b"old", flush=True)
        computer.write("checkpoint.tmp", b"new", flush=True)
        computer.files.rename(computer.folder / "checkpoint.tmp", computer.folder / "checkpoint")

    assert outcomes(tmp_path, work, lambda computer: computer.content("checkpoint")) == {b"old", b"new"}


def test_a_rename_without_a_flush_before_may_leave_an_empty_file(tmp_path: Path) -> None:
    def work(computer: Computer) -> None:
        computer.write("checkpoint", b"old", flush=True)
        computer.write("checkpoint.tmp", b"new")
        computer.files.rename(computer.folder / "checkpoint.tmp", computer.folder / "checkpoint")

    assert outcomes(tmp_path, work, lambda computer: computer.content("checkpoint")) >= {b"old", b"new", b""}


def test_a_removed_file_may_come_back(tmp_path: Path) -> None:
    def work(computer: Computer) -> None:
        computer.write("segment", b"old", flush=True)
        computer.files.unlink(computer.folder / "segment")

    assert outcomes(tmp_path, work, lambda computer: computer.content("segment")) == {b"old", None}


def test_names_survive_in_order(tmp_path: Path) -> None:
    def work(computer: Computer) -> None:
        for name in ("first", "second"):
            computer.files.mkdir(computer.folder / name)

    found = outcomes(tmp_path, work, lambda computer: tuple(sorted(os.listdir(computer.folder))))
    assert found == {(), ("first",), ("first", "second")}


def test_pages_of_a_mapping_are_old_or_new(tmp_path: Path) -> None:
    def work(computer: Computer) -> None:
        computer.write("index", bytes(2 * PAGE_BYTES), flush=True)
        with computer.files.open_file(computer.folder / "index", "r+b") as file:
            mapping = computer.files.mmap_module().mmap(file.fileno(), 2 * PAGE_BYTES)
        mapping[0] = mapping[PAGE_BYTES] = 1

    def look(computer: Computer) -> tuple[int, int]:
        content = computer.content("index") or b""
        return content[0], content[PAGE_BYTES]

    assert outcomes(tmp_path, work, look) == {(0, 0), (0, 1), (1, 0), (1, 1)}


def test_a_flushed_mapping_survives(tmp_path: Path) -> None:
    def work(computer: Computer) -> None:
        computer.write("index", bytes(PAGE_BYTES), flush=True)
        with computer.files.open_file(computer.folder / "index", "r+b") as file:
            mapping = computer.files.mmap_module().mmap(file.fileno(), PAGE_BYTES)
        mapping[0] = 1
        mapping.flush()

    assert outcomes(tmp_path, work, lambda computer: (computer.content("index") or b"")[0]) == {1}


def test_a_full_disk_accepts_what_fits(tmp_path: Path) -> None:
    computer = Computer(tmp_path)
    computer.disk.faults.free_bytes = 5
    fd = computer.files.open(computer.folder / "log", os.O_RDWR | os.O_CREAT)
    assert computer.files.write(fd, b"12345678") == 5
    with pytest.raises(OSError, match="No space left") as failure:
        computer.files.write(fd, b"9")
    assert failure.value.errno == errno.ENOSPC
    computer.disk.faults.free_bytes = None
    assert computer.files.write(fd, b"9") == 1
    computer.files.close(fd)


def test_the_nth_write_fails_and_all_after_it(tmp_path: Path) -> None:
    computer = Computer(tmp_path)
    computer.disk.faults.failing_write = 2
    fd = computer.files.open(computer.folder / "log", os.O_RDWR | os.O_CREAT)
    assert computer.files.write(fd, b"fine") == 4
    for _ in range(2):
        with pytest.raises(OSError, match="Input/output error"):
            computer.files.write(fd, b"lost")
    computer.files.close(fd)


def test_a_disk_that_is_read_only_rejects_writes_and_can_be_read(tmp_path: Path) -> None:
    computer = Computer(tmp_path)
    computer.write("log", b"before")
    computer.disk.faults.is_read_only = True
    with pytest.raises(OSError, match="Read-only file system") as failure:
        computer.write("log", b"after")
    assert failure.value.errno == errno.EROFS
    with computer.files.open_file(computer.folder / "log", "rb") as file:
        assert file.read() == b"before"


def test_a_flush_of_a_slow_disk_takes_time(tmp_path: Path) -> None:
    computer = Computer(tmp_path)
    computer.disk.faults.flush_ns = (3 * 10**9, 4 * 10**9)
    scheduler = computer.kernel.scheduler

    def program() -> None:
        computer.write("log", b"durable", flush=True)
        scheduler.stop()

    scheduler.spawn(computer.kernel.owner, "main", program)
    scheduler.run()
    assert 3 * 10**9 <= scheduler.now_ns <= 4 * 10**9


def test_a_process_without_descriptors_opens_nothing_until_it_closes_something(tmp_path: Path) -> None:
    computer = Computer(tmp_path)
    computer.kernel.most_descriptors = 1
    held = computer.files.open(computer.folder / "log", os.O_RDWR | os.O_CREAT)
    for open_another in (
        lambda: computer.files.open(computer.folder / "index", os.O_RDWR | os.O_CREAT),
        lambda: computer.files.open_file(computer.folder / "log", "rb"),
        lambda: computer.kernel.open_socket(Listener("computer", ("10.0.0.1", 9092))),
    ):
        with pytest.raises(OSError, match="Too many open files") as failure:
            open_another()
        assert failure.value.errno == errno.EMFILE
    assert computer.content("index") is None
    computer.files.close(held)
    computer.write("index", b"entry")
    assert computer.content("index") == b"entry"


def test_a_lock_belongs_to_the_process_that_took_it(tmp_path: Path) -> None:
    first, second = Computer(tmp_path), Computer(tmp_path)
    second.kernel.locked_files = first.kernel.locked_files
    lock = first.folder / ".lock"
    held = first.files.open(lock, os.O_RDWR | os.O_CREAT)
    wanted = second.files.open(lock, os.O_RDWR)
    first.files.lock(held, 2)
    with pytest.raises(BlockingIOError):
        second.files.lock(wanted, 2)
    first.files.close(held)
    second.files.lock(wanted, 2)
    second.files.close(wanted)


def test_directories_are_listed_in_order(tmp_path: Path) -> None:
    computer = Computer(tmp_path)
    for name in ("c", "a", "b"):
        computer.write(name, b"")
    assert computer.files.listdir(computer.folder) == ["a", "b", "c"]
    with computer.files.scandir(computer.folder) as entries:
        assert [entry.name for entry in entries] == ["a", "b", "c"]


def test_holes_are_where_nothing_was_written(tmp_path: Path) -> None:
    computer = Computer(tmp_path)
    fd = computer.files.open(computer.folder / "index", os.O_RDWR | os.O_CREAT)
    computer.files.ftruncate(fd, 4 * PAGE_BYTES)
    assert computer.files.lseek(fd, 0, os.SEEK_HOLE) == 0
    computer.files.pwrite(fd, bytes(PAGE_BYTES + 1), 0)  # zeros take up space, too
    assert computer.files.lseek(fd, 0, os.SEEK_HOLE) == 2 * PAGE_BYTES
    assert computer.files.lseek(fd, 3 * PAGE_BYTES, os.SEEK_HOLE) == 3 * PAGE_BYTES
    computer.files.ftruncate(fd, 10)
    assert computer.files.lseek(fd, 0, os.SEEK_HOLE) == 10  # the end of a file counts as a hole
    computer.files.ftruncate(fd, 4 * PAGE_BYTES)
    assert computer.files.lseek(fd, 0, os.SEEK_HOLE) == PAGE_BYTES
    computer.files.close(fd)


@pytest.mark.skipif(not MEMORY.is_dir(), reason="other file systems may have blocks of other sizes")
def test_holes_are_those_of_files_in_memory(memory_path: Path) -> None:
    computer, random = Computer(memory_path), Random(7)
    fd = computer.files.open(computer.folder / "index", os.O_RDWR | os.O_CREAT)
    for _ in range(60):
        position = random.randrange(12 * PAGE_BYTES)
        if random.random() < 0.3:
            computer.files.ftruncate(fd, position)
        else:
            computer.files.pwrite(fd, bytes(random.randrange(1, PAGE_BYTES)), position)
        if size := os.fstat(fd).st_size:
            at = random.randrange(size)
            assert computer.files.lseek(fd, at, os.SEEK_HOLE) == os.lseek(fd, at, os.SEEK_HOLE)
    computer.files.close(fd)


def test_a_write_at_the_end_goes_there_although_the_disk_reads_through_the_same_descriptor(tmp_path: Path) -> None:
    computer = Computer(tmp_path)
    computer.write("log", b"one", flush=True)
    fd = computer.files.open(computer.folder / "log", os.O_WRONLY | os.O_APPEND)
    os.lseek(fd, 0, os.SEEK_SET)
    computer.files.write(fd, b"two")
    computer.files.close(fd)
    assert computer.content("log") == b"onetwo"
    computer.disk.crash(Random(3))
    assert (computer.content("log") or b"").startswith(b"one")
