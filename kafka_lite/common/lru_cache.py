"""A cache of what was used last.

Kafka 0.10.2: clients/.../common/cache/LRUCache.java, SynchronizedCache.java · book 8.3.3
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LRUCache(Generic[K, V]):
    """The values that were used last, at most ``max_size`` of them. Threads may share it."""

    def __init__(self, max_size: int) -> None:
        self._max_size = max_size
        self._values: OrderedDict[K, V] = OrderedDict()
        self._lock = Lock()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The value of a key. One that is missing is made, and kept. Two threads may make it at once."""
        with self._lock:
            found = self._values.get(key)
            if found is not None:
                self._values.move_to_end(key)
                return found
        made = make()
        with self._lock:
            self._values[key] = made
            if len(self._values) > self._max_size:
                self._values.popitem(last=False)
        return made
