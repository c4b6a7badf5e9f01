"""Task 2: what the next request asks for."""

import pytest

from kafka_lite.mirror.ureplicator.worker.compact_fetcher_maps import AddedPartition, FetcherMaps


@pytest.mark.points(7, task=2)
def test_come_and_go(info, zero, one):
    """t-1 is fetched; t-0 is added, t-1 removed"""
    maps, added = FetcherMaps(), AddedPartition(info(), 7)
    maps.add(zero, added)
    maps.remove([one])
    found = maps.begin_round({one})
    assert tuple(found) == ({one}, {zero: added}), f"t-1 goes, t-0 comes; yours: {found}"
    found = maps.begin_round({zero})
    assert tuple(found) == (set(), {}), f"a change happens once; in the next round yours has {found}"
    found = maps.begin_round({zero, one})
    assert tuple(found) == (set(), {}), f"t-1 is fetched again, and its removal is over; yours: {found}"
    found = maps.begin_round(set())
    assert tuple(found) == (set(), {}), f"t-0 is not fetched any more, and was added only once; yours: {found}"
    both = {partition: AddedPartition(info(partition), 7) for partition in (zero, one)}
    for partition, each in both.items():
        maps.add(partition, each)
    found = maps.begin_round(set())
    assert tuple(found) == (set(), both), f"both partitions come in this round; yours: {found}"


@pytest.mark.points(6, task=2)
def test_it_is_fetched_already(info, zero):
    """t-0 is fetched, and added"""
    maps = FetcherMaps()
    maps.add(zero, AddedPartition(info(), 3))
    found = maps.begin_round({zero})
    assert tuple(found) == (set(), {}), f"a partition that stays keeps its offset; yours: {found}"


@pytest.mark.points(6, task=2)
def test_removed_and_added(info, zero):
    """t-0 is fetched, removed, and added again"""
    maps, added = FetcherMaps(), AddedPartition(info(), 3)
    maps.remove([zero])
    maps.add(zero, added)
    found = maps.begin_round({zero})
    assert tuple(found) == ({zero}, {zero: added}), f"it goes and comes, from offset 3 on; yours: {found}"
    maps.add(zero, added)
    maps.remove([zero])
    found = maps.begin_round(set())
    assert tuple(found) == (set(), {}), f"added and then removed: there is nothing to do; yours: {found}"


@pytest.mark.points(6, task=2)
def test_count(info, zero, one):
    """A fetcher that is about to get a partition is not idle"""
    maps = FetcherMaps()
    maps.add(zero, AddedPartition(info(), 3))
    assert maps.count(set()) == 1, f"t-0 is to be added: 1 partition; yours: {maps.count(set())}"
    assert maps.count({zero, one}) == 2, f"t-0 counts once; yours: {maps.count({zero, one})}"
    maps.remove([zero, one])
    assert maps.count({zero, one}) == 0, f"both are removed; yours: {maps.count({zero, one})}"
