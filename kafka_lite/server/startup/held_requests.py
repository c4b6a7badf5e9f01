"""Requests about topics that wait until a starting broker has heard of the topics.

::

    client     Metadata ──▶ held ───────────────────────────┐
    controller UpdateMetadata ──▶ metadata cache            │
    broker                        knows its partitions ──▶ release ──▶ rights ──▶ handler ──▶ response

Kafka does not wait. Its broker answers from an empty cache that there is no such topic, and refuses a client that may
not create the topic with TOPIC_AUTHORIZATION_FAILED, after which librdkafka gives the topic up.

Kafka 0.10.2: core/.../server/KafkaServer.scala (startup) · book 7.3.1
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from kafka_lite.network.request import Request
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.server.apis.api_handler import Handler, Respond

ABOUT_TOPICS = frozenset({ApiKey.METADATA, ApiKey.DESCRIBE_TOPIC_PARTITIONS})
"""Clients believe the response: a consumer that subscribes by a pattern would give all partitions up for
``metadata.max.age.ms``. Requests about partitions get an error that is retried."""


class HeldRequests:
    """Holds requests back between ``hold`` and ``release``; all others go to their handlers at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: list[Callable[[], None]] | None = None
        """The requests to be handled by ``release``; None if nothing is held back."""

    def wrap(self, api_key: ApiKey, handler: Handler) -> Handler:
        """Put the wait in front of a handler, and of the rule for who may do what, which looks at the topics, too."""
        return partial(self._handle, handler) if api_key in ABOUT_TOPICS else handler

    def hold(self) -> None:
        """Answer no request about topics from now on: the controller has not told this broker of any."""
        with self._lock:
            self._held = []

    def release(self) -> None:
        """Answer the requests that were held back, and from now on all others at once."""
        with self._lock:
            held, self._held = self._held or [], None
        for handle in held:
            handle()

    def _handle(self, handler: Handler, request: Request, body: Any, respond: Respond) -> None:
        if self._held is not None:  # without the lock: a broker starts once, and answers for years
            with self._lock:
                if self._held is not None:
                    self._held.append(partial(handler, request, body, respond))
                    return
        handler(request, body, respond)
