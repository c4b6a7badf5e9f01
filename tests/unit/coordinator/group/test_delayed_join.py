"""A rebalance waits for the members that are known, and the first one of a group for those to come."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.coordinator.group.delayed_join import DelayedJoin, InitialDelayedJoin
from kafka_lite.coordinator.group.group_metadata import GroupMetadata


class Rebalancer:
    """All members have joined once the test says so; it notes the generations and the waits that begin."""

    def __init__(self) -> None:
        self.all_joined = False
        self.generations = 0
        self.watched: list[DelayedJoin] = []

    def try_complete_join(self, group: GroupMetadata, force_complete: Callable[[], bool]) -> bool:
        return self.all_joined and force_complete()

    def on_complete_join(self, group: GroupMetadata) -> None:
        self.generations += 1

    def watch_join(self, delayed_join: DelayedJoin) -> None:
        self.watched.append(delayed_join)


@pytest.fixture
def rebalancer() -> Rebalancer:
    return Rebalancer()


@pytest.fixture
def group() -> GroupMetadata:
    return GroupMetadata("g", MockTime())


def test_a_join_completes_once_when_every_member_has_joined(rebalancer: Rebalancer, group: GroupMetadata) -> None:
    join = DelayedJoin(rebalancer, group, 60_000)
    assert not join.try_complete()
    assert rebalancer.generations == 0
    rebalancer.all_joined = True
    assert join.safe_try_complete()
    assert not join.try_complete()
    assert rebalancer.generations == 1


def test_a_join_that_expires_begins_the_generation_without_the_others(
    rebalancer: Rebalancer, group: GroupMetadata
) -> None:
    join = DelayedJoin(rebalancer, group, 60_000)
    join.run()
    assert rebalancer.generations == 1


def initial(rebalancer: Rebalancer, group: GroupMetadata, delay_ms: int, remaining_ms: int) -> InitialDelayedJoin:
    return InitialDelayedJoin(rebalancer, group, 3_000, delay_ms, remaining_ms)


def test_only_the_clock_completes_the_first_rebalance(rebalancer: Rebalancer, group: GroupMetadata) -> None:
    rebalancer.all_joined = True
    join = initial(rebalancer, group, 3_000, 57_000)
    assert not join.try_complete()
    join.run()
    assert rebalancer.generations == 1
    assert rebalancer.watched == []


def test_without_a_delay_the_first_member_begins_a_generation(rebalancer: Rebalancer, group: GroupMetadata) -> None:
    assert initial(rebalancer, group, 0, 60_000).try_complete()
    assert rebalancer.generations == 1


@pytest.mark.parametrize(
    ("remaining_ms", "waits"), [(57_000, (3_000, 54_000)), (1_000, (1_000, 0))], ids=["once more", "for what is left"]
)
def test_a_new_member_makes_the_first_rebalance_wait_again(
    rebalancer: Rebalancer, group: GroupMetadata, remaining_ms: int, waits: tuple[int, int]
) -> None:
    group.new_member_added = True
    initial(rebalancer, group, 3_000, remaining_ms).run()
    assert rebalancer.generations == 0
    (again,) = rebalancer.watched
    assert again.delay_ms == waits[0]
    assert not group.new_member_added
    group.new_member_added = True
    again.run()
    assert (len(rebalancer.watched), rebalancer.generations) == ((2, 0) if waits[1] else (1, 1))


def test_the_first_rebalance_begins_when_its_time_is_used_up(rebalancer: Rebalancer, group: GroupMetadata) -> None:
    group.new_member_added = True
    initial(rebalancer, group, 3_000, 0).run()
    assert rebalancer.generations == 1
    assert rebalancer.watched == []
