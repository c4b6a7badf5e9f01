"""Wall clocks of simulated processes are off by what the seed says, and jump; the time between two events does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lite.testing.simulation.machine import Process
from kafka_lite.testing.simulation.system.clocks import UPTIME_NS
from kafka_lite.testing.simulation.system.kernel import EPOCH_NS
from kafka_lite.testing.simulation.world import World

SECOND_NS = 10**9


def started(world: World, name: str) -> Process:
    return world.machine("m").start("time:sleep", 100.0, name=name)


def ahead_s(world: World, process: Process) -> float:
    """How far the wall clock is ahead of the world's."""
    return float(process.module("time").time_ns() - EPOCH_NS - world.scheduler.now_ns) / SECOND_NS


def test_each_name_has_its_own_skew_and_keeps_it_when_it_starts_again(tmp_path: Path) -> None:
    def scenario(world: World) -> dict[str, float]:
        world.max_skew_ns = 100 * SECOND_NS
        skews = {name: ahead_s(world, started(world, name)) for name in ("a", "b")}
        assert ahead_s(world, started(world, "a")) == pytest.approx(skews["a"])
        return skews

    skews, again, others = (World(seed, tmp_path).run(scenario) for seed in (1, 1, 2))
    assert skews == again
    assert skews != others
    assert skews["a"] != skews["b"]
    assert all(abs(skew) <= 100 for skew in skews.values())


def test_a_jump_moves_the_wall_clocks_of_a_machine_and_no_monotonic_clock(tmp_path: Path) -> None:
    def scenario(world: World) -> None:
        process, other = started(world, "a"), world.machine("other").start("time:sleep", 100.0)
        world.machine("m").set_wall_clock(-50 * SECOND_NS)
        assert ahead_s(world, process) == pytest.approx(-50)
        assert ahead_s(world, started(world, "later")) == pytest.approx(-50)
        assert ahead_s(world, other) == pytest.approx(0)
        assert process.module("time").monotonic_ns() == world.scheduler.now_ns + UPTIME_NS

    World(1, tmp_path).run(scenario)


def test_without_a_skew_wall_clocks_agree(tmp_path: Path) -> None:
    def scenario(world: World) -> None:
        assert ahead_s(world, started(world, "a")) == pytest.approx(0)

    World(1, tmp_path).run(scenario)
