"""The faults that a test has put in force, in a whole cluster or in one of its brokers.

Kafka has no such thing; its tests replace parts of the broker · book 2.3.5
"""

from __future__ import annotations

import threading
from typing import Any

from kafka_lite.common.errors import Errors
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.server.kafka_apis import SERVED_VERSIONS
from kafka_lite.testing.fault import Fault
from kafka_lite.testing.request_log import Api


class FaultList:
    """Faults in order of injection; the first one that matches a request applies to it. Thread-safe."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self.unarmed: list[Fault] = []
        """Faults whose once(), times() or always() has not been called yet, or was forgotten."""
        self._lock = threading.Lock()

    def inject(self, api: Api | None, error: Errors | None = None) -> Fault:
        """Define a fault: see ``Fault``. ``api`` None: requests of any API.

        Raises ValueError for an API that is not served, TypeError for an error that is not one of ``Errors``, and
        RuntimeError if an earlier fault was never put in force.
        """
        if error is not None and not isinstance(error, Errors):
            raise TypeError(f"an error must be one of Errors, such as Errors.NOT_LEADER_OR_FOLLOWER, not {error!r}")
        if self.unarmed:
            raise RuntimeError(self.unarmed[0].not_in_force)
        fault = Fault(api, error, self._arm, self._disarm)
        if fault.api is not None and fault.api not in SERVED_VERSIONS:
            raise ValueError(f"this broker does not serve {fault.api.name}, so no fault can be injected into it")
        self.unarmed.append(fault)
        return fault

    @property
    def faults(self) -> list[Fault]:
        """The faults in force."""
        with self._lock:
            return list(self._faults)

    def take(self, key: ApiKey, header: RequestHeader, body: Any, sender: int | None) -> Fault | None:
        """The fault that affects a request, which is counted; ``sender`` is the broker that has sent it, if any."""
        return next((fault for fault in self.faults if fault.takes(key, header, body, sender)), None)

    def clear(self) -> None:
        """Remove all faults."""
        with self._lock:
            self._faults.clear()
        self.unarmed.clear()

    def _arm(self, fault: Fault) -> None:
        with self._lock:
            self._faults.append(fault)
        self.unarmed.remove(fault)

    def _disarm(self, fault: Fault) -> None:
        with self._lock:
            if fault in self._faults:
                self._faults.remove(fault)
