"""The faults of source, target and mirrors, on programs that only sleep."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_lite.testing.simulation.cluster import PROGRAMS
from kafka_lite.testing.simulation.faults import Fault, Kind
from kafka_lite.testing.simulation.machine import Process
from kafka_lite.testing.simulation.mirror.workload import MIRROR_PROGRAMS, TARGET, MirrorWorkload
from kafka_lite.testing.simulation.system.modules import PACKAGES, Modules
from kafka_lite.testing.simulation.world import World

SLEEP = f"{__name__}:sleep"
OF_SOURCE, OF_TARGET = 0.002, 0.001
LASTS_S = 4.0


def sleep(*_: object) -> None:
    """A program that does nothing, whatever it is given."""
    time.sleep(10_000)


def play(folder: Path, course: Callable[[MirrorWorkload], None]) -> None:
    """Both brokers and two mirrors run; what goes wrong is the course's."""

    def run(world: World) -> None:
        for program in (PROGRAMS + "broker", MIRROR_PROGRAMS + "mirror"):
            world.substitutes[program] = SLEEP
        work = MirrorWorkload(world)
        work.cluster.start()
        work.target.start()
        for number in range(2):
            work.mirror(f"mirror-{number}", 1, 200)
        course(work)

    World(1, folder, modules=lambda: Modules((*PACKAGES, "tests"))).run(run)


def mirrors(work: MirrorWorkload) -> list[Process]:
    return [client for client in work.clients if client.is_running]


@pytest.mark.parametrize("amount", [OF_SOURCE, OF_TARGET])
def test_a_brokers_fault_is_one_of_the_source_or_of_the_target(amount: float, tmp_path: Path) -> None:
    def course(work: MirrorWorkload) -> None:
        brokers = [work.cluster.brokers[0], work.target.brokers[0]]
        assert [broker.machine.name for broker in brokers] == ["broker", TARGET]
        before = [broker.process for broker in brokers]
        work.apply(Fault(Kind.KILL, LASTS_S, 0.0, amount))
        after = [broker.process for broker in brokers]
        assert [old is new for old, new in zip(before, after, strict=True)] == [
            amount == OF_TARGET,
            amount == OF_SOURCE,
        ]
        assert all(broker.running().is_running for broker in brokers)

    play(tmp_path, course)


@pytest.mark.parametrize(("amount", "reaches_the_target"), [(0.1, True), (0.9, False)])
def test_mirrors_are_killed_while_nothing_is_acknowledged(
    amount: float, reaches_the_target: bool, tmp_path: Path
) -> None:
    def course(work: MirrorWorkload) -> None:
        network, old = work.world.network, mirrors(work)
        cut: list[tuple[bool, bool]] = []

        def look() -> None:
            work.world.sleep(LASTS_S / 2)
            cut.append((network.link("clients", TARGET).is_cut, network.link(TARGET, "clients").is_cut))

        work.world.in_background("look", look)
        work.apply(Fault(Kind.KILL_MIRRORS, LASTS_S, 0.0, amount))
        assert cut == [(not reaches_the_target, True)]
        assert not network.link("clients", TARGET).is_cut
        assert not network.link(TARGET, "clients").is_cut
        assert not any(each.is_running for each in old)
        assert [each.name for each in mirrors(work)] == ["mirror-0+", "mirror-1+"]

    play(tmp_path, course)


def test_a_fault_of_mirrors_leaves_the_brokers_alone(tmp_path: Path) -> None:
    def course(work: MirrorWorkload) -> None:
        work.apply(Fault(Kind.KILL_CONSUMER, LASTS_S, 0.0, OF_TARGET))
        assert [each.name for each in mirrors(work)] == ["mirror-1", "mirror-0+"]

    play(tmp_path, course)
