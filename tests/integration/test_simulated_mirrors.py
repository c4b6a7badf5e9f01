"""MirrorMakers in the simulator: they are killed and paused, and so is their broker."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from kafka_lite.testing.simulation.faults import Fault, Kind
from kafka_lite.testing.simulation.mirror.facts import ORIGINALS
from kafka_lite.testing.simulation.mirror.workload import MirrorWorkload
from kafka_lite.testing.simulation.programs import Load
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


def test_nothing_is_lost_although_mirrors_and_their_broker_are_killed_and_paused(tmp_path: Path) -> None:
    faults = [
        Fault(Kind.KILL_CONSUMER, duration_s=1.0, after_s=8.0, amount=0.0),
        Fault(Kind.PAUSE_CONSUMER, duration_s=20.0, after_s=4.0, amount=0.0),
        Fault(Kind.KILL, duration_s=3.0, after_s=4.0, amount=0.0),
        Fault(Kind.KILL_CONSUMER, duration_s=0.5, after_s=4.0, amount=0.9),
    ]
    result, work = World(3, tmp_path).run(lambda world: _copying(world, faults))
    assert result.violations == []
    assert len({copy.value for copy in work.facts.copies}) == len(result.history.acknowledged) > 200
    assert len(work.facts.copies) > len(result.history.acknowledged), "some came twice"
