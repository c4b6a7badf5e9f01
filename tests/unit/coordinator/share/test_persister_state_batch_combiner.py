"""Batches of state are combined: where they overlap, the higher delivery count wins, then the higher state."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from kafka_lite.coordinator.share.persister import PersisterStateBatch
from kafka_lite.coordinator.share.persister_state_batch_combiner import combine_state_batches
from tests.support.share_coordinators import batch

NO_LIMIT = -1
CASES = {
    "nothing": ([], [], NO_LIMIT, []),
    "only new": ([], [batch(0, 9)], NO_LIMIT, [batch(0, 9)]),
    "only old": ([batch(0, 9)], [], NO_LIMIT, [batch(0, 9)]),
    "a gap stays": ([batch(0, 4)], [batch(6, 9)], NO_LIMIT, [batch(0, 4), batch(6, 9)]),
    "neighbours of one state": ([batch(0, 4)], [batch(5, 9)], NO_LIMIT, [batch(0, 9)]),
    "neighbours of two states": ([batch(0, 4)], [batch(5, 9, 2)], NO_LIMIT, [batch(0, 4), batch(5, 9, 2)]),
    "the same again": ([batch(0, 9, 2)], [batch(0, 9, 2)], NO_LIMIT, [batch(0, 9, 2)]),
    "overlap of one state": ([batch(0, 6)], [batch(4, 9)], NO_LIMIT, [batch(0, 9)]),
    "a higher state within": (
        [batch(0, 9)],
        [batch(3, 5, 2)],
        NO_LIMIT,
        [batch(0, 2), batch(3, 5, 2), batch(6, 9)],
    ),
    "a lower state within": ([batch(0, 9, 2)], [batch(3, 5, 0)], NO_LIMIT, [batch(0, 9, 2)]),
    "the count before the state": ([batch(0, 9, 4, 1)], [batch(0, 9, 0, 2)], NO_LIMIT, [batch(0, 9, 0, 2)]),
    "a higher state at the end": ([batch(0, 9)], [batch(5, 9, 2)], NO_LIMIT, [batch(0, 4), batch(5, 9, 2)]),
    "a higher state over the end": ([batch(0, 9)], [batch(5, 12, 2)], NO_LIMIT, [batch(0, 4), batch(5, 12, 2)]),
    "a lower state over the end": ([batch(0, 9, 2)], [batch(5, 12)], NO_LIMIT, [batch(0, 9, 2), batch(10, 12)]),
    "one over all": ([batch(1, 2), batch(4, 5), batch(7, 8)], [batch(0, 9, 4)], NO_LIMIT, [batch(0, 9, 4)]),
    "below the start": ([batch(0, 4)], [batch(5, 9)], 10, []),
    "across the start": ([batch(0, 9, 2)], [], 5, [batch(5, 9, 2)]),
    "start of zero": ([batch(0, 9)], [], 0, [batch(0, 9)]),
}


@pytest.mark.parametrize("case", CASES)
def test_batches_are_combined(case: str) -> None:
    so_far, new, start_offset, combined = CASES[case]
    assert list(combine_state_batches(so_far, new, start_offset)) == combined


@pytest.mark.parametrize("seed", range(40))
def test_each_offset_has_the_state_that_wins(seed: int) -> None:
    rng = random.Random(seed)

    def some() -> list[PersisterStateBatch]:
        firsts = [rng.randrange(40) for _ in range(rng.randrange(8))]
        return [batch(first, first + rng.randrange(12), rng.choice((0, 2, 4)), rng.randint(1, 3)) for first in firsts]

    so_far, new, start_offset = some(), some(), rng.choice((NO_LIMIT, rng.randrange(30)))
    expected: dict[int, tuple[int, int]] = {}
    for first, last, state, count in (*so_far, *new):
        for offset in range(max(first, start_offset), last + 1):
            expected[offset] = max(expected.get(offset, (0, 0)), (count, state))

    combined = combine_state_batches(so_far, new, start_offset)

    found = {offset: (each[3], each[2]) for each in combined for offset in range(each[0], each[1] + 1)}
    assert found == expected
    assert sum(each.last_offset - each.first_offset + 1 for each in combined) == len(expected)
    assert combine_state_batches(new, so_far, start_offset) == combined or len(so_far) + len(new) < 2


@pytest.mark.parametrize("seed", range(20))
def test_combined_batches_cannot_be_combined_further(seed: int) -> None:
    rng = random.Random(seed)
    some = [batch(first, first + rng.randrange(5), rng.choice((0, 2))) for first in rng.sample(range(60), 20)]
    combined = combine_state_batches(some, [], NO_LIMIT)
    assert combine_state_batches(combined, [], NO_LIMIT) == combined
    for left, right in pairwise(combined):
        assert left.last_offset < right.first_offset
        assert left.last_offset + 1 < right.first_offset or left[2:] != right[2:]
