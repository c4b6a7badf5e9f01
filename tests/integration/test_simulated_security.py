"""TLS, SASL and access control lists in the simulator: users do their work under faults, and strangers get nowhere."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from kafka_lite.testing.simulation.faults import Fault, Kind
from kafka_lite.testing.simulation.programs import Load
from kafka_lite.testing.simulation.scenarios import SCENARIOS
from kafka_lite.testing.simulation.secured.workload import RIGHTS, SECURED, SESSION_MS, SecuredWorkload
from kafka_lite.testing.simulation.workload import Result
from kafka_lite.testing.simulation.world import World

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(900),
    pytest.mark.skipif(sys.version_info >= (3, 14), reason="threading of Python 3.14 is not simulated yet"),
]
FAULTS = [Fault(kind, duration_s=3.0, after_s=6.0, amount=0.0) for kind in (Kind.KILL, Kind.STOP)]


def secured(world: World, faults: Sequence[Fault] = (), *, mallory_may: Sequence[str] = ()) -> Result:
    """A broker with a producer and a consumer of alice's, and strangers; ``mallory_may``: rights of one of these."""
    work = SecuredWorkload(world, SECURED)
    work.cluster.start()
    work.allow_alice()
    if mallory_may:
        work.allow("mallory", mallory_may)
    work.create_topic("ours", 2)
    work.produce("producer-0", Load("ours", 2, 20.0))
    work.consume("consumer-0", "our-group", "ours")
    work.start_strangers("ours")
    world.sleep(2 * SESSION_MS / 1000)
    for fault in faults:
        work.suffer(fault)
    return Result(work.history, work.finish())


def test_users_go_on_for_several_sessions_and_strangers_get_nowhere(tmp_path: Path) -> None:
    result = World(5, tmp_path).run(lambda world: secured(world, FAULTS))
    assert result.violations == []
    assert len(result.history.acknowledged) > 100
    assert {record.value for record in result.history.polled} == {
        sent.value for sent, _ in result.history.acknowledged
    }, "no record of a stranger, and all of alice's"


def test_another_run_of_the_seed_has_the_same_events_though_tls_has_other_bytes(tmp_path: Path) -> None:
    worlds = [World(5, tmp_path / str(number)) for number in range(2)]
    for world in worlds:
        world.run(secured)
    assert worlds[0].events.digest == worlds[1].events.digest


@pytest.mark.parametrize("right", RIGHTS[:1])
def test_a_stranger_who_gets_somewhere_is_found(tmp_path: Path, right: str) -> None:
    result = World(5, tmp_path).run(lambda world: secured(world, mallory_may=[right]))
    assert any("has taken a record of a stranger" in violation.text for violation in result.violations)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(1, 13))
def test_three_brokers_under_drawn_faults(tmp_path: Path, seed: int) -> None:
    result = World(seed, tmp_path).run(SCENARIOS["secured-three-brokers"])
    assert result.violations == []
