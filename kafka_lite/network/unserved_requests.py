"""Tells the operator which clients ask for what this broker does not serve, since the clients often cannot tell.

Kafka 0.10.2: none; there InvalidRequestException is logged for every request · book 2.3.2
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from typing import Final

logger = logging.getLogger(__name__)

MAX_REMEMBERED: Final = 1000
"""How many clients and APIs are remembered; beyond that, the least recently seen is dropped."""
MAX_CLIENT_ID_LENGTH: Final = 100
"""How much of a client id is shown and remembered: it can have 32,767 bytes."""

_FEATURES: Final = (
    ("share groups", (76, 77, 78, 79)),
    ("groups of Streams, KIP-1071", (88, 89)),
)
FEATURE_OF_API: Final = {key: feature for feature, keys in _FEATURES for key in keys}
"""The missing feature that an API belongs to, by API key; not every API belongs to one."""


class UnservedRequests:
    """Logs one line per client and API, however often the client tries. Any thread may call it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, str, str], None] = OrderedDict()

    def report(self, client_id: str | None, client_address: str, asked_for: str, outcome: str) -> None:
        """``asked_for`` is the API's name, with what it is about; ``outcome`` is what becomes of the request."""
        client = (client_id or "")[:MAX_CLIENT_ID_LENGTH]
        level = logging.WARNING if self._is_new((client, client_address, asked_for)) else logging.DEBUG
        logger.log(
            level,
            "Client %r at %s asks for %s, which this broker does not serve yet: %s",
            client,
            client_address,
            asked_for,
            outcome,
        )

    def _is_new(self, question: tuple[str, str, str]) -> bool:
        with self._lock:
            is_new = question not in self._known
            self._known[question] = None
            self._known.move_to_end(question)
            if len(self._known) > MAX_REMEMBERED:
                self._known.popitem(last=False)
        return is_new


def describe_api(key: int, name: str) -> str:
    """``AddPartitionsToTxn (transactions)``."""
    feature = FEATURE_OF_API.get(key)
    return f"{name} ({feature})" if feature else name
