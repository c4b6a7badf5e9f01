"""The fates of records that were delivered to a share consumer, as ranges of offsets.

Kafka 4.1: clients/.../consumer/AcknowledgeType.java, clients/.../consumer/internals/Acknowledgements.java · book 4.4.2
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from itertools import groupby
from typing import NamedTuple

MAX_SHORT_RUN = 10
"""A longer run of records with the same type becomes a range of its own, which has one type for all."""


class AcknowledgeType(IntEnum):
    """The fate of a record. The number is the one on the wire."""

    GAP = 0
    """There is no record at this offset. Nobody says so but the consumer itself."""
    ACCEPT = 1
    """It was processed."""
    RELEASE = 2
    """It was not processed, and may be delivered again."""
    REJECT = 3
    """It cannot be processed, and must not be delivered again."""


class AcknowledgementBatch(NamedTuple):
    """A range of offsets."""

    first_offset: int
    last_offset: int
    """Inclusive."""
    types: list[int]
    """One for all offsets, or one for each."""


def acknowledgement_batches(types: Mapping[int, AcknowledgeType]) -> list[AcknowledgementBatch]:
    """The ranges for these offsets.

    ::

        offset  10  11  12  14 …  33  34  35
        type     A   A   R   A …   A   R   A     ─▶  10–12 [A, A, R] · 14–33 [A] · 34–35 [R, A]
    """
    found: list[AcknowledgementBatch] = []
    offsets = sorted(types)
    for _, run in groupby(enumerate(offsets), lambda numbered: numbered[1] - numbered[0]):
        found += _batches_of_run([offset for _, offset in run], types)
    return found


def _batches_of_run(offsets: list[int], types: Mapping[int, AcknowledgeType]) -> list[AcknowledgementBatch]:
    """The ranges for offsets without gaps in between."""
    found: list[AcknowledgementBatch] = []
    mixed: list[int] = []
    for _, group in groupby(offsets, lambda offset: types[offset]):
        same = list(group)
        if len(same) > MAX_SHORT_RUN:
            found += [_batch(mixed, types), _batch(same, types)] if mixed else [_batch(same, types)]
            mixed = []
        else:
            mixed += same
    return [*found, _batch(mixed, types)] if mixed else found


def _batch(offsets: list[int], types: Mapping[int, AcknowledgeType]) -> AcknowledgementBatch:
    numbers = [int(types[offset]) for offset in offsets]
    is_uniform = len(set(numbers)) == 1
    return AcknowledgementBatch(offsets[0], offsets[-1], numbers[:1] if is_uniform else numbers)
