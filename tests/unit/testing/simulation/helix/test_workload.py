"""The faults of a cluster of Helix, on programs that only sleep."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_lite.testing.simulation.cluster import PROGRAMS, ZOOKEEPER
from kafka_lite.testing.simulation.faults import HELIX, Fault, Kind
from kafka_lite.testing.simulation.helix.workload import _APPLY, HELIX_PROGRAMS, HelixWorkload
from kafka_lite.testing.simulation.system.modules import PACKAGES, Modules
from kafka_lite.testing.simulation.world import World

SLEEP = f"{__name__}:sleep"
OF_CONTROLLER, OF_SECOND_PARTICIPANT = 0.0, 0.9
LASTS_S = 4.0


def sleep(*_: object) -> None:
    """A program that does nothing, whatever it is given."""
    time.sleep(10_000)


def play(folder: Path, course: Callable[[HelixWorkload], None]) -> None:
    """A controller and two participants run; what goes wrong is the course's."""

    def run(world: World) -> None:
        programs = (HELIX_PROGRAMS + name for name in ("administrator", "controller", "participant"))
        world.substitutes.update(dict.fromkeys((PROGRAMS + "zookeeper", *programs), SLEEP))
        work = HelixWorkload(world)
        work.facts.is_set_up = True
        work.start(1, 2, 0.1)
        course(work)

    World(1, folder, modules=lambda: Modules((*PACKAGES, "tests"))).run(run)


def test_each_kind_can_be_suffered() -> None:
    assert set(_APPLY) == set(HELIX)


@pytest.mark.parametrize(("amount", "which"), [(OF_CONTROLLER, 0), (OF_SECOND_PARTICIPANT, 2)])
def test_a_member_is_killed_and_another_process_gets_its_name(amount: float, which: int, tmp_path: Path) -> None:
    def course(work: HelixWorkload) -> None:
        before = [member.process for member in work.members]
        work.suffer(Fault(Kind.KILL_CONSUMER, LASTS_S, 0.0, amount))
        after = [member.process for member in work.members]
        assert [old is new for old, new in zip(before, after, strict=True)] == [number != which for number in range(3)]
        assert (before[which].exit_code, after[which].name) == (-9, before[which].name)
        assert after[which].is_running

    play(tmp_path, course)


@pytest.mark.parametrize(
    ("kind", "there", "back"),
    [(Kind.CUT_ZOOKEEPER, True, True), (Kind.CUT_REQUESTS, True, False), (Kind.CUT_RESPONSES, False, True)],
)
def test_a_member_is_cut_off_from_zookeeper(kind: Kind, there: bool, back: bool, tmp_path: Path) -> None:
    def course(work: HelixWorkload) -> None:
        network, name = work.world.network, work.members[2].machine.name
        cut: list[tuple[bool, bool]] = []

        def look() -> None:
            work.world.sleep(LASTS_S / 2)
            cut.append((network.link(name, ZOOKEEPER).is_cut, network.link(ZOOKEEPER, name).is_cut))

        work.world.in_background("look", look)
        work.suffer(Fault(kind, LASTS_S, 0.0, OF_SECOND_PARTICIPANT))
        assert cut == [(there, back)]
        assert not network.link(name, ZOOKEEPER).is_cut
        assert not network.link(ZOOKEEPER, name).is_cut

    play(tmp_path, course)


def test_a_member_is_paused_and_zookeeper_is_killed_meanwhile(tmp_path: Path) -> None:
    def course(work: HelixWorkload) -> None:
        zookeeper, process = work.zookeeper.running(), work.members[1].process
        pausing = Fault(Kind.PAUSE_CONSUMER, LASTS_S, 0.0, 0.5)
        work.world.in_background("pause", lambda: work.suffer(pausing))
        work.world.sleep(LASTS_S / 4)
        assert process.pauses[-1].ended_ns is None
        work.suffer(Fault(Kind.KILL_ZOOKEEPER, LASTS_S / 4, 0.0, 0.5))
        assert zookeeper.exit_code == -9
        assert work.zookeeper.running().is_running
        work.world.sleep(LASTS_S)
        assert process.pauses[-1].ended_ns is not None

    play(tmp_path, course)
