"""kazoo's handler of threads with a cheaper ``select``.

Kafka 0.10.2: ZkClient (I0Itec): the connection below it (ClientCnxnSocketNIO) · book 7.1.3
"""

from __future__ import annotations

import math
import select
from collections.abc import Collection
from typing import Any

from kazoo.handlers.threading import SequentialThreadingHandler


class PollHandler(SequentialThreadingHandler):  # type: ignore[misc]
    """Waits for sockets with ``poll``, one system call.

    kazoo waits four times for every request, each time with a selector of its own: with epoll, that is a file opened,
    a call for each socket, the wait, and a file closed. A controller that takes over reads a znode for every partition.
    """

    def select(
        self, readers: Collection[Any], writers: Collection[Any], _exceptional: object, timeout_s: float | None = None
    ) -> tuple[list[Any], list[Any], list[Any]]:
        """Like ``select.select``, for files of any number. A file with an error counts as ready, so its use fails.

        Raises ValueError for a closed file.
        """
        poll = select.poll()
        for reader in readers:
            poll.register(reader, select.POLLIN | select.POLLPRI)
        for writer in writers:
            poll.register(writer, select.POLLOUT)
        ready = {number for number, _ in poll.poll(None if timeout_s is None else math.ceil(timeout_s * 1000))}
        return (
            [reader for reader in readers if reader.fileno() in ready],
            [writer for writer in writers if writer.fileno() in ready],
            [],
        )
