"""Measures this machine's disk, page cache and sockets, for a chapter's figures and again for its notebook.

It measures wall-clock time for the disk, and CPU time for copies. ``python -m
chapters.ch01_introduction.figures.disk_measurements --save FILE`` measures everything and keeps it. Book 1.3.1.
"""

from __future__ import annotations

import os
import random
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from chapters.ch01_introduction.figures.page_cache import (
    PageCacheState,
    dirty_kb,
    drop_from_page_cache,
    page_cache_state,
)
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import SYSTEM_TIME, MockTime
from kafka_lite.log.files.file_message_set import FileMessageSet, FileMessageSetSlice
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import LogConfig
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.conversion import down_convert
from kafka_lite.record.memory_records_builder import memory_records
from kafka_lite.record.record import MAGIC_V1, MAGIC_V2

MB = 1_000_000
BLOCK = 4096
BLOCKS = 4096
"""16 MiB are written and read ..."""
SPREAD = 16
"""... at random places of a file of 256 MiB, so that neighbours are rare."""
CHUNK = 1 << 20
RATE_S = 0.25
VALUE = b"x" * 1000
FAR_FUTURE = 2**62


# -- order of access ---------------------------------------------------------------------------------------------------


def write_speeds(directory: Path) -> dict[str, float]:
    """MB/s of writing 4 KiB blocks *to the disk*, including an fsync at the end."""
    everywhere = [n * SPREAD for n in range(BLOCKS)]
    random.Random(1).shuffle(everywhere)
    with _big_file(directory) as fd:
        return {
            "one behind the other": _write_speed(fd, range(BLOCKS)),
            "here and there": _write_speed(fd, everywhere),
        }


def _write_speed(fd: int, blocks: Iterable[int]) -> float:
    data = os.urandom(BLOCK)

    def write() -> None:
        for block in blocks:
            os.pwrite(fd, data, block * BLOCK)
        os.fdatasync(fd)

    return BLOCKS * BLOCK / MB / _seconds(write)


def read_speeds(directory: Path) -> dict[str, float]:
    """MB/s of reading 4 KiB blocks, first from the disk, then from the page cache."""
    everywhere = [n * SPREAD for n in range(BLOCKS)]
    random.Random(2).shuffle(everywhere)
    found = {}
    with _big_file(directory) as fd:
        for order, blocks in (("one behind the other", range(BLOCKS)), ("here and there", everywhere)):
            drop_from_page_cache(fd)
            found[f"from disk, {order}"] = _read_speed(fd, blocks)
            found[f"from page cache, {order}"] = _read_speed(fd, blocks)
    return found


def _read_speed(fd: int, blocks: Iterable[int]) -> float:
    def read() -> None:
        for block in blocks:
            os.pread(fd, BLOCK, block * BLOCK)

    return BLOCKS * BLOCK / MB / _seconds(read)


