"""A disk that loses unsynced writes in a power failure, and that refuses operations on request.

Not in Kafka. The files are real ones, in a folder of the machine. The disk notes how to undo every change that no
fsync has made durable::

    data      write, truncate     a random number of the last ones is undone, file by file; one write may be torn
    names     create, rename, …   a random number of the last ones is undone, over the whole disk
    mappings  any page            each page is, at random, as it was written or as it was last flushed

An fsync of a file makes its data and all names so far durable, as the journal of ext4 or xfs does. The disk also knows
which pages of a file have blocks, so that holes are where they are on Linux whatever file system the host has.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

PAGE_BYTES: Final = 4096
GRAVEYARD: Final = ".removed"
"""Folder beside a machine's own, for files whose removal may be undone."""


@dataclass
class Faults:
    """The operations that the disk refuses."""

    free_bytes: int | None = None
    """Room that is left; None for no limit."""
    failing_write: int | None = None
    """The n-th write from now on raises EIO, and each one after it; None for none."""
    is_read_only: bool = False
    flush_ns: tuple[int, int] = (200_000, 2_000_000)
    """How long an fsync takes, at least and at most."""
    mkdir_ns: tuple[int, int] = (20_000, 5_000_000)
    """How long it takes to make a directory. The log of each new replica has one."""


@dataclass(frozen=True)
class DataChange:
    """How to undo a write or a truncation."""

    position: int
    before: bytes
    """The bytes that were there before."""
    size_before: int
    written: int
    """How many bytes were written; 0 for a truncation."""


