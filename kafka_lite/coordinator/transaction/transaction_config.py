"""The part of the broker's configuration that the transaction coordinator needs.

Kafka 0.11: core/.../coordinator/transaction/TransactionConfig (in TransactionStateManager.scala) · book 10.3
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TransactionConfig:
    """Values of ``transaction.*`` and ``transactional.id.*``; times in ms."""

    topic_num_partitions: int = 50
    load_buffer_size: int = 5 * 1024 * 1024
    max_timeout_ms: int = 15 * 60 * 1000
    """``transaction.max.timeout.ms``: a producer may not ask for a longer timeout."""

    transactional_id_expiration_ms: int = 7 * 24 * 3600 * 1000
    remove_expired_interval_ms: int = 3600 * 1000
    abort_timed_out_interval_ms: int = 10 * 1000
    request_timeout_ms: int = 30_000
    """How long an append to ``__transaction_state`` may wait for its followers."""
