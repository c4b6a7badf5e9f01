"""A cluster of Helix in the simulator: ZooKeeper dies, sessions expire, and members die, pause and return."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from kafka_lite.testing.simulation.faults import Fault, Kind
from kafka_lite.testing.simulation.helix.verdict import NOT_REACHED
from kafka_lite.testing.simulation.helix.workload import HELIX_PROGRAMS, HelixWorkload
from kafka_lite.testing.simulation.helix.written_course import BOUND_BROKEN
from kafka_lite.testing.simulation.system.modules import PACKAGES, Modules
from kafka_lite.testing.simulation.workload import Result
from kafka_lite.testing.simulation.world import World

pytestmark = [
    pytest.mark.soak,
    pytest.mark.nightly,
    pytest.mark.timeout(400),
    pytest.mark.skipif(sys.version_info >= (3, 14), reason="threading of Python 3.14 is not simulated yet"),
]
FAULTS = [
    Fault(Kind.PAUSE_CONSUMER, duration_s=12.0, after_s=2.0, amount=0.0),  # the leader: its session expires
    Fault(Kind.KILL_CONSUMER, duration_s=1.0, after_s=8.0, amount=0.5),
    Fault(Kind.KILL_ZOOKEEPER, duration_s=3.0, after_s=4.0, amount=0.0),
    *(Fault(Kind.CUT_ZOOKEEPER, duration_s=8.0, after_s=2.0, amount=amount) for amount in (0.5, 0.7, 0.9)),
]


def _changing(world: World, faults: Sequence[Fault]) -> tuple[Result, HelixWorkload]:
    """Two controllers and three participants, whose transitions take up to two seconds; one fault after the other."""
    work = HelixWorkload(world)
    work.start(2, 3, 2.0)
    world.wait_until(lambda: work.facts.changes > 1, 60, "changes of the administrator")
    for fault in faults:
        work.suffer(fault)
    return Result(work.history, work.finish()), work


def _findings(folder: Path, program: str, broken: str, seeds: range) -> set[str]:
    for seed in seeds:
        world = World(seed, folder / str(seed), modules=lambda: Modules((*PACKAGES, "tests")))
        world.substitutes[HELIX_PROGRAMS + program] = f"tests.support.broken_helix:{broken}"
        result, _ = world.run(lambda world: _changing(world, FAULTS))
        if result.violations:
            return {violation.rule for violation in result.violations}
    return set()


def test_bounds_hold_and_the_last_plans_are_reached(tmp_path: Path) -> None:
    result, work = World(3, tmp_path).run(lambda world: _changing(world, FAULTS))
    assert result.violations == []
    assert work.facts.changes > 5
    assert any(work.facts.views.values())


@pytest.mark.parametrize(
    ("program", "broken"),
    [("controller", "forgetting_pending_messages"), ("participant", "keeping_states_of_old_sessions")],
)
def test_a_broken_member_is_found(program: str, broken: str, tmp_path: Path) -> None:
    assert _findings(tmp_path, program, broken, range(1, 5)) & {BOUND_BROKEN, NOT_REACHED}