class Blocks:
    """The pages of a file that take up space; the others are holes, and read as zeros."""

    def __init__(self) -> None:
        self._pages: set[int] = set()

    def wrote(self, position: int, length: int) -> None:
        """Pages were written, even if with zeros."""
        if length:
            self._pages.update(range(position // PAGE_BYTES, (position + length - 1) // PAGE_BYTES + 1))

    def truncated(self, size: int) -> None:
        """The file was cut off at ``size``, or extended by a hole."""
        pages = -(-size // PAGE_BYTES)
        self._pages = {page for page in self._pages if page < pages}

    def hole_from(self, position: int, size: int) -> int:
        """Where the first hole at or after ``position`` begins; the end of a file counts as one."""
        page = position // PAGE_BYTES
        while page in self._pages:
            page += 1
        return min(max(position, page * PAGE_BYTES), size)


class DirtyFile:
    """A file with changes that are not durable. ``fd`` is open for reading and writing."""

    def __init__(self, fd: int, blocks: Blocks) -> None:
        self.fd = os.dup(fd)
        self.blocks = blocks
        self.changes: list[DataChange] = []

    def lose(self, random: Random) -> None:
        """Undo a drawn number of the last changes; the last one that stays may be torn at a page."""
        kept = random.randint(0, len(self.changes))
        for change in reversed(self.changes[kept:]):
            self._undo(change)
        if kept and random.random() < 0.5:
            self._tear(self.changes[kept - 1], random)

    def _undo(self, change: DataChange) -> None:
        if change.before:
            os.pwrite(self.fd, change.before, change.position)
            self.blocks.wrote(change.position, len(change.before))
        self._truncate(change.size_before)

    def _truncate(self, size: int) -> None:
        os.ftruncate(self.fd, size)
        self.blocks.truncated(size)

    def _tear(self, change: DataChange, random: Random) -> None:
        """Only the first pages of the write have reached the disk."""
        first = change.position // PAGE_BYTES + 1
        last = (change.position + change.written - 1) // PAGE_BYTES
        if change.written == 0 or last < first:
            return
        cut = random.randint(first, last) * PAGE_BYTES
        if cut >= change.size_before:
            self._truncate(cut)
        else:
            os.pwrite(self.fd, change.before[cut - change.position :], cut)

    def close(self) -> None:
        """Everything is durable."""
        os.close(self.fd)


class MappedFile:
    """A file that a process has mapped into its memory and may change without a system call."""

    def __init__(self, fd: int) -> None:
        self.fd = os.dup(fd)
        self.flush()

    def flush(self) -> None:
        """Its content is durable."""
        self._durable = os.pread(self.fd, os.fstat(self.fd).st_size, 0)

    def lose(self, random: Random) -> None:
        """Let each changed page either keep its new content or revert to what was last flushed."""
        for position in range(0, os.fstat(self.fd).st_size, PAGE_BYTES):
            now = os.pread(self.fd, PAGE_BYTES, position)
            before = self._durable[position : position + PAGE_BYTES].ljust(len(now), b"\0")[: len(now)]
            if now != before and random.random() < 0.5:
                os.pwrite(self.fd, before, position)

    def close(self) -> None:
        """It is gone."""
        os.close(self.fd)


@dataclass
class Disk:
    """The disk of one machine: a folder of real files."""

    folder: Path
    faults: Faults = field(default_factory=Faults)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._prefix = str(self.folder) + "/"
        self._graveyard = self.folder.with_name(self.folder.name + GRAVEYARD)
        self._graveyard.mkdir(exist_ok=True)
        self._buried = 0
        self._dirty: dict[int, DirtyFile] = {}
        self._mapped: dict[int, MappedFile] = {}
        self.modified_ns: dict[int, int] = {}
        """Inode -> when the file was changed, by the world's clock."""
        self._blocks: dict[int, Blocks] = {}
        """Inode -> which pages of the file have blocks."""
        self._names: list[Callable[[], None]] = []
        """How to undo each change of a name."""

    def holds(self, path: str) -> bool:
        """Whether a path is on this disk."""
        return path.startswith(self._prefix)

    # ── changes of data ───────────────────────────────────────────────────────────────────────────────────────────

    def before_write(self, fd: int, position: int, length: int) -> int:
        """Allow a write; returns how many bytes there is room for. Raises OSError: EIO, ENOSPC or EROFS."""
        self._check_writable()
        stat = os.fstat(fd)
        length = self._take_room(length, max(0, position + length - stat.st_size))
        overlap = max(0, min(stat.st_size - position, length))
        file = self._dirty_file(fd, stat.st_ino)
        before = os.pread(file.fd, overlap, position) if overlap else b""
        file.changes.append(DataChange(position, before, stat.st_size, length))
        file.blocks.wrote(position, length)
        return length

    def _check_writable(self) -> None:
        if self.faults.is_read_only:
            raise OSError(errno.EROFS, "Read-only file system")
        if self.faults.failing_write is not None:
            self.faults.failing_write -= 1
            if self.faults.failing_write <= 0:
                self.faults.failing_write = 0
                raise OSError(errno.EIO, "Input/output error")

    def _take_room(self, length: int, growth: int) -> int:
        free = self.faults.free_bytes
        if free is None or growth == 0:
            return length
        if free <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.faults.free_bytes = max(0, free - growth)
        return length - max(0, growth - free)

    def before_truncate(self, fd: int, size: int) -> None:
        """The file gets another size. Raises OSError: EIO or EROFS."""
        self._check_writable()
        stat = os.fstat(fd)
        file = self._dirty_file(fd, stat.st_ino)
        before = os.pread(file.fd, stat.st_size - size, size) if size < stat.st_size else b""
        file.changes.append(DataChange(size, before, stat.st_size, 0))
        file.blocks.truncated(size)

    def _dirty_file(self, fd: int, inode: int) -> DirtyFile:
        file = self._dirty.get(inode)
        if file is None:
            file = self._dirty[inode] = DirtyFile(fd, self._blocks_of(fd, inode))
        return file

    def _blocks_of(self, fd: int, inode: int) -> Blocks:
        """A file that was there before the disk counts as one without holes."""
        if inode not in self._blocks:
            self._blocks[inode] = Blocks()
            self._blocks[inode].wrote(0, os.fstat(fd).st_size)
        return self._blocks[inode]

    def hole_from(self, fd: int, position: int) -> int | None:
        """``SEEK_HOLE``. None for a file that no process of this disk has written: its host knows."""
        stat = os.fstat(fd)
        blocks = self._blocks.get(stat.st_ino)
        return None if blocks is None else blocks.hole_from(position, stat.st_size)

    # ── changes of names ──────────────────────────────────────────────────────────────────────────────────────────

    def created(self, path: str, inode: int) -> None:
        """A file was created."""
        self._blocks[inode] = Blocks()
        self._names.append(lambda: _remove(path))

    def made_directory(self, path: str) -> None:
        """A directory was created."""
        self._names.append(lambda: os.rmdir(path))

    def removed_directory(self, path: str) -> None:
        """An empty directory was removed."""
        self._names.append(lambda: os.mkdir(path))

    def unlink(self, path: str) -> None:
        """Remove a file, so that its removal can be undone."""
        grave = self._bury(path)
        self._names.append(lambda: os.rename(grave, path))

    def before_rename(self, source: str, target: str) -> None:
        """A file or directory is about to be renamed; a file that it replaces is gone after this call."""
        if source == target:
            return
        grave = self._bury(target) if os.path.isfile(target) and not os.path.isdir(source) else None

        def undo() -> None:
            os.rename(target, source)
            if grave is not None:
                os.rename(grave, target)

        self._names.append(undo)

    def _bury(self, path: str) -> str:
        self._buried += 1
        grave = str(self._graveyard / str(self._buried))
        os.rename(path, grave)
        return grave

    def flip_bit(self, path: Path, position: int, bit: int = 0) -> None:
        """A bit of a file rots: no write, no error, no other modification time."""
        with open(path, "r+b") as file:
            file.seek(position)
            (byte,) = file.read(1)
            file.seek(position)
            file.write(bytes([byte ^ 1 << bit]))

    # ── mappings and flushes ──────────────────────────────────────────────────────────────────────────────────────

    def mapped(self, fd: int) -> int:
        """A process maps the file; returns its inode."""
        inode = os.fstat(fd).st_ino
        if inode not in self._mapped:
            self._mapped[inode] = MappedFile(fd)
        return inode

    def flushed_mapping(self, inode: int) -> None:
        """The process has flushed its mapping."""
        if inode in self._mapped:
            self._mapped[inode].flush()
        self._commit_names()

    def flushed(self, fd: int) -> None:
        """An fsync of a file or directory has ended. Raises OSError: EIO if writes fail."""
        if self.faults.failing_write == 0:
            raise OSError(errno.EIO, "Input/output error")
        inode = os.fstat(fd).st_ino
        file = self._dirty.pop(inode, None)
        if file is not None:
            file.close()
        if inode in self._mapped:
            self._mapped[inode].flush()
        self._commit_names()

    def _commit_names(self) -> None:
        self._names.clear()
        for grave in os.listdir(self._graveyard):
            os.unlink(self._graveyard / grave)

    # ── the crash ─────────────────────────────────────────────────────────────────────────────────────────────────

    def crash(self, random: Random) -> None:
        """The power fails: lose a drawn part of what was not flushed."""
        for file in self._open_files():
            file.lose(random)
        for undo in reversed(self._names[random.randint(0, len(self._names)) :]):
            undo()
        self.forget()

    def _open_files(self) -> list[DirtyFile | MappedFile]:
        return [*self._dirty.values(), *self._mapped.values()]

    def forget(self) -> None:
        """Everything is durable now, and nothing is mapped."""
        for file in self._open_files():
            file.close()
        self._dirty.clear()
        self._mapped.clear()
        self._commit_names()


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
