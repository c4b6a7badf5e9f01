"""Applications of Streams with drawn topologies in the simulator, right ones and broken ones."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from kafka_lite.testing.simulation.faults import Fault, Kind
from kafka_lite.testing.simulation.programs import Load
from kafka_lite.testing.simulation.scenarios import drawn_streams_of_three_brokers
from kafka_lite.testing.simulation.streams.drawing import Drawing
from kafka_lite.testing.simulation.streams.drawn_workload import DRAWN_PROGRAMS, DrawnStreamsWorkload
from kafka_lite.testing.simulation.streams.expectation import RULE
from kafka_lite.testing.simulation.streams.programs import TEXT
from kafka_lite.testing.simulation.system.modules import PACKAGES, Modules
from kafka_lite.testing.simulation.transactional_workload import transaction_properties
from kafka_lite.testing.simulation.workload import Result
from kafka_lite.testing.simulation.world import World

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(400),
    pytest.mark.skipif(sys.version_info >= (3, 14), reason="threading of Python 3.14 is not simulated yet"),
]

AGGREGATE = Drawing(steps=("select_key",), aggregation="aggregate")
WINDOWS = Drawing(aggregation="reduce", windows="hopping windows")
CACHED = Drawing(aggregation="reduce", cache_bytes=10_000_000)
JOINED = Drawing(join="outer_join", aggregation="reduce")
KILLED = [Fault(Kind.KILL_CONSUMER, 1.0, 1.5, amount) for amount in (0.0, 0.9, 0.0, 0.9)]
"""Each of two instances, twice."""


def processing(world: World, drawing: Drawing, faults: Sequence[Fault]) -> Result:
    """One broker, and two instances of the application, which suffer these faults."""
    work = DrawnStreamsWorkload(world, transaction_properties(1))
    work.cluster.start()
    work.start_application(drawing, Load(TEXT, partitions=2, records_per_s=8.0, keys=4, by_key=True), instances=2)
    world.sleep(10)
    for fault in faults:
        work.suffer(fault)
    return Result(work.history, work.finish())


@pytest.mark.nightly  # .ci/run runs four seeds of this scenario itself
def test_a_drawn_application_processes_each_record_exactly_once_and_in_order(tmp_path: Path) -> None:
    """Seed 8: two repartition topics, exactly_once_v2, a standby replica."""
    result = World(8, tmp_path).run(drawn_streams_of_three_brokers)
    assert result.violations == []
    assert len(result.history.acknowledged) > 100


# The others, right ones, are in the seeds that .ci/run draws.
@pytest.mark.parametrize(
    "drawing",
    [*(pytest.param(each, marks=pytest.mark.nightly) for each in (AGGREGATE, WINDOWS)), CACHED, JOINED],
    ids=str,
)
def test_nothing_is_found_when_instances_are_killed(drawing: Drawing, tmp_path: Path) -> None:
    result = World(4, tmp_path).run(lambda world: processing(world, drawing, KILLED))
    assert result.violations == []


@pytest.mark.parametrize(
    ("bug", "drawing", "faults"),
    [
        ("without_restored_stores", AGGREGATE, KILLED),
        pytest.param("without_restored_stores", JOINED, KILLED, marks=pytest.mark.nightly),  # the bug of the first row
        ("restoring_aborted_changes", AGGREGATE, KILLED),
        ("dropping_late_records", WINDOWS, []),
        ("committing_before_caches_are_flushed", CACHED, KILLED),
    ],
)
def test_a_broken_application_is_found(bug: str, drawing: Drawing, faults: list[Fault], tmp_path: Path) -> None:
    found: set[str] = set()
    for seed in range(1, 7):
        world = World(seed, tmp_path / str(seed), modules=lambda: Modules((*PACKAGES, "tests")))
        world.substitutes[DRAWN_PROGRAMS + "drawn_instance"] = f"tests.support.broken_streams:{bug}"
        result = world.run(lambda world: processing(world, drawing, faults))
        found = {violation.rule for violation in result.violations}
        if RULE in found:
            return
    pytest.fail(f"no seed found it; the last one found {found}")
