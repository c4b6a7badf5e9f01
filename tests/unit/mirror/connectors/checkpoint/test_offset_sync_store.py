"""Offsets are translated by the last sync before them, never too far, and with few syncs kept."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.connectors.checkpoint.offset_sync_store import TOO_EARLY, OffsetSyncStore
from kafka_lite.mirror.connectors.mirror_records import OffsetSync

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def a_store(*syncs: tuple[int, int]) -> OffsetSyncStore:
    store = OffsetSyncStore()
    store.begin(only_last=False)
    store.read_to_end()
    for upstream, downstream in syncs:
        store.handle_record(OffsetSync(T0, upstream, downstream))
    return store


@pytest.mark.parametrize(
    ("upstream", "downstream"), [(99, TOO_EARLY), (100, 0), (101, 1), (149, 1), (150, 30), (151, 31), (9_999, 31)]
)
def test_an_offset_is_translated_by_the_last_sync_before_it(upstream: int, downstream: int) -> None:
    assert a_store((100, 0), (150, 30)).translate_downstream(T0, upstream) == downstream


def test_a_partition_without_syncs_is_unknown() -> None:
    assert a_store((100, 0)).translate_downstream(T1, 100) is None


def test_nothing_is_translated_before_the_end_was_read_once() -> None:
    store = OffsetSyncStore()
    store.begin(only_last=True)
    for upstream in (100, 150):
        store.handle_record(OffsetSync(T0, upstream, upstream - 100))
    assert store.translate_downstream(T0, 150) is None
    store.read_to_end()
    assert store.translate_downstream(T0, 150) == 50
    assert store.translate_downstream(T0, 149) == TOO_EARLY, "only the last sync counts"


def test_all_syncs_count_if_former_translations_are_known() -> None:
    store = OffsetSyncStore()
    store.begin(only_last=False)
    for upstream in (100, 150):
        store.handle_record(OffsetSync(T0, upstream, upstream - 100))
    assert store.translate_downstream(T0, 150) is None
    store.read_to_end()
    assert store.translate_downstream(T0, 149) == 1
    store.begin(only_last=False)
    store.read_to_end()
    assert store.translate_downstream(T0, 149) is None, "the topic is read from its beginning"


def test_a_source_that_goes_back_makes_earlier_syncs_wrong() -> None:
    store = a_store((100, 0), (150, 30), (20, 40))
    assert store.translate_downstream(T0, 200) == 41
    assert store.translate_downstream(T0, 19) == TOO_EARLY


GAPS = st.lists(st.tuples(st.integers(1, 300), st.integers(1, 5)), min_size=1, max_size=200)
"""How many records lie between two syncs, and how many of the first kind are left out for one that is copied."""


@given(GAPS, st.integers(0, 70_000))
def test_a_translation_is_never_after_the_true_one_and_ascends(gaps: list[tuple[int, int]], upstream: int) -> None:
    position, copied = 0, 0
    syncs = []
    for records, fraction in gaps:
        syncs.append((position, copied))
        position += records
        copied += max(1, records // fraction)
    store = a_store(*syncs)
    found = store.translate_downstream(T0, upstream)
    before, true = max(pair for pair in syncs if pair[0] <= upstream)
    assert found is not None
    assert found <= true + (upstream != before)
    later = store.translate_downstream(T0, upstream + 1)
    assert later is not None
    assert later >= found
    kept = store._syncs[T0]
    assert (kept[0].upstream_offset, kept[0].downstream_offset) == syncs[-1]
    assert (kept[-1].upstream_offset, kept[-1].downstream_offset) == syncs[0]
    assert len(set(kept)) <= syncs[-1][0].bit_length() + 3


@given(GAPS)
def test_each_place_has_a_sync_that_is_near_enough_and_apart_from_the_one_before(gaps: list[tuple[int, int]]) -> None:
    store, position = a_store(), 0
    for records, _ in gaps:
        store.handle_record(OffsetSync(T0, position, position))
        position += records
        kept = [sync.upstream_offset for sync in store._syncs[T0]]
        for newer, older in combinations(range(20), 2):
            if kept[newer] != kept[older]:
                assert kept[newer] <= kept[older] + (1 << older) - (1 << newer)
                assert kept[newer] >= kept[older] + (1 << max(newer - 2, 0))


@given(st.integers(2, 400), st.data())
def test_a_group_reads_again_a_few_times_its_lag_at_most(count: int, data: st.DataObject) -> None:
    store = a_store(*((number, number) for number in range(count)))
    lag = data.draw(st.integers(0, count - 1))
    upstream = count - 1 - lag
    found = store.translate_downstream(T0, upstream)
    assert found is not None
    assert found != TOO_EARLY, "the first sync is kept"
    assert upstream - found <= 4 * max(1, lag)
