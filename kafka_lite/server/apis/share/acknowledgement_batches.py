"""Checks what members say of records, before it is compared with what they have acquired.

Kafka 4.1: core/.../server/KafkaApis.scala (validateAcknowledgementBatches) · book 2.3.5
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from kafka_lite.common.errors import Errors
from kafka_lite.server.share.acknowledgement import ShareAcknowledgementBatch
from kafka_lite.server.share.record_state import STATE_OF_ACKNOWLEDGE_TYPE


class Batch(Protocol):
    """A batch of either request."""

    first_offset: int
    last_offset: int
    acknowledge_types: list[int]


Batches = Sequence[Batch]


def valid_batches(batches: Batches) -> list[ShareAcknowledgementBatch]:
    """The batches, if they are in order, and each has one type, or one for each of its offsets.

    Raises INVALID_REQUEST.
    """
    checked = []
    previous_end = -1
    for batch in batches:
        first, last, types = batch.first_offset, batch.last_offset, batch.acknowledge_types
        is_in_order = previous_end < first <= last
        is_complete = len(types) == 1 or len(types) == last - first + 1
        if not is_in_order or not is_complete or any(kind not in STATE_OF_ACKNOWLEDGE_TYPE for kind in types):
            raise Errors.INVALID_REQUEST.exception()
        previous_end = last
        checked.append(ShareAcknowledgementBatch(first, last, types))
    return checked