@contextmanager
def _big_file(directory: Path) -> Iterator[int]:
    """A file of 256 MiB that is on the disk."""
    path = directory / "big-file"
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    try:
        for _ in range(SPREAD * BLOCKS * BLOCK // CHUNK):
            os.write(fd, bytes(CHUNK))
        os.fsync(fd)
        yield fd
    finally:
        os.close(fd)
        path.unlink()


# -- write-back --------------------------------------------------------------------------------------------------------


def write_back(directory: Path, seconds: float, size: int = 64 << 20) -> dict[str, list[tuple[float, float]]]:
    """Write ``size`` bytes, then watch for a time: points (s, MB) of what is not yet on the disk.

    ``this file`` counts its own dirty pages (Linux 6.5 and later), ``/proc/meminfo`` those of the whole machine.
    """
    path = directory / "write-back"
    found: dict[str, list[tuple[float, float]]] = {"the whole machine: Dirty of /proc/meminfo": []}
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    try:
        for _ in range(size // CHUNK):
            os.write(fd, bytes(CHUNK))
        start = time.monotonic()
        while (passed := time.monotonic() - start) <= seconds:
            found["the whole machine: Dirty of /proc/meminfo"].append((passed, dirty_kb() * 1024 / MB))
            state = page_cache_state(fd)
            if state is not None:
                found.setdefault("this file: dirty", []).append((passed, state.dirty * BLOCK / MB))
                found.setdefault("this file: cached", []).append((passed, state.cached * BLOCK / MB))
            time.sleep(max(0.1, seconds / 200))
    finally:
        os.close(fd)
        path.unlink()
    return found


def stages_of_a_write(directory: Path) -> list[tuple[str, PageCacheState | None]]:
    """Where 4 MiB are after each of: write, fsync, leaving the page cache, a read of one block."""
    path = directory / "stages"
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    try:
        steps: list[tuple[str, Callable[[], object]]] = [
            ("write", lambda: os.write(fd, bytes(4 * CHUNK))),
            ("fsync", lambda: os.fsync(fd)),
            ("posix_fadvise(DONTNEED)", lambda: drop_from_page_cache(fd)),
            ("pread of one block", lambda: os.pread(fd, BLOCK, 0)),
        ]
        found = []
        for name, step in steps:
            step()
            found.append((name, page_cache_state(fd)))
        return found
    finally:
        os.close(fd)
        path.unlink()


# -- fsync -------------------------------------------------------------------------------------------------------------


def fsync_rates(directory: Path) -> dict[str, float]:
    """Appends of 1000 bytes per second, with an ``fsync`` every so many appends."""
    return {
        _every(count): _append_rate(directory / f"appended-{count}", count) for count in (1, 10, 100, 1000, FAR_FUTURE)
    }


def _every(count: int) -> str:
    return "never" if count == FAR_FUTURE else "every time" if count == 1 else f"every {count} times"


def _append_rate(path: Path, fsync_every: int) -> float:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    written = 0

    def append() -> None:
        nonlocal written
        os.write(fd, VALUE)
        written += 1
        if written % fsync_every == 0:
            os.fsync(fd)

    try:
        return _rate(append)
    finally:
        os.close(fd)
        path.unlink()


def log_append_rates(directory: Path) -> dict[str, float]:
    """Messages of 1000 bytes a second through ``Log.append_as_leader``, by ``flush.messages`` and batch size."""
    found: dict[str, float] = {}
    for batch in (1, 100):
        for flush in (1, 1000, FAR_FUTURE):
            name = "never" if flush == FAR_FUTURE else str(flush)
            label = f"batches of {batch}, flush.messages={name}"
            found[label] = _log_append_rate(directory / f"demo-{len(found)}", batch, flush)
    return found


def _log_append_rate(directory: Path, batch: int, flush_messages: int) -> float:
    config = LogConfig({"flush.messages": str(flush_messages)})
    directory.mkdir()
    log = Log(directory, config, 0, MockScheduler(MockTime()), SYSTEM_TIME)
    records = memory_records(MAGIC_V2, CompressionType.NONE, [(None, VALUE)] * batch, timestamp=1_600_000_000_000)
    try:
        return batch * _rate(lambda: log.append_as_leader(bytearray(records), leader_epoch=0))
    finally:
        log.close()


# -- zero copy ---------------------------------------------------------------------------------------------------------


def transfer_costs(directory: Path, megabytes: int = 256) -> dict[str, float]:
    """Processor time (ms) of the sending thread for a gigabyte out of the page cache, in requests of a megabyte.

    ``sendfile`` is what the broker does. The second way is a program without it. The third is the broker
    with a consumer that is older than the log's format.
    """
    records = memory_records(MAGIC_V2, CompressionType.NONE, [(None, VALUE)] * 1000, timestamp=1_600_000_000_000)
    segment = FileMessageSet(directory / "00000000000000000000.log")
    for _ in range(megabytes):
        segment.append(records)
    buffer = bytearray(len(records))
    fd = os.open(segment.file, os.O_RDONLY)

    def through_memory(sock: socket.socket, position: int) -> None:
        os.preadv(fd, [buffer], position)
        sock.sendall(buffer)

    def converted(sock: socket.socket, position: int) -> None:
        sock.sendall(down_convert(segment.read(position, len(records)).to_bytes(), MAGIC_V1))

    ways = {
        "sendfile": (lambda sock, position: _send_slice(segment.read(position, len(records)), sock), megabytes),
        "read and send": (through_memory, megabytes),
        "read, convert to format v1, send": (converted, megabytes // 8),
    }
    try:
        return {
            name: _transfer_seconds(send, range(0, count * len(records), len(records))) * 1e12 / count / len(records)
            for name, (send, count) in ways.items()
        }
    finally:
        os.close(fd)
        segment.delete()


def _send_slice(piece: FileMessageSetSlice, sock: socket.socket) -> None:
    sent = 0
    while sent < piece.size_in_bytes:
        sent += piece.send_to(sock, sent, piece.size_in_bytes - sent)


def _transfer_seconds(send: Callable[[socket.socket, int], None], positions: Iterable[int]) -> float:
    """CPU time of this thread for sending over loopback TCP to a peer that discards everything."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as sender:
        receiver, _ = server.accept()
        drain = threading.Thread(target=_drain, args=(receiver,), name="consumer")
        drain.start()
        before = time.thread_time()
        for position in positions:
            send(sender, position)
        seconds = time.thread_time() - before
        sender.shutdown(socket.SHUT_WR)
        drain.join()
    return seconds


def _drain(sock: socket.socket) -> None:
    buffer = bytearray(CHUNK)
    with sock:
        while sock.recv_into(buffer):
            pass


# -- clocks ------------------------------------------------------------------------------------------------------------


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _rate(work: Callable[[], object]) -> float:
    """How often per second a function can be called."""
    start, count = time.perf_counter(), 0
    while (passed := time.perf_counter() - start) < RATE_S:
        work()
        count += 1
    return count / passed
