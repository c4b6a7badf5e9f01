"""Parts of a broker that most brokers never need: made, and their modules imported, when somebody first asks.

Kafka 0.10.2: none; a JVM loads each class when it is first used · book 2.3.3
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from kafka_lite.network.request import Request
from kafka_lite.server.apis.api_handler import Handler, Respond

T = TypeVar("T")


class MadeWhenAsked(Generic[T]):
    """Calling it returns the part. The first caller makes it, in whatever thread; others wait until it is made."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self.made: T | None = None
        """The part; None if nobody has asked for it: then there is nothing to stop or to tell."""

    def __call__(self) -> T:
        """The part."""
        made = self.made
        if made is not None:
            return made
        with self._lock:
            if self.made is None:
                self.made = self._make()
            return self.made


def late_handler(handler: Callable[[], Handler]) -> Handler:
    """A handler that is looked up for each request: ``handler`` makes what serves it if it has not been made."""

    def handle(request: Request, body: Any, respond: Respond) -> None:
        handler()(request, body, respond)

    return handle
