"""The offset cache: it ends with the last commit in the log, in whatever order appends complete."""

from __future__ import annotations

from itertools import permutations

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.offset_and_metadata import OffsetAndMetadata
from kafka_lite.coordinator.group.offset_cache import CommittedOffset, OffsetCache

TP, OTHER = TopicPartition("topic", 0), TopicPartition("topic", 1)


def offset(number: int, commit_timestamp_ms: int = 0) -> OffsetAndMetadata:
    return OffsetAndMetadata(number, "", commit_timestamp_ms)


@pytest.fixture
def cache() -> OffsetCache:
    return OffsetCache()


def test_an_offset_can_be_fetched_only_once_it_is_in_the_log(cache: OffsetCache) -> None:
    wanted = {TP: offset(7)}
    cache.prepare_commit(wanted)
    assert cache.get(TP) is None
    assert cache.is_pending(TP)
    assert not cache.is_empty
    cache.on_commit_append(wanted, appended_offset=0)
    assert cache.get(TP) == offset(7)
    assert not cache.is_pending(TP)
    assert len(cache) == 1


def test_a_refused_commit_leaves_the_old_offset(cache: OffsetCache) -> None:
    cache.initialize({TP: CommittedOffset(3, offset(7))})
    wanted = {TP: offset(9), OTHER: offset(1)}
    cache.prepare_commit(wanted)
    cache.fail_commit(wanted)
    assert cache.all_offsets() == {TP: offset(7)}
    assert not cache.is_pending(TP)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_commit_that_is_last_in_the_log_wins(cache: OffsetCache, order: tuple[int, ...]) -> None:
    # Equal values are separate commits, too.
    commits = [{TP: offset(5)}, {TP: offset(5)}, {TP: offset(9)}]
    for commit in commits:
        cache.prepare_commit(commit)
    for number in order:
        cache.on_commit_append(commits[number], appended_offset=(10, 12, 11)[number])
    assert cache.get(TP) == offset(5)
    assert not cache.is_pending(TP)


def test_an_offset_deleted_during_its_commit_stays_deleted(cache: OffsetCache) -> None:
    wanted = {TP: offset(7)}
    cache.prepare_commit(wanted)
    assert cache.remove([TP]) == {}
    cache.on_commit_append(wanted, appended_offset=0)
    assert cache.is_empty


def test_a_commit_after_a_deletion_counts_even_if_an_older_append_completes_later(cache: OffsetCache) -> None:
    old, new = {TP: offset(7)}, {TP: offset(8)}
    cache.prepare_commit(old)
    cache.remove([TP])
    cache.prepare_commit(new)
    cache.on_commit_append(old, appended_offset=0)
    assert cache.get(TP) is None
    cache.on_commit_append(new, appended_offset=1)
    assert cache.get(TP) == offset(8)


def test_remove_returns_the_committed_offsets(cache: OffsetCache) -> None:
    cache.initialize({TP: CommittedOffset(0, offset(7))})
    assert cache.remove([TP, OTHER]) == {TP: offset(7)}
    assert cache.is_empty


def test_expiry_spares_partitions_with_a_pending_commit(cache: OffsetCache) -> None:
    cache.initialize({TP: CommittedOffset(0, offset(1)), OTHER: CommittedOffset(0, offset(2))})
    cache.prepare_commit({TP: offset(3)})
    assert cache.remove_if(lambda _tp, _offset: True) == {OTHER: offset(2)}
    assert cache.all_offsets() == {TP: offset(1)}


def test_a_late_append_does_not_bring_an_earlier_commit_of_the_transaction_back(cache: OffsetCache) -> None:
    first, second = {TP: offset(1)}, {TP: offset(2)}
    cache.prepare_txn_commit(7, first)
    cache.prepare_txn_commit(7, second)
    cache.on_txn_commit_append(7, first, appended_offset=10)
    cache.complete_txn(7, commit=True)
    assert cache.get(TP) == offset(2)


def test_a_transaction_whose_only_commit_was_refused_has_nothing_here(cache: OffsetCache) -> None:
    refused = {TP: offset(1)}
    cache.prepare_txn_commit(7, refused)
    cache.fail_txn_commit(7, refused)
    assert cache.is_empty
    assert not cache.producers_in_txn
