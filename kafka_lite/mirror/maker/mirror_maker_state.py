"""The flags and counters that all threads of a MirrorMaker share.

Kafka 0.10.2: core/.../tools/MirrorMaker.scala (MirrorMaker) · book 8.1.2
"""

from __future__ import annotations

import threading


class MirrorMakerState:
    """Whether the mirror is about to end, and what became of its records. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.exiting_on_send_failure = False
        """A record is lost, or a thread has failed. From now on nothing is sent, and no offset is committed."""
        self.acknowledged = 0
        """Records that the target cluster has acknowledged."""
        self.num_dropped_messages = 0
        """Records that could not be sent. Their offsets may be committed nevertheless."""

    def count_acknowledged(self) -> None:
        """Count a record that the target has."""
        with self._lock:
            self.acknowledged += 1

    def count_dropped(self) -> None:
        """Count a record that could not be sent."""
        with self._lock:
            self.num_dropped_messages += 1
