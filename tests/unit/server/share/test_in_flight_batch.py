"""Batches of records in flight, in order."""

from __future__ import annotations

import pytest

from kafka_lite.server.share.in_flight_batch import InFlightBatch, InFlightBatches
from kafka_lite.server.share.in_flight_state import InFlightState
from kafka_lite.server.share.record_state import RecordState

AVAILABLE, ACQUIRED, ACKNOWLEDGED = RecordState.AVAILABLE, RecordState.ACQUIRED, RecordState.ACKNOWLEDGED


def batch(first: int, last: int, state: RecordState = AVAILABLE) -> InFlightBatch:
    return InFlightBatch(first, last, InFlightState(state, 1, "a"))


def batches(*ranges: tuple[int, int]) -> InFlightBatches:
    made = InFlightBatches()
    for each in ranges:
        made.add(batch(*each))
    return made


def ranges(found: object) -> list[tuple[int, int]]:
    return [(each.first_offset, each.last_offset) for each in found]  # type: ignore[attr-defined]


def test_a_batch_has_one_state_until_it_is_divided() -> None:
    made = batch(5, 7)
    assert [(first, last) for first, last, _ in made.parts_within(0, 9)] == [(5, 7)]
    with pytest.raises(AssertionError, match="not divided"):
        list(made.parts_within(6, 9))
    made.divide()
    made.divide()
    assert [(first, last) for first, last, _ in made.parts_within(6, 9)] == [(6, 6), (7, 7)]
    assert [first for first, _, _ in made.parts()] == [5, 6, 7]
    assert made.offsets[5] is not made.offsets[6]


def test_what_is_done_with_ends_at_the_first_record_that_is_not() -> None:
    assert batch(5, 7).done_up_to() == 5
    assert batch(5, 7, ACKNOWLEDGED).done_up_to() == 8
    divided = batch(5, 7, ACQUIRED)
    divided.divide()
    divided.offsets[5].begin(ACKNOWLEDGED, 9)
    assert divided.done_up_to() == 5, "it may be rolled back"
    divided.offsets[5].commit()
    assert divided.done_up_to() == 6


@pytest.mark.parametrize(
    ("first", "last", "found"),
    [
        (0, 4, []),
        (0, 5, [(5, 7)]),
        (6, 6, [(5, 7)]),
        (7, 8, [(5, 7), (8, 9)]),
        (10, 11, []),
        (9, 20, [(8, 9), (12, 15)]),
        (16, 20, []),
    ],
)
def test_batches_are_found_by_offsets(first: int, last: int, found: list[tuple[int, int]]) -> None:
    assert ranges(batches((8, 9), (5, 7), (12, 15)).overlapping(first, last)) == found


def test_batches_do_not_overlap() -> None:
    made = batches((5, 7), (10, 12))
    for first, last in ((7, 8), (8, 10), (5, 5), (11, 11)):
        with pytest.raises(AssertionError, match="overlap"):
            made.add(batch(first, last))


@pytest.mark.parametrize(
    ("offset", "left"),
    [
        (5, [(5, 7), (8, 9), (12, 15)]),
        (7, [(5, 7), (8, 9), (12, 15)]),
        (8, [(8, 9), (12, 15)]),
        (15, [(12, 15)]),
        (16, []),
    ],
)
def test_batches_are_forgotten_from_the_beginning(offset: int, left: list[tuple[int, int]]) -> None:
    made = batches((5, 7), (8, 9), (12, 15))
    made.remove_below(offset)
    assert ranges(made) == left
    assert len(made) == len(left)
    if left:
        assert ranges([made.first, made.last]) == [left[0], left[-1]]
