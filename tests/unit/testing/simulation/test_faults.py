from __future__ import annotations

from random import Random

import pytest

from kafka_lite.testing.simulation.faults import (
    CLUSTER,
    CONNECT,
    HELIX,
    LONGEST_S,
    MIRRORS,
    ONE_BROKER,
    WEIGHTS,
    WORKERS,
    Kind,
    draw_faults,
)


def test_every_kind_has_a_weight_and_a_duration() -> None:
    assert set(LONGEST_S) == set(WEIGHTS) == set(Kind)


def test_only_a_group_of_workers_suffers_what_workers_do() -> None:
    assert not {*CLUSTER, *ONE_BROKER} & set(WORKERS)
    assert set(WORKERS) < set(CONNECT)


def test_only_mirrors_are_killed_as_mirrors_are() -> None:
    assert Kind.KILL_MIRRORS in MIRRORS
    assert Kind.KILL_MIRRORS not in {*CLUSTER, *ONE_BROKER, *CONNECT}


@pytest.mark.parametrize("kinds", [ONE_BROKER, CLUSTER, CONNECT, MIRRORS, HELIX, (Kind.KILL_MIRRORS,)])
def test_faults_are_of_the_kinds_and_no_longer_than_each_may_last(kinds: tuple[Kind, ...]) -> None:
    drawn = [fault for seed in range(50) for fault in draw_faults(Random(seed), kinds)]
    assert {fault.kind for fault in drawn} <= set(kinds)
    assert all(0 <= fault.duration_s <= LONGEST_S[fault.kind] and 0 <= fault.amount < 1 for fault in drawn)


def test_a_seed_always_draws_the_same_faults() -> None:
    assert draw_faults(Random(7), CONNECT) == draw_faults(Random(7), CONNECT)
