"""Task 1: what the leader finder sees in each round."""

import pytest

from kafka_lite.mirror.ureplicator.worker.compact_fetcher_maps import ManagerMaps


@pytest.mark.points(6, task=1)
def test_a_partition_comes(info, zero):
    """t-0 is added"""
    maps, added = ManagerMaps(), info()
    maps.add(added)
    assert maps.owned == {}, "a change counts from the next round on: add must not touch owned"
    removed = maps.begin_round()
    assert removed == frozenset(), f"no fetcher has to give anything up; yours: {removed}"
    assert maps.owned == {zero: added}, f"t-0 is owned from this round on; yours: {maps.owned}"
    assert maps.without_leader == {zero}, f"its leader has to be looked up; yours: {maps.without_leader}"


@pytest.mark.points(6, task=1)
def test_a_partition_goes(owning, zero, one):
    """t-0 and t-1 are fetched, t-0 is removed"""
    maps = owning(zero, one)
    owned = maps.owned
    maps.remove(zero)
    assert zero in maps.owned, "a change counts from the next round on: remove must not touch owned"
    removed = maps.begin_round()
    assert removed == {zero}, f"its fetcher must give t-0 up; yours: {removed}"
    assert list(maps.owned) == [one], f"only t-1 is left; yours: {list(maps.owned)}"
    assert maps.owned is owned, "fetchers hold the dict owned: change it in place"
    again = maps.begin_round()
    assert again == frozenset(), f"a removal is told once; in the next round yours tells {set(again)}"
    maps = owning(zero, one)
    for partition in (zero, one):
        maps.remove(partition)
    maps.begin_round()
    assert maps.owned == {}, f"both were removed, so none is owned; yours still owns {list(maps.owned)}"


@pytest.mark.points(5, task=1)
def test_others_are_not_touched(owning, info, zero, one):
    """t-0 is fetched, t-1 is added"""
    maps = owning(zero)
    maps.add(info(one))
    maps.begin_round()
    assert maps.without_leader == {one}, (
        f"t-0 has its leader, and is not looked up because of t-1; yours: {maps.without_leader}"
    )


@pytest.mark.points(6, task=1)
def test_removed_and_added_again(owning, info, zero):
    """t-0 is removed, and added again before the next round"""
    maps, again = owning(zero), info(offset=3)
    maps.remove(zero)
    maps.add(again)
    removed = maps.begin_round()
    assert removed == {zero}, f"its fetcher must hear of it, or it keeps the old offset; yours: {set(removed)}"
    assert maps.owned.get(zero) is again, "removals come first: t-0 is owned, in its new state"
    assert maps.without_leader == {zero}, "and its leader has to be looked up"


@pytest.mark.points(6, task=1)
def test_added_and_removed(info, zero):
    """t-0 is added, and removed before the next round"""
    maps = ManagerMaps()
    maps.add(info())
    maps.remove(zero)
    removed = maps.begin_round()
    assert (removed, maps.owned, maps.without_leader) == (frozenset(), {}, set()), (
        f"nobody has fetched t-0, and nobody shall; yours: removed {set(removed)}, owned {list(maps.owned)}"
    )
    maps.add(info())
    maps.begin_round()
    maps.remove(zero)
    maps.begin_round()
    assert maps.without_leader == set(), "t-0 was removed before its leader was found: nobody looks for it any more"


@pytest.mark.points(6, task=1)
def test_a_partition_with_an_error(owning, zero, one):
    """Both have an error, and t-0 is removed"""
    maps = owning(zero, one)
    maps.failed([zero, one])
    maps.remove(zero)
    maps.begin_round()
    assert maps.without_leader == {one}, (
        f"look for the leader of t-1, and not for that of t-0, which was removed; yours: {maps.without_leader}"
    )
    maps.failed([zero])
    maps.begin_round()
    assert zero not in maps.without_leader, "an error of a partition that is not owned is of no interest"
    maps.leaders_found([one])
    maps.begin_round()
    assert maps.without_leader == set(), "t-1 has its new leader: an error counts for one round, not for every one"
