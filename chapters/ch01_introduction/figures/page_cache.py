"""Looks into the kernel's page cache: how much of a file is in memory, and how much of that is not yet on the disk.

Linux only; ``cachestat`` came with Linux 6.5. Book 1.3.1.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import NamedTuple

_MEMINFO = Path("/proc/meminfo")
_SETTINGS = Path("/proc/sys/vm")
_CACHESTAT = 451
"""The number of the system call, the same on all architectures; libraries do not know it yet."""


class PageCacheState(NamedTuple):
    """Pages (4 KiB) of a file that are in memory, of these dirty, and just being written to the disk."""

    cached: int
    dirty: int
    write_back: int


class _Range(ctypes.Structure):
    _fields_ = (("offset", ctypes.c_uint64), ("length", ctypes.c_uint64))


class _CacheStat(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("cached", "dirty", "write_back", "evicted", "recent"))


def page_cache_state(fd: int) -> PageCacheState | None:
    """The pages of an open file in the page cache; None if the kernel does not tell."""
    whole_file, found = _Range(0, 0), _CacheStat()
    failed = ctypes.CDLL(None).syscall(_CACHESTAT, fd, ctypes.byref(whole_file), ctypes.byref(found), 0)
    return None if failed else PageCacheState(found.cached, found.dirty, found.write_back)


def dirty_kb() -> int:
    """``Dirty`` of /proc/meminfo: KiB in memory that the whole machine has yet to write; raises OSError elsewhere."""
    for line in _MEMINFO.read_text(encoding="ascii").splitlines():
        if line.startswith("Dirty:"):
            return int(line.split()[1])
    raise OSError(f"{_MEMINFO} says nothing of dirty pages")


def drop_from_page_cache(fd: int) -> None:
    """Drop a file from the page cache, so that the next read comes from the disk."""
    os.fdatasync(fd)  # dirty pages would stay
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)


def write_back_settings() -> dict[str, int]:
    """When the kernel's threads write dirty pages: four numbers of /proc/sys/vm."""
    names = (
        "dirty_writeback_centisecs",
        "dirty_expire_centisecs",
        "dirty_background_ratio",
        "dirty_ratio",
    )
    return {name: int((_SETTINGS / name).read_text(encoding="ascii")) for name in names}
