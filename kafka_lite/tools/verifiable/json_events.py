"""Events as JSON lines, for programs that drive the verifiable tools.

Kafka 0.10.2: tools/.../tools/VerifiableConsumer.java (ConsumerEvent, printJson) · book 1.4.1
"""

from __future__ import annotations

import json
import sys
import threading
from typing import TextIO

from kafka_lite.common.time import SYSTEM_TIME, Time


class JsonEvents:
    """Prints one event per line: timestamp, name and fields. Thread-safe; every line is flushed."""

    def __init__(self, out: TextIO | None = None, time: Time = SYSTEM_TIME) -> None:
        self._out = out or sys.stdout
        self._time = time
        self._lock = threading.Lock()

    def print(self, name: str, **fields: object) -> None:
        """Print ``{"timestamp":1795281906604,"name":"startup_complete"}``, for example."""
        event = {"timestamp": self._time.milliseconds(), "name": name, **fields}
        line = json.dumps(event, separators=(",", ":"), ensure_ascii=False)
        with self._lock:
            print(line, file=self._out, flush=True)
