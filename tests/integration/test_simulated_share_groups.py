"""A share group (KIP-932) in the simulator: members are killed and late, leaders and share coordinators change."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from kafka_lite.testing.history.checker import Violation
from kafka_lite.testing.simulation.faults import Fault, Kind
from kafka_lite.testing.simulation.shares.facts import Facts
from kafka_lite.testing.simulation.shares.verdict import DELIVERED_AGAIN, LOST
from kafka_lite.testing.simulation.shares.workload import ShareWorkload, share_properties
from kafka_lite.testing.simulation.system.modules import PACKAGES, Modules
from kafka_lite.testing.simulation.workload import Result
from kafka_lite.testing.simulation.world import World

pytestmark = [
    pytest.mark.soak,
    pytest.mark.nightly,
    pytest.mark.timeout(400),
    pytest.mark.skipif(sys.version_info >= (3, 14), reason="threading of Python 3.14 is not simulated yet"),
]
BROKER = "kafka_lite.testing.simulation.programs:broker"
MEMBER_KILLED = Fault(Kind.KILL_CONSUMER, duration_s=5.0, after_s=5.0, amount=0.4)
BROKER_KILLED = Fault(Kind.KILL, duration_s=6.0, after_s=8.0, amount=0.4)


def sharing(world: World, faults: Sequence[Fault], facts: list[Facts] | None = None) -> Result:
    """Two members of one group, under these faults."""
    work = ShareWorkload(world, share_properties(1))
    if facts is not None:
        facts.append(work.facts)
    work.cluster.start()
    work.start_group(2, 2)
    world.sleep(12)
    for fault in faults:
        work.suffer(fault)
    return Result(work.history, work.finish())


def test_no_record_is_lost_or_comes_again_though_members_and_the_broker_are_killed(tmp_path: Path) -> None:
    known: list[Facts] = []
    faults = [MEMBER_KILLED, BROKER_KILLED, MEMBER_KILLED]
    result = World(3, tmp_path).run(lambda world: sharing(world, faults, known))
    assert result.violations == []
    (facts,) = known
    assert len(facts.accepted) > 50
    assert any(delivery.times > 1 for delivery in facts.deliveries), "what is released comes again"


def broken(bug: str, faults: Sequence[Fault], tmp_path: Path) -> list[Violation]:
    world = World(3, tmp_path, modules=lambda: Modules((*PACKAGES, "tests")))
    world.substitutes[BROKER] = f"tests.support.broken_shares:{bug}"
    result: Result = world.run(lambda world: sharing(world, faults))
    return result.violations


@pytest.mark.parametrize(
    ("bug", "fault", "rule"),
    [
        ("forgetting_what_is_released", MEMBER_KILLED, LOST),
        ("without_persisted_acknowledgements", BROKER_KILLED, DELIVERED_AGAIN),
    ],
)
def test_a_known_bug_is_found(bug: str, fault: Fault, rule: str, tmp_path: Path) -> None:
    assert rule in {violation.rule for violation in broken(bug, [fault], tmp_path)}
