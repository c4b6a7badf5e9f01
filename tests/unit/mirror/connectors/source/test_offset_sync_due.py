"""A sync is due for the first record, when the last one is too old, and when the difference of offsets changes."""

from __future__ import annotations

import pytest

from kafka_lite.mirror.connectors.source.offset_sync_due import OffsetSyncDue


def dues(max_offset_lag: int, *offsets: tuple[int, int]) -> list[bool]:
    state = OffsetSyncDue(max_offset_lag)
    found = []
    for upstream, downstream in offsets:
        found.append(state.update(upstream, downstream))
        state.written()
    return found


@pytest.mark.parametrize(
    ("max_offset_lag", "offsets", "due"),
    [
        (50, [(5, 0), (6, 1), (7, 2)], [True, False, False]),
        (50, [(5, 0), (6, 1), (8, 2), (9, 3)], [True, False, True, False]),
        (2, [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6)], [True, False, False, True, False, False, True]),
        (50, [(0, 100), (1, 101), (2, 5)], [True, False, True]),
        (50, [(10, 0), (3, 1)], [True, True]),
        (0, [(0, 0), (1, 1)], [True, True]),
    ],
)
def test_when_a_sync_is_due(max_offset_lag: int, offsets: list[tuple[int, int]], due: list[bool]) -> None:
    assert dues(max_offset_lag, *offsets) == due


def test_it_stays_due_until_it_is_written() -> None:
    state = OffsetSyncDue(50)
    assert state.update(0, 0)
    assert state.update(1, 1)
    state.written()
    assert not state.is_due
    assert not state.update(2, 2)
