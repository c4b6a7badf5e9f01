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
    """What a stream finds in its queue when it is to end."""


SHUTDOWN_COMMAND: Final = ShutdownCommand()


class FetcherInterruptedError(KafkaError):
    """A fetcher that is to end no longer waits for room in a queue."""


class FetchedDataQueue(Generic[C]):
    """A few chunks (``queued.max.message.chunks``) between the fetchers of several partitions and one stream.

    A fetcher that finds it full waits: so a slow stream slows down its fetchers, and memory stays bounded. Java
    interrupts a thread that has to end while it waits; here it asks ``is_interrupted``, and ``wake_producers`` has it
    ask.
    """

    def __init__(self, capacity: int, time: Time = SYSTEM_TIME) -> None:
        self._capacity = capacity
        self._time = time
        self._items: deque[C | ShutdownCommand] = deque()
        self._changed = threading.Condition()

    def put(self, item: C | ShutdownCommand, is_interrupted: Callable[[], bool] = lambda: False) -> None:
        """Wait for room and add; raises FetcherInterruptedError when ``is_interrupted`` says so while waiting."""
        with self._changed:
            while len(self._items) >= self._capacity:
                if is_interrupted():
                    raise FetcherInterruptedError("the fetcher was told to end while it waited for a full queue")
                self._changed.wait()
            self._items.append(item)
            self._changed.notify_all()

    def wake_producers(self) -> None:
        """Have those that wait for room look whether they are interrupted."""
        with self._changed:
            self._changed.notify_all()

    def take(self, timeout_ms: float | None = None) -> C | ShutdownCommand | None:
        """Wait for an item and take it; None when there was none for ``timeout_ms`` (None: wait for ever)."""
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
        """Drop everything."""
        with self._changed:
            self._items.clear()
            self._changed.notify_all()

    def shut_down(self) -> None:
        """Drop everything but the command to end, which stays the only item."""
        with self._changed:
            self._items = deque([SHUTDOWN_COMMAND])
            self._changed.notify_all()

    def __len__(self) -> int:
        return len(self._items)
