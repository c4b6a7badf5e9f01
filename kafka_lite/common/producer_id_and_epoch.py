"""The id and epoch in a producer's batches.

Kafka 0.11: clients/.../common/utils/ProducerIdAndEpoch.java · book 10.3
"""

from __future__ import annotations

from typing import NamedTuple


class ProducerIdAndEpoch(NamedTuple):
    """A producer, and how often its transactional id was initialized; -1 and -1 for none."""

    producer_id: int = -1
    epoch: int = -1
