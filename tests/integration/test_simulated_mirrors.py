"""MirrorMakers in the simulator: they are killed and paused, and so are the brokers of source and target."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from kafka_lite.testing.simulation.faults import Fault, Kind
from kafka_lite.testing.simulation.mirror.facts import ORIGINALS
from kafka_lite.testing.simulation.mirror.verdict import COPY_LOST, OUT_OF_ORDER
from kafka_lite.testing.simulation.mirror.workload import MIRROR_PROGRAMS, MirrorWorkload
from kafka_lite.testing.simulation.programs import Load
from kafka_lite.testing.simulation.system.modules import PACKAGES, Modules
from kafka_lite.testing.simulation.workload import Result
from kafka_lite.testing.simulation.world import World

pytestmark = [
    pytest.mark.soak,
    pytest.mark.nightly,
    pytest.mark.timeout(900),
    pytest.mark.skipif(sys.version_info >= (3, 14), reason="threading of Python 3.14 is not simulated yet"),
]


def _copying(world: World, faults: Sequence[Fault]) -> tuple[Result, MirrorWorkload]:
    """Two mirrors, and these faults, one after the other."""
    work = MirrorWorkload(world)
    work.cluster.start()
    work.start_mirrors(2, Load(ORIGINALS, 3, 30.0, 5, by_key=True), copies=2)
    world.wait_until(lambda: len(work.facts.seen) > 20, 60, "copies")
    for fault in faults:
        work.suffer(fault)
    return Result(work.history, work.finish()), work


OF_TARGET = 0.001
"""The amount of a fault of the target's broker."""
KILLS = [Fault(Kind.KILL_MIRRORS, duration_s=8.0, after_s=6.0, amount=amount) for amount in (0.1, 0.9)]
"""First the target's acknowledgements are lost, then nothing reaches it; each time all mirrors are killed."""


def test_nothing_is_lost_although_mirrors_and_brokers_are_killed_and_paused(tmp_path: Path) -> None:
    faults = [
        Fault(Kind.KILL_CONSUMER, duration_s=1.0, after_s=8.0, amount=0.0),
        Fault(Kind.PAUSE_CONSUMER, duration_s=20.0, after_s=4.0, amount=0.0),
        Fault(Kind.KILL, duration_s=3.0, after_s=4.0, amount=0.0),
        Fault(Kind.KILL, duration_s=3.0, after_s=4.0, amount=0.001),  # the target's broker
        *KILLS,
    ]
    result, work = World(3, tmp_path).run(lambda world: _copying(world, faults))
    assert result.violations == []
    assert len({copy.value for copy in work.facts.copies}) == len(result.history.acknowledged) > 200
    assert len(work.facts.copies) > len(result.history.acknowledged), "some came twice"


def test_a_commit_before_the_acknowledgement_is_found(tmp_path: Path) -> None:
    found: set[str] = set()
    for seed in range(1, 4):
        world = World(seed, tmp_path / str(seed), modules=lambda: Modules((*PACKAGES, "tests")))
        world.substitutes[MIRROR_PROGRAMS + "mirror"] = (
            "tests.support.broken_mirror:committing_before_the_acknowledgement"
        )
        result, _ = world.run(lambda world: _copying(world, KILLS))
        found = {violation.rule for violation in result.violations}
        if COPY_LOST in found:
            return
    pytest.fail(f"no seed found it; the last one found {found}")


@pytest.mark.parametrize(("program", "found"), [("mirror", set()), ("retrying_behind_later_records", {OUT_OF_ORDER})])
def test_a_request_that_is_lost_on_its_way_costs_no_order(program: str, found: set[str], tmp_path: Path) -> None:
    """The target's broker is killed before a request reaches it that the mirror has given up: other batches wait."""

    def course(world: World) -> Result:
        work = MirrorWorkload(world)
        work.cluster.start()
        work.start_mirrors(2, Load(ORIGINALS, 3, 30.0, 5, by_key=True), copies=2)
        world.wait_until(lambda: len(work.facts.seen) > 20, 60, "copies")
        world.in_background("cut", lambda: work.suffer(Fault(Kind.CUT_REQUESTS, 9.0, 0.0, OF_TARGET)))
        world.sleep(8.0)
        work.suffer(Fault(Kind.KILL, 3.0, 6.0, OF_TARGET))
        return Result(work.history, work.finish())

    world = World(1, tmp_path, modules=lambda: Modules((*PACKAGES, "tests")))
    if program != "mirror":
        world.substitutes[MIRROR_PROGRAMS + "mirror"] = f"tests.support.broken_mirror:{program}"
    assert {violation.rule for violation in world.run(course).violations} == found
