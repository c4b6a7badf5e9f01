"""What the producer states of all logs go by, and may change while the broker runs.

Kafka 3.5: storage/.../log/ProducerStateManagerConfig.java · book 6.1.2
"""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_PRODUCER_ID_EXPIRATION_MS = 86_400_000


@dataclass
class ProducerStateManagerConfig:
    """One for all logs, which look at it whenever they expire producers: a change needs no more than an assignment."""

    producer_id_expiration_ms: int = DEFAULT_PRODUCER_ID_EXPIRATION_MS
    """How long a log remembers a producer that does not write to it."""
