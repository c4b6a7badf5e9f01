"""Mappings on a host whose own are copies; and those of this host, which share their pages with the file."""

from __future__ import annotations

import mmap
import os
import struct
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kafka_lite.testing.simulation.disk import Disk
from kafka_lite.testing.simulation.system.kernel import Kernel
from kafka_lite.testing.simulation.system.mappings import WRITABLE, FileMapping, mapping_class

ENTRY = struct.Struct(">II")
SIZE = 3 * 4096


@pytest.fixture
def fd(tmp_path: Path) -> Any:
    number = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    os.ftruncate(number, SIZE)
    yield number
    os.close(number)


def put(mapping: FileMapping, position: int, first: int, second: int) -> None:
    """``ENTRY.pack_into(mapping, …)``, as Python does it from 3.12 on."""
    view = mapping.__buffer__(WRITABLE)
    ENTRY.pack_into(view, position, first, second)
    mapping.__release_buffer__(view)


def test_a_change_reaches_the_file_and_nothing_else_of_it(fd: int) -> None:
    mapping = FileMapping(fd, SIZE)
    os.pwrite(fd, b"before", 100)
    put(mapping, 4096, 7, 9)
    os.pwrite(fd, b"after!", 200)
    put(mapping, 8192, 1, 2)
    expected = bytearray(SIZE)
    expected[100:106], expected[200:206] = b"before", b"after!"
    expected[4096:4104], expected[8192:8200] = ENTRY.pack(7, 9), ENTRY.pack(1, 2)
    assert os.pread(fd, SIZE, 0) == expected


def test_what_is_written_to_the_file_is_seen(fd: int) -> None:
    mapping = FileMapping(fd, SIZE)
    os.pwrite(fd, ENTRY.pack(3, 4), 16)
    assert ENTRY.unpack_from(mapping.__buffer__(0), 16) == (3, 4)
    assert mapping[16:24] == ENTRY.pack(3, 4)
    mapping[20] = 0xFF
    assert os.pread(fd, 8, 16) == ENTRY.pack(3, 0xFF000004)


def test_a_part_that_was_cut_off_reads_as_zeros_and_is_not_written(fd: int) -> None:
    mapping = FileMapping(fd, SIZE)
    put(mapping, 0, 1, 1)
    os.ftruncate(fd, 4)
    assert mapping[4:8] == bytes(4)
    put(mapping, 0, 2, 2)
    assert os.fstat(fd).st_size == 4


def test_the_mapping_outlives_the_descriptor_until_it_is_closed(tmp_path: Path) -> None:
    number = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    os.write(number, b"12345678")
    with FileMapping(number, 0) as mapping:
        os.close(number)
        assert len(mapping) == 8
        assert mapping[:] == b"12345678"
    with pytest.raises(ValueError, match="closed"):
        mapping[0]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python classes are no buffers before 3.12")
def test_struct_takes_it_for_a_buffer(fd: int) -> None:
    mapping: Any = FileMapping(fd, SIZE)
    ENTRY.pack_into(mapping, 8, 5, 6)
    assert ENTRY.unpack_from(mapping, 8) == (5, 6)
    assert os.pread(fd, 8, 8) == ENTRY.pack(5, 6)


@pytest.mark.parametrize("has_pages", [True, False])
def test_both_kinds_tell_the_disk_of_a_flush(tmp_path: Path, has_pages: bool) -> None:
    """What was not flushed may be lost in a power failure; what was, is not."""
    kernel = Kernel()
    kernel.disk = disk = Disk(tmp_path / "machine")
    path = disk.folder / "index"
    path.write_bytes(bytes(mmap.PAGESIZE))
    number = os.open(path, os.O_RDWR)
    kernel.open_files[number] = str(path)
    mapping = mapping_class(kernel, has_pages)(number, mmap.PAGESIZE)
    mapping[0:4] = b"kept"
    mapping.flush()
    mapping[4:8] = b"lost"
    for seed in range(20):
        disk._mapped[mapping.inode].lose(Random(seed))
    assert path.read_bytes()[:8] == b"kept\0\0\0\0"
    mapping.close()
    os.close(number)


def test_memory_without_a_file_is_the_hosts_own() -> None:
    memory = mapping_class(Kernel(), has_pages=False)(-1, 10)
    assert isinstance(memory, mmap.mmap)
    memory.close()
