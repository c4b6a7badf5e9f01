"""The configuration of producer state, shared by all logs; it can change while the broker runs.

Kafka 3.5: storage/.../log/ProducerStateManagerConfig.java · book 6.1.2
"""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_PRODUCER_ID_EXPIRATION_MS = 86_400_000


@dataclass
class ProducerStateManagerConfig:
    """Shared by all logs, which read it whenever they need it; to reconfigure, assign a new value."""

    producer_id_expiration_ms: int = DEFAULT_PRODUCER_ID_EXPIRATION_MS
    """How long a log remembers a producer that does not write."""
    transaction_verification_enabled: bool = False
    """Whether a transaction's first batch in a log must have been verified with the transaction coordinator."""
