"""A group of Connect's workers in the simulator: workers are killed and cut off, and tasks fail."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from kafka_lite.testing.simulation.connect.verdict import OFFSET_AHEAD, SINK_LOST, SOURCE_LOST, TWO_OWNERS
from kafka_lite.testing.simulation.connect.workload import CONNECT_PROGRAMS, GROUPS_STAY, ConnectWorkload
from kafka_lite.testing.simulation.faults import Fault, Kind
from kafka_lite.testing.simulation.scenarios import MORE_PACKAGES
from kafka_lite.testing.simulation.system.modules import PACKAGES, Modules
from kafka_lite.testing.simulation.workload import Result
from kafka_lite.testing.simulation.world import World

pytestmark = [
    pytest.mark.soak,
    pytest.mark.nightly,
    pytest.mark.timeout(400),
    pytest.mark.skipif(sys.version_info >= (3, 14), reason="threading of Python 3.14 is not simulated yet"),
]
COPIED = (*PACKAGES, *MORE_PACKAGES["connect"], "tests")


def _copying(world: World, faults: Sequence[Fault]) -> tuple[Result, ConnectWorkload]:
    """Two workers, and these faults, one after the other."""
    work = ConnectWorkload(world, GROUPS_STAY)
    work.cluster.start()
    work.start_group(2)
    world.wait_until(lambda: len(work.facts.flushed) > 20, 60, "records through the sink")
    for fault in faults:
        work.suffer(fault)
    return Result(work.history, work.finish()), work


def test_nothing_is_lost_although_workers_are_killed_and_cut_off_and_tasks_fail(tmp_path: Path) -> None:
    faults = [
        Fault(Kind.FAIL_TASK, duration_s=0.0, after_s=4.0, amount=0.0),
        Fault(Kind.KILL_CONSUMER, duration_s=1.0, after_s=8.0, amount=0.0),
        Fault(Kind.CUT_WORKER, duration_s=8.0, after_s=4.0, amount=0.001),
    ]
    result, work = World(3, tmp_path, modules=lambda: Modules(COPIED)).run(lambda world: _copying(world, faults))
    assert result.violations == []
    facts = work.facts
    assert (facts.failures, facts.is_source_stopped) == (1, True)
    assert facts.restarts >= 1
    assert len(facts.produced) > 100
    owners = {(report.of, report.worker) for report in facts.reports if report.state == "RUNNING"}
    assert len(owners) > len({of for of, _ in owners})  # something has moved


KILL = Fault(Kind.KILL_CONSUMER, duration_s=0.5, after_s=8.0, amount=0.0)
FAULTS = [
    *(Fault(Kind.CUT_WORKER, duration_s=3.0, after_s=4.0, amount=amount) for amount in (0.0, 0.001)),
    *(each for _ in range(4) for each in (KILL, Fault(Kind.RESET, duration_s=0.5, after_s=2.0, amount=1.0))),
]
"""Each worker is cut off for less than its session, then both are killed twice: that which has run the longest comes
first. All connections are reset in between."""


STORING, COMMITTING = "storing_offsets_at_once", "committing_without_a_flush"


@pytest.mark.parametrize(
    ("bug", "seed", "rules"),
    [
        (STORING, 4, {OFFSET_AHEAD, SOURCE_LOST}),
        (STORING, 8, {OFFSET_AHEAD, SOURCE_LOST}),
        (COMMITTING, 1, {SINK_LOST}),
        (COMMITTING, 2, {SINK_LOST}),
    ],
)
def test_a_worker_that_breaks_a_promise_is_found(tmp_path: Path, bug: str, seed: int, rules: set[str]) -> None:
    world = World(seed, tmp_path, modules=lambda: Modules(COPIED))
    world.substitutes[CONNECT_PROGRAMS + "worker"] = f"tests.support.broken_connect:{bug}"
    result, _ = world.run(lambda world: _copying(world, FAULTS))
    assert {violation.rule for violation in result.violations} & rules


@pytest.mark.parametrize("seed", range(1, 4))
def test_a_leader_that_gives_a_task_twice_is_found(tmp_path: Path, seed: int) -> None:
    """Without any fault."""
    world = World(seed, tmp_path, modules=lambda: Modules(COPIED))
    world.substitutes[CONNECT_PROGRAMS + "worker"] = "tests.support.broken_connect:giving_a_task_twice"
    result, _ = world.run(lambda world: _copying(world, []))
    assert TWO_OWNERS in {violation.rule for violation in result.violations}
