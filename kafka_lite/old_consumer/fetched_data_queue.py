"""The queue through which fetchers pass chunks of messages to a stream.

Kafka 0.10.2: core/.../consumer/ZookeeperConsumerConnector.scala; java.util.concurrent.LinkedBlockingQueue · book 3.2.3
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import SYSTEM_TIME, Time

C = TypeVar("C")


class ShutdownCommand:
    """The last item of a stream's queue, which ends the stream."""


SHUTDOWN_COMMAND: Final = ShutdownCommand()


class FetcherInterruptedError(KafkaError):
    """The fetcher must end and no longer waits for room in a queue."""


class FetchedDataQueue(Generic[C]):
    """A few chunks (``queued.max.message.chunks``) between the fetchers of several partitions and one stream.

    A fetcher blocks while the queue is full, so that a slow stream slows down its fetchers and memory stays bounded.
    Java interrupts a blocked thread that has to end. Here, ``put`` checks ``is_interrupted``, and ``wake_producers``
    makes it check.
    """

    def __init__(self, capacity: int, time: Time = SYSTEM_TIME) -> None:
        self._capacity = capacity
        self._time = time
        self._items: deque[C | ShutdownCommand] = deque()
        self._changed = threading.Condition()

    def put(self, item: C | ShutdownCommand, is_interrupted: Callable[[], bool] = lambda: False) -> None:
        """Wait for room and add. Raises FetcherInterruptedError if ``is_interrupted`` returns true while waiting."""
        with self._changed:
            while len(self._items) >= self._capacity:
                if is_interrupted():
                    raise FetcherInterruptedError("the fetcher was stopped while it waited for space in a full queue")
                self._changed.wait()
            self._items.append(item)
            self._changed.notify_all()

    def wake_producers(self) -> None:
        """Make blocked fetchers check whether they are interrupted."""
        with self._changed:
            self._changed.notify_all()

    def take(self, timeout_ms: float | None = None) -> C | ShutdownCommand | None:
        """Wait for an item and remove it; None if there is none within ``timeout_ms`` (None: wait for ever)."""
        with self._changed:
            deadline_ms = None if timeout_ms is None else self._time.hi_res_ms() + timeout_ms
            while not self._items:
                if deadline_ms is None:
                    self._changed.wait()
                    continue
                left_ms = deadline_ms - self._time.hi_res_ms()
                if left_ms <= 0:
                    return None
                self._time.wait(self._changed, left_ms)
            item = self._items.popleft()
            self._changed.notify_all()
            return item

    def clear(self) -> None:
        """Remove all items."""
        with self._changed:
            self._items.clear()
            self._changed.notify_all()

    def shut_down(self) -> None:
        """Replace all items by the shutdown command."""
        with self._changed:
            self._items = deque([SHUTDOWN_COMMAND])
            self._changed.notify_all()

    def __len__(self) -> int:
        return len(self._items)
