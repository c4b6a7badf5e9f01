"""Detects that two threads use one consumer.

Kafka 0.10.2: clients/.../consumer/KafkaConsumer.java (acquire, release) · book 4.1.2
"""

from __future__ import annotations

import threading

from kafka_lite.consumer.consumer_errors import ConcurrentModificationError


class SingleThreadGuard:
    """A reentrant lock that raises an error, instead of blocking, if another thread holds it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._owner = ""

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise ConcurrentModificationError(
                f"KafkaConsumer is not safe for multi-threaded access: thread {self._owner} is using it, and "
                f"{threading.current_thread().name} must not. Give each thread its own consumer; only wakeup may "
                "be called from another thread"
            )
        self._owner = threading.current_thread().name

    def __exit__(self, *_: object) -> None:
        self._lock.release()
