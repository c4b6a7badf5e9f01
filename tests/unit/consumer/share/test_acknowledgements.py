"""Acknowledgements of single records as ranges of offsets, which a broker reads back as the same."""

from __future__ import annotations

import random

import pytest

from kafka_lite.consumer.share.acknowledgements import AcknowledgementBatch, AcknowledgeType, acknowledgement_batches

GAP, ACCEPT, RELEASE, REJECT = AcknowledgeType


def read_back(batches: list[AcknowledgementBatch]) -> dict[int, int]:
    found = {}
    for batch in batches:
        for index, offset in enumerate(range(batch.first_offset, batch.last_offset + 1)):
            assert offset not in found
            found[offset] = batch.types[0] if len(batch.types) == 1 else batch.types[index]
    return found


def test_records_of_one_fate_are_one_range_with_one_type() -> None:
    assert acknowledgement_batches(dict.fromkeys(range(5, 900), ACCEPT)) == [(5, 899, [1])]
    assert acknowledgement_batches({}) == []


def test_a_gap_between_offsets_ends_a_range() -> None:
    assert acknowledgement_batches({1: ACCEPT, 2: ACCEPT, 4: ACCEPT}) == [(1, 2, [1]), (4, 4, [1])]


def test_short_runs_share_a_range_and_long_ones_have_their_own() -> None:
    types = {0: ACCEPT, 1: REJECT, **dict.fromkeys(range(2, 20), ACCEPT), 20: RELEASE, 21: GAP}
    assert acknowledgement_batches(types) == [(0, 1, [1, 3]), (2, 19, [1]), (20, 21, [2, 0])]


@pytest.mark.parametrize("seed", range(30))
def test_nothing_is_lost(seed: int) -> None:
    rng = random.Random(seed)
    kinds = list(AcknowledgeType)[: rng.randint(1, 4)]
    types = {offset: rng.choice(kinds) for offset in range(rng.randint(0, 90)) if rng.random() < 0.9}
    assert read_back(acknowledgement_batches(types)) == types
