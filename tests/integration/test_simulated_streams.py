"""An application of Streams that counts exactly once, in the simulator: brokers and instances of it are killed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from kafka_lite.testing.simulation.faults import Fault, Kind
from kafka_lite.testing.simulation.streams.workload import RULE, STREAMS_PROGRAMS, StreamsWorkload
from kafka_lite.testing.simulation.system.modules import PACKAGES, Modules
from kafka_lite.testing.simulation.transactional_workload import transaction_properties
from kafka_lite.testing.simulation.workload import Result
from kafka_lite.testing.simulation.world import World

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(400),
    pytest.mark.skipif(sys.version_info >= (3, 14), reason="threading of Python 3.14 is not simulated yet"),
]


def counting(world: World, faults: Sequence[Fault], brokers: int) -> Result:
    """Two instances of the application, and these faults, one after the other."""
    properties = {"log.flush.interval.messages": "1"} if brokers == 1 else {}
    work = StreamsWorkload(world, properties | transaction_properties(brokers), brokers)
    work.cluster.start()
    work.start_application(partitions=2, keys=4, instances=2, records_per_s=5.0)
    world.sleep(10)
    for fault in faults:
        work.suffer(fault)
    return Result(work.history, work.finish())


def test_each_record_is_counted_once_although_brokers_and_instances_are_killed(tmp_path: Path) -> None:
    faults = [
        Fault(Kind.KILL_CONSUMER, duration_s=2.0, after_s=4.0, amount=0.0),
        Fault(Kind.KILL_CONTROLLER, duration_s=8.0, after_s=2.0, amount=0.0),
        Fault(Kind.KILL, duration_s=4.0, after_s=2.0, amount=0.001),
        Fault(Kind.KILL_CONSUMER, duration_s=0.5, after_s=4.0, amount=0.6),
    ]
    result = World(4, tmp_path).run(lambda world: counting(world, faults, brokers=3))
    assert result.violations == []
    assert len(result.history.acknowledged) > 100


def test_an_application_that_counts_at_least_once_is_found(tmp_path: Path) -> None:
    """What it has sent but not committed is counted again by the one that takes its place."""
    world = World(4, tmp_path, modules=lambda: Modules((*PACKAGES, "tests")))
    world.substitutes[STREAMS_PROGRAMS + "instance"] = "tests.support.broken_streams:at_least_once"
    faults = [Fault(Kind.KILL_CONSUMER, 1.0, 1.5, amount) for amount in (0.0, 0.9)]
    result = world.run(lambda world: counting(world, faults, brokers=1))
    assert {violation.rule for violation in result.violations} == {RULE}
