"""The modules ``posix``, ``io``, ``mmap`` and ``fcntl``: real files in the machine's folder, watched by its disk.

Not in Kafka. ``os``, ``pathlib``, ``shutil`` and ``tempfile`` are loaded again on top of them.
"""

from __future__ import annotations

import errno
import io
import mmap
import os
import posix
import types
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

from kafka_lite.testing.simulation.disk import Disk
from kafka_lite.testing.simulation.endpoint import Endpoint
from kafka_lite.testing.simulation.system.kernel import EPOCH_NS, FIRST_SOCKET_FD, Kernel, stand_in
from kafka_lite.testing.simulation.system.linux import FCNTL, LOCK_UN, SEEK, SEEK_HOLE
from kafka_lite.testing.simulation.system.mappings import mapping_class
from kafka_lite.testing.simulation.system.refusals import refusing
from kafka_lite.testing.simulation.system.sockets import close_descriptor

REFUSED = (
    "fork",
    "forkpty",
    "execv",
    "execve",
    "posix_spawn",
    "posix_spawnp",
    "system",
    "pipe",
    "pipe2",
    "wait",
    "waitpid",
)
Buffer = bytes | bytearray | memoryview


class Files:
    """The functions of ``posix`` for one process."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._paths = kernel.open_files
        self._appending: set[int] = set()

    def _disk_of(self, fd: int) -> Disk | None:
        return self._kernel.disk if fd in self._paths else None

    def _disk_at(self, path: str) -> Disk | None:
        disk = self._kernel.disk
        return disk if disk is not None and disk.holds(path) else None

    def _wall_ns(self) -> int:
        return EPOCH_NS + self._kernel.scheduler.now_ns + self._kernel.wall_offset_ns

    # ── open files ────────────────────────────────────────────────────────────────────────────────────────────────

    def open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        """Open a file; a new one is a change of names. Raises OSError: EMFILE, and what the system raises."""
        self._kernel.take_descriptor()
        name = _name(path)
        disk = self._disk_at(name)
        is_new = disk is not None and bool(flags & os.O_CREAT) and not os.path.lexists(name)
        fd = posix.open(path, _with_undo(flags) if disk else flags, mode, dir_fd=dir_fd)
        if disk is not None:
            self._paths[fd] = name
            if flags & os.O_APPEND:
                self._appending.add(fd)
            if is_new:
                disk.created(name, posix.fstat(fd).st_ino)
                self._touch(fd)
            elif flags & os.O_TRUNC and posix.fstat(fd).st_size:
                self.ftruncate(fd, 0)
        return fd

    def close(self, fd: int) -> None:
        """Close a file, and release the process's lock on it; or close a socket."""
        if self._kernel.has_ended:
            return  # collected with a killed process: its files are closed, and the number may be another file's
        if fd >= FIRST_SOCKET_FD:
            close_descriptor(self._kernel, fd)
            return
        path = self._paths.pop(fd, None)
        self._appending.discard(fd)
        if path is not None and self._kernel.locked_files.get(path) is self._kernel:
            del self._kernel.locked_files[path]
        posix.close(fd)

    def _touch(self, fd: int) -> None:
        if self._kernel.disk is not None:
            self._kernel.disk.modified_ns[posix.fstat(fd).st_ino] = self._wall_ns()

    def pread(self, fd: int, length: int, offset: int) -> bytes:
        """Read at a position. Raises MemoryError."""
        self._kernel.take_memory(length)
        return posix.pread(fd, length, offset)

    def pwrite(self, fd: int, data: Buffer, offset: int) -> int:
        """Write at a position."""
        disk = self._disk_of(fd)
        view = memoryview(data).cast("B")
        if disk is not None and len(view):
            view = view[: disk.before_write(fd, offset, len(view))]
            self._touch(fd)
        return posix.pwrite(fd, view, offset)

    def write(self, fd: int, data: Buffer) -> int:
        """Write at the file's own position."""
        disk = self._disk_of(fd)
        view = memoryview(data).cast("B")
        if disk is not None and len(view):
            position = os.lseek(fd, 0, os.SEEK_END if fd in self._appending else os.SEEK_CUR)
            view = view[: disk.before_write(fd, position, len(view))]
            self._touch(fd)
        return posix.write(fd, view)

    def writev(self, fd: int, buffers: Sequence[Buffer]) -> int:
        """Write several buffers."""
        return self.write(fd, b"".join(buffers))

    def pwritev(self, fd: int, buffers: Sequence[Buffer], offset: int, flags: int = 0) -> int:
        """Write several buffers at a position."""
        del flags
        return self.pwrite(fd, b"".join(buffers), offset)

    def ftruncate(self, fd: int, length: int) -> None:
        """Set the file's size."""
        disk = self._disk_of(fd)
        if disk is not None:
            disk.before_truncate(fd, length)
            self._touch(fd)
        posix.ftruncate(fd, length)

    def truncate(self, path: Any, length: int) -> None:
        """Set a file's size."""
        if isinstance(path, int):
            self.ftruncate(path, length)
            return
        fd = self.open(path, os.O_RDWR)
        try:
            self.ftruncate(fd, length)
        finally:
            self.close(fd)

    def lseek(self, fd: int, position: int, whence: int, /) -> int:
        """Move the file's position. The disk knows where its files have holes."""
        disk = self._kernel.disk
        hole = disk.hole_from(fd, position) if disk is not None and whence == SEEK_HOLE else None
        return posix.lseek(fd, position, whence) if hole is None else posix.lseek(fd, hole, os.SEEK_SET)

    def fsync(self, fd: int) -> None:
        """Make the file durable. It takes time, while others run."""
        disk = self._kernel.disk
        if disk is None:
            return
        self._take_time(disk.faults.flush_ns)
        disk.flushed(fd)

    def _take_time(self, span_ns: tuple[int, int]) -> None:
        """Block for a drawn time between a minimum and a maximum; no-op outside of tasks."""
        scheduler, (low, high) = self._kernel.scheduler, span_ns
        deadline_ns = scheduler.now_ns + low + int(self._kernel.random.random() * (high - low))
        while scheduler.current is not None and scheduler.park(deadline_ns):
            pass

    def sendfile(self, out_fd: int, in_fd: int, offset: int, count: int) -> int:
        """Send a part of a file to a socket. Raises BlockingIOError without room."""
        endpoint = self._kernel.sockets[out_fd]
        if not isinstance(endpoint, Endpoint):
            raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")
        data = posix.pread(in_fd, min(count, max(endpoint.room_bytes, 1)), offset)
        return endpoint.send(data) if data else 0

    # ── names ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def rename(self, source: Any, target: Any, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None) -> None:
        """Rename a file or directory."""
        del src_dir_fd, dst_dir_fd
        disk = self._disk_at(_name(source))
        if disk is not None and os.path.lexists(_name(source)):
            disk.before_rename(_name(source), _name(target))
        posix.rename(source, target)

    def unlink(self, path: Any, *, dir_fd: int | None = None) -> None:
        """Remove a file."""
        disk = self._disk_at(_name(path)) if dir_fd is None else None
        if disk is not None and os.path.isfile(_name(path)):
            disk.unlink(_name(path))
        else:
            posix.unlink(path, dir_fd=dir_fd)

    def mkdir(self, path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        """Make a directory. It takes time, while others run."""
        posix.mkdir(path, mode, dir_fd=dir_fd)
        disk = self._disk_at(_name(path))
        if disk is not None:
            disk.made_directory(_name(path))
            self._take_time(disk.faults.mkdir_ns)

    def rmdir(self, path: Any, *, dir_fd: int | None = None) -> None:
        """Remove an empty directory."""
        posix.rmdir(path, dir_fd=dir_fd)
        disk = self._disk_at(_name(path)) if dir_fd is None else None
        if disk is not None:
            disk.removed_directory(_name(path))

    def listdir(self, path: Any = ".") -> list[str]:
        """Names in a directory, sorted: the system's order is not the seed's."""
        return sorted(posix.listdir(path))

    def scandir(self, path: Any = ".") -> SortedEntries:
        """Entries of a directory, sorted."""
        return SortedEntries(path)

    # ── what stat says ────────────────────────────────────────────────────────────────────────────────────────────

    def stat(self, path: Any, **options: Any) -> os.stat_result:
        """A file's status, with the world's times."""
        return self._in_world_time(posix.stat(path, **options))

    def lstat(self, path: Any, **options: Any) -> os.stat_result:
        """The status of a link itself."""
        return self._in_world_time(posix.lstat(path, **options))

    def fstat(self, fd: int) -> os.stat_result:
        """An open file's status."""
        return self._in_world_time(posix.fstat(fd))

    def _in_world_time(self, real: os.stat_result) -> os.stat_result:
        disk = self._kernel.disk
        if disk is None or real.st_ino not in disk.modified_ns:
            return real
        modified_ns = disk.modified_ns[real.st_ino]
        times = [modified_ns // 10**9] * 3 + [modified_ns / 1e9] * 3 + [modified_ns] * 3
        return os.stat_result([*real[:7], *times, real.st_blksize, real.st_blocks, real.st_rdev])

    def utime(self, path: Any, times: Any = None, *, ns: tuple[int, int] | None = None, **_: Any) -> None:
        """Set a file's times."""
        modified_ns = ns[1] if ns is not None else self._wall_ns() if times is None else int(times[1] * 1e9)
        if self._kernel.disk is not None:
            self._kernel.disk.modified_ns[posix.stat(path).st_ino] = modified_ns

    def statvfs(self, path: Any) -> Any:
        """A disk of 100 GB, with the room that its faults leave."""
        del path
        disk = self._kernel.disk
        free = disk.faults.free_bytes if disk is not None else None
        blocks = 25_000_000 if free is None else free // 4096
        return os.statvfs_result((4096, 4096, 25_000_000, blocks, blocks, 1_000_000, 1_000_000, 1_000_000, 0, 255))

    # ── the process ───────────────────────────────────────────────────────────────────────────────────────────────

    def urandom(self, size: int) -> bytes:
        """Bytes from the seed."""
        return self._kernel.random.randbytes(size)

    def kill(self, pid: int, number: int) -> None:
        """Signal the process itself."""
        if pid != self._kernel.pid:
            raise ProcessLookupError(errno.ESRCH, "No such process")
        self._kernel.raise_signal(number)

    def posix_module(self) -> types.ModuleType:
        """``posix`` itself."""
        names: dict[str, object] = {
            "open": self.open, "close": self.close, "pread": self.pread, "write": self.write, "pwrite": self.pwrite,
            "writev": self.writev, "pwritev": self.pwritev, "ftruncate": self.ftruncate, "truncate": self.truncate,
            "fsync": self.fsync, "fdatasync": self.fsync, "sendfile": self.sendfile, "rename": self.rename,
            "replace": self.rename, "unlink": self.unlink, "remove": self.unlink, "mkdir": self.mkdir,
            "rmdir": self.rmdir, "listdir": self.listdir, "scandir": self.scandir, "stat": self.stat,
            "lstat": self.lstat, "fstat": self.fstat, "utime": self.utime, "statvfs": self.statvfs, "lseek": self.lseek,
            "urandom": self.urandom, "getpid": lambda: self._kernel.pid, "kill": self.kill,
            "_exit": lambda code: self._kernel.exit(code), "cpu_count": lambda: 2, "register_at_fork": lambda **_: None,
        }  # fmt: skip
        return stand_in("posix", posix, {**SEEK, **names} | {name: refusing(f"os.{name}") for name in REFUSED})

    # ── io, mmap, fcntl ───────────────────────────────────────────────────────────────────────────────────────────

    def open_file(
        self, file: Any, mode: str = "r", buffering: int = -1, encoding: str | None = None, errors: str | None = None,
        newline: str | None = None, closefd: bool = True, opener: Callable[..., int] | None = None,
    ) -> IO[Any]:  # fmt: skip
        """The function ``open``. A file that is only read is a plain one, unless memory is short."""
        if not set(mode) & set("wax+"):
            if not isinstance(file, int):
                self._kernel.take_descriptor()
            if self._kernel.largest_block_bytes is not None:
                self._kernel.take_memory(os.stat(file).st_size)  # every caller that reads a file reads all of it
            return open(file, mode, buffering, encoding, errors, newline, closefd, opener)
        raw: Any = WorldFile(self, file, mode, closefd, opener)
        if buffering == 0:
            return raw  # type: ignore[no-any-return]
        wrap = io.BufferedRandom if "+" in mode else io.BufferedWriter
        buffered: Any = wrap(raw, buffering) if buffering > 1 else wrap(raw)
        if "b" in mode:
            return buffered  # type: ignore[no-any-return]
        return io.TextIOWrapper(buffered, encoding or "utf-8", errors, newline, line_buffering=buffering == 1)

    def io_module(self) -> types.ModuleType:
        """``io``, with ``open``."""
        return stand_in("io", io, {"open": self.open_file})

    def mmap_module(self) -> types.ModuleType:
        """``mmap``: the disk knows which files are mapped."""
        return stand_in("mmap", mmap, {"mmap": mapping_class(self._kernel)})

    def lock(self, fd: Any, operation: int, *_: int) -> None:
        """``lockf`` and ``flock``. Raises BlockingIOError if another process holds the lock; they never wait."""
        number = fd if isinstance(fd, int) else fd.fileno()
        path = self._paths.get(number)
        if path is None:
            return
        locked = self._kernel.locked_files
        if operation & LOCK_UN:
            if locked.get(path) is self._kernel:
                del locked[path]
        elif locked.setdefault(path, self._kernel) is not self._kernel:
            raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    def fcntl_module(self) -> types.ModuleType:
        """``fcntl``."""
        names = {"lockf": self.lock, "flock": self.lock, "fcntl": lambda *_: 0, "ioctl": refusing("fcntl.ioctl")}
        return stand_in("fcntl", None, {**FCNTL, **names})


class SortedEntries:
    """The return value of ``scandir``, with the entries sorted by name."""

    def __init__(self, path: Any) -> None:
        with os.scandir(path) as entries:
            self._entries = iter(sorted(entries, key=lambda entry: entry.name))

    def __iter__(self) -> Iterator[os.DirEntry[str]]:
        return self._entries

    def __next__(self) -> os.DirEntry[str]:
        return next(self._entries)

    def __enter__(self) -> SortedEntries:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def close(self) -> None:
        """Nothing is open."""


class WorldFile(io.RawIOBase):
    """``io.FileIO`` for writing, over the process's own ``posix``."""

    def __init__(self, files: Files, file: Any, mode: str, closefd: bool, opener: Callable[..., int] | None) -> None:
        self._files = files
        self.mode = mode.replace("t", "") + ("" if "b" in mode else "b")
        self.name = file
        self._closefd = closefd
        flags = _flags(mode)
        if isinstance(file, int):
            self._fd = file
        else:
            self._fd = files.open(file, flags, 0o666) if opener is None else opener(file, flags)
        if "a" in mode:
            os.lseek(self._fd, 0, os.SEEK_END)

    def fileno(self) -> int:
        """The descriptor."""
        return self._fd

    def readable(self) -> bool:
        """Whether it was opened for reading, too."""
        return "+" in self.mode

    def writable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer."""
        return os.readv(self._fd, [buffer])

    def write(self, data: Any) -> int:
        """Write at the current position."""
        return self._files.write(self._fd, data)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move the position."""
        return os.lseek(self._fd, offset, whence)

    def truncate(self, size: int | None = None) -> int:
        """Set the size."""
        wanted = self.tell() if size is None else size
        self._files.ftruncate(self._fd, wanted)
        return wanted

    def close(self) -> None:
        """Close it."""
        if not self.closed:
            super().close()
            if self._closefd:
                self._files.close(self._fd)


def _flags(mode: str) -> int:
    flags = os.O_CLOEXEC | (os.O_RDWR if "+" in mode else os.O_WRONLY)
    if "w" in mode:
        flags |= os.O_CREAT | os.O_TRUNC
    elif "x" in mode:
        flags |= os.O_CREAT | os.O_EXCL
    elif "a" in mode:
        flags |= os.O_CREAT | os.O_APPEND
    return flags


def _with_undo(flags: int) -> int:
    """Flags for a file of a disk, which reads what is overwritten, and undoes it, through a copy of the descriptor.

    The process may have asked to write only, and at the end only: ``write`` goes there by itself.
    """
    if flags & os.O_WRONLY:
        flags = flags & ~os.O_WRONLY | os.O_RDWR
    return flags & ~(os.O_TRUNC | os.O_APPEND)


def _name(path: Any) -> str:
    return os.path.abspath(os.fsdecode(path)) if not isinstance(path, int) else ""
