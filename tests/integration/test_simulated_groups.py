"""A group that the broker assigns (KIP-848), in the simulator: members come, are upgraded, killed and paused."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from kafka_lite.testing.simulation.faults import Fault, Kind
from kafka_lite.testing.simulation.groups.programs import group_member
from kafka_lite.testing.simulation.groups.workload import GROUP_PROGRAMS, QUICK, GroupWorkload
from kafka_lite.testing.simulation.system.modules import PACKAGES, Modules
from kafka_lite.testing.simulation.workload import Result
from kafka_lite.testing.simulation.world import World

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(400),
    pytest.mark.skipif(sys.version_info >= (3, 14), reason="threading of Python 3.14 is not simulated yet"),
]
BROKER = "kafka_lite.testing.simulation.programs:broker"
FORMER_OWNER = "commit of a former owner"


def changing(world: World, classic: int, faults: Sequence[Fault] = ()) -> Result:
    """One broker, and members that join one after the other: each time the others give up partitions."""
    work = GroupWorkload(world, QUICK)
    work.cluster.start()
    work.start_group(4, 1, classic)
    for number in range(1, 4):
        world.sleep(10)
        work.join(f"member-{number}", is_modern=number != classic + 1)
    world.sleep(10)
    work.upgrade_members()
    for fault in faults:
        work.suffer(fault)
    return Result(work.history, work.finish())


def test_each_partition_has_one_owner_while_members_come_are_upgraded_killed_and_paused(tmp_path: Path) -> None:
    faults = [
        Fault(Kind.PAUSE_CONSUMER, duration_s=15.0, after_s=2.0, amount=0.6),
        Fault(Kind.KILL_CONSUMER, duration_s=5.0, after_s=5.0, amount=0.9),
        Fault(Kind.CUT_RESPONSES, duration_s=12.0, after_s=5.0, amount=0.1),
    ]
    result = World(4, tmp_path).run(lambda world: changing(world, 1, faults))
    assert result.violations == []
    assert len({given.member for given in result.history.assignments}) > 4
    assert {given.partition for given in result.history.releases} == set(range(4))


@pytest.mark.parametrize(
    ("replaced", "broken"),
    [
        (BROKER, "assigning_before_others_have_revoked"),
        (GROUP_PROGRAMS + group_member.__name__, "acknowledging_before_the_listener"),
    ],
)
def test_two_owners_of_a_partition_are_found(tmp_path: Path, replaced: str, broken: str) -> None:
    world = World(4, tmp_path, modules=lambda: Modules((*PACKAGES, "tests")))
    world.substitutes[replaced] = f"tests.support.broken_groups:{broken}"
    result = world.run(lambda world: changing(world, 0))
    assert FORMER_OWNER in {violation.rule for violation in result.violations}
