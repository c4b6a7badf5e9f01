"""A client of beanstalkd, and the real beanstalkd as a child process: another design to measure ours against.

The protocol is lines of ASCII, as in beanstalkd's own ``protocol.txt`` (version 1.12) · book 1.3.1
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

TIMEOUT_S = 10.0
_PUT = b"put 0 0 60 %d\r\n%b\r\n"
"""Most urgent, without delay; the client that reserves it has 60 s."""


class BeanstalkError(Exception):
    """The server returned an unexpected response, which is the message."""


class BeanstalkClient:
    """One connection. A job is put, reserved by one worker, and deleted when it is done: nobody reads it again."""

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        self._socket = socket.create_connection((host, port), timeout=TIMEOUT_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._responses = self._socket.makefile("rb")

    def put(self, *bodies: bytes) -> list[int]:
        """Put jobs, all before the first response is read; returns their ids."""
        self._socket.sendall(b"".join(_PUT % (len(body), body) for body in bodies))
        return [int(self._response(b"INSERTED")[0]) for _ in bodies]

    def reserve(self) -> tuple[int, bytes]:
        """The most urgent job, for this worker only until it is deleted or its time is over."""
        self._socket.sendall(b"reserve-with-timeout 0\r\n")
        job_id, size = self._response(b"RESERVED")
        return int(job_id), self._data(int(size))

    def delete(self, *job_ids: int) -> None:
        """Forget jobs."""
        self._socket.sendall(b"".join(b"delete %d\r\n" % job_id for job_id in job_ids))
        for _ in job_ids:
            self._response(b"DELETED")

    def stats(self) -> dict[str, str]:
        """The server's statistics, such as ``binlog-records-migrated``."""
        self._socket.sendall(b"stats\r\n")
        (size,) = self._response(b"OK")
        lines = self._data(int(size)).decode().splitlines()
        return {name: value.strip(' "') for name, colon, value in (line.partition(":") for line in lines) if colon}

    def _response(self, wanted: bytes) -> list[bytes]:
        line = self._responses.readline()
        word, *rest = line.split() or [b"(connection closed)"]
        if word != wanted:
            raise BeanstalkError(line.decode(errors="replace").strip() or "the server closed the connection")
        return rest

    def _data(self, size: int) -> bytes:
        return self._responses.read(size + 2)[:size]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._responses.close()
        self._socket.close()


def beanstalkd_program() -> str | None:
    """The path of beanstalkd; None if it is not installed (``apt-get install beanstalkd``)."""
    return shutil.which("beanstalkd") or shutil.which("beanstalkd", path="/usr/bin:/usr/local/bin:/opt/homebrew/bin")


@contextmanager
def running_beanstalkd(*options: str, binlog: Path | None = None) -> Iterator[BeanstalkClient]:
    """Start a beanstalkd on a free port, and a client; both end with the block.

    ``binlog`` is the folder of its files; without, it keeps jobs in memory only. Raises FileNotFoundError when it is
    not installed, TimeoutError when it does not come up.
    """
    program = beanstalkd_program()
    if program is None:
        raise FileNotFoundError("beanstalkd is not installed (Debian, Ubuntu: apt-get install beanstalkd)")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    folder = ["-b", str(binlog)] if binlog is not None else []
    process = subprocess.Popen([program, "-l", "127.0.0.1", "-p", str(port), *folder, *options])
    try:
        with _connected(process, port) as client:
            yield client
    finally:
        process.terminate()
        process.wait(TIMEOUT_S)


def _connected(process: subprocess.Popen[bytes], port: int) -> BeanstalkClient:
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise OSError(f"beanstalkd ended with exit code {process.returncode}")
        try:
            return BeanstalkClient(port)
        except ConnectionRefusedError:
            time.sleep(0.01)
    raise TimeoutError(f"beanstalkd does not listen on port {port}")
