"""Combines the state batches of a share partition with newer ones.

Kafka 4.1: share-coordinator/.../coordinator/share/PersisterStateBatchCombiner.java · book 10.3
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from itertools import pairwise

from kafka_lite.coordinator.share.persister import UNINITIALIZED_START_OFFSET, PersisterStateBatch


def combine_state_batches(
    so_far: Sequence[PersisterStateBatch], new: Sequence[PersisterStateBatch], start_offset: int
) -> tuple[PersisterStateBatch, ...]:
    """The batches in the order of their offsets, without overlaps, and none below ``start_offset`` (-1: no limit).

    Where batches overlap, the higher delivery count wins, then the higher delivery state::

        so far   [10 ─────────── 19] available, 1
        new            [13 ─ 15]     acknowledged, 1
                 ───────────────────────────────────
                 [10-12][13 ─ 15][16 ─ 19]

    So the order of writes does not matter: a retry that comes late changes nothing. Neighbours of the same state become
    one batch. (Kafka leaves some neighbours apart, depending on the order in which it finds overlaps.)
    """
    batches = list(_above(start_offset, (*so_far, *new)))
    if len(batches) < 2:
        return tuple(batches)
    combined: list[PersisterStateBatch] = []
    for batch in _without_overlaps(sorted(batches)):
        last = combined[-1] if combined else None
        if last is not None and last.last_offset + 1 == batch.first_offset and last[2:] == batch[2:]:
            combined[-1] = last._replace(last_offset=batch.last_offset)
        else:
            combined.append(batch)
    return tuple(combined)


def _above(start_offset: int, batches: Iterable[PersisterStateBatch]) -> Iterable[PersisterStateBatch]:
    """The parts of batches at or above the start offset."""
    for batch in batches:
        if start_offset == UNINITIALIZED_START_OFFSET or batch.first_offset >= start_offset:
            yield batch
        elif batch.last_offset >= start_offset:
            yield batch._replace(first_offset=start_offset)


def _without_overlaps(batches: Sequence[PersisterStateBatch]) -> Iterable[PersisterStateBatch]:
    """The winner between each two offsets at which a batch begins or ends; ``batches`` are sorted by first offset."""
    edges = sorted({batch.first_offset for batch in batches} | {batch.last_offset + 1 for batch in batches})
    waiting = iter(batches)
    upcoming = next(waiting, None)
    covering: list[tuple[int, int, int]] = []
    """A heap of (-count, -state, last offset): the winner is first; those that have ended are removed when they are."""
    for left, right in pairwise(edges):
        while upcoming is not None and upcoming.first_offset <= left:
            heapq.heappush(covering, (-upcoming.delivery_count, -upcoming.delivery_state, upcoming.last_offset))
            upcoming = next(waiting, None)
        while covering and covering[0][2] < left:
            heapq.heappop(covering)
        if covering:
            count, state, _ = covering[0]
            yield PersisterStateBatch(left, right - 1, -state, -count)
