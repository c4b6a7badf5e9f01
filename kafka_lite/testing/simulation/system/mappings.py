"""The class ``mmap.mmap`` of a process: a mapping that agrees with its file, and whose flushes the disk sees.

Not in Kafka. Linux gives a mapping and the reads and writes of a file the same pages. WebAssembly has no pages: there
the host's mapping is a copy, which it writes back through a descriptor that may be another file's by then. So on such a
host a mapping reads the file for every look, and writes what has changed::

    host with pages        Mapping ─── the file's pages ─── pread, pwrite
    host without           look   ──▶ pread of the whole file
                           change ──▶ pread, the change in a buffer, pwrite of the bytes that differ
"""

from __future__ import annotations

import mmap
import os
import sys
from typing import Any, Final, Protocol

from kafka_lite.testing.simulation.disk import Disk

HAS_PAGES: Final = sys.platform != "emscripten"
"""Whether mappings of the host share their bytes with the file."""
WRITABLE: Final = 1
"""The flag for writing in a request for a buffer (PEP 688)."""


class Descriptors(Protocol):
    """The part of the kernel that a mapping needs."""

    disk: Disk | None
    open_files: dict[int, str]


def mapping_class(kernel: Descriptors, has_pages: bool = HAS_PAGES) -> type[Any]:
    """The class for one process. Mappings of memory only, which have no file, are the host's own."""
    return _over_pages(kernel) if has_pages else _over_reads(kernel)


def _inode(kernel: Descriptors, fileno: int) -> int | None:
    """The inode of a file that is mapped from now on; None for other files and for memory."""
    is_file = fileno >= 0 and kernel.disk is not None and fileno in kernel.open_files
    return kernel.disk.mapped(fileno) if is_file and kernel.disk is not None else None


def _flushed(kernel: Descriptors, inode: int | None) -> None:
    if inode is not None and kernel.disk is not None:
        kernel.disk.flushed_mapping(inode)


def _over_pages(kernel: Descriptors) -> type[Any]:
    class Mapping(mmap.mmap):
        """The host's mapping."""

        def __new__(cls, fileno: int, length: int, *args: Any, **options: Any) -> Mapping:
            mapping = super().__new__(cls, fileno, length, *args, **options)
            mapping.inode = _inode(kernel, fileno)
            return mapping

        inode: int | None = None

        def flush(self, *args: int) -> None:
            super().flush(*args)
            _flushed(kernel, self.inode)

    return Mapping


def _over_reads(kernel: Descriptors) -> type[Any]:
    class Mapping(FileMapping):
        """A mapping made of reads and writes."""

        def __new__(cls, fileno: int, length: int, *args: Any, **options: Any) -> Any:
            return super().__new__(cls) if fileno >= 0 else mmap.mmap(fileno, length, *args, **options)

        def __init__(self, fileno: int, length: int, *_: Any, **__: Any) -> None:
            super().__init__(fileno, length)
            self.inode = _inode(kernel, fileno)

        def flush(self, *args: int) -> None:
            super().flush(*args)
            _flushed(kernel, self.inode)

    return Mapping


class FileMapping:
    """A file as a buffer, without pages. From Python 3.12 on, ``struct`` and ``memoryview`` accept it as a buffer."""

    def __init__(self, fileno: int, length: int) -> None:
        self._fd = os.dup(fileno)
        self._length = length or os.fstat(fileno).st_size
        self._before: dict[int, bytes] = {}
        """The file's bytes when a buffer was given out for writing, by the identity of the buffer."""
        self.closed = False

    def __len__(self) -> int:
        self._check()
        return self._length

    def __getitem__(self, key: Any) -> Any:
        return self._read()[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        with memoryview(bytearray(before := self._read())) as view:
            view[key] = value
            self._write(before, bytes(view))

    def __buffer__(self, flags: int, /) -> memoryview:
        """The file's bytes. Changes of a writable buffer reach the file when it is released, which ``struct`` does."""
        before = self._read()
        if not flags & WRITABLE:
            return memoryview(before)
        view = memoryview(bytearray(before))
        self._before[id(view)] = before
        return view

    def __release_buffer__(self, view: memoryview, /) -> None:
        before = self._before.pop(id(view), None)
        if before is not None:
            self._write(before, bytes(view))
        view.release()

    def _check(self) -> None:
        if self.closed:
            raise ValueError("mmap closed or invalid")

    def _read(self) -> bytes:
        self._check()
        return os.pread(self._fd, self._length, 0).ljust(self._length, b"\0")

    def _write(self, before: bytes, after: bytes) -> None:
        """Write what differs. Bytes beyond the end of a file that was cut off meanwhile are lost, as on Linux."""
        first, last = _difference(before, after)
        last = min(last, os.fstat(self._fd).st_size)
        if first < last:
            os.pwrite(self._fd, after[first:last], first)

    def flush(self, *_: int) -> None:
        """The file has it all."""
        self._check()

    def close(self) -> None:
        """Unmap it."""
        if not self.closed:
            self.closed = True
            os.close(self._fd)

    def __enter__(self) -> FileMapping:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _difference(before: bytes, after: bytes) -> tuple[int, int]:
    """The positions of the first byte that differs, and after the last one; equal if none does."""
    if before == after:
        return 0, 0
    first, last = 0, len(after)
    while before[first] == after[first]:
        first += 1
    while before[last - 1] == after[last - 1]:
        last -= 1
    return first, last
