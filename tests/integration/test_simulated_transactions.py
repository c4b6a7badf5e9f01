"""Transactions of an unmodified broker, our producers and consumers in a world from a seed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from kafka_lite.testing.history.transactions import Outcome
from kafka_lite.testing.simulation.cluster import PROGRAMS
from kafka_lite.testing.simulation.faults import Fault, Kind
from kafka_lite.testing.simulation.system.modules import PACKAGES, Modules
from kafka_lite.testing.simulation.transactional_programs import TransactionalLoad, Transformation
from kafka_lite.testing.simulation.transactional_workload import (
    READ_COMMITTED,
    SOURCE,
    TARGET,
    TransactionalWorkload,
    transaction_properties,
)
from kafka_lite.testing.simulation.workload import Result
from kafka_lite.testing.simulation.world import World

pytestmark = [
    pytest.mark.timeout(400),
    pytest.mark.skipif(sys.version_info >= (3, 14), reason="threading of Python 3.14 is not simulated yet"),
]


def transactions_with_faults(world: World, faults: Sequence[Fault], brokers: int = 1) -> Result:
    """Two producers with one transactional id, a consume-transform-produce, and readers, under these faults."""
    properties = {"log.flush.interval.messages": "1"} if brokers == 1 else {}
    work = TransactionalWorkload(world, properties | transaction_properties(brokers), brokers)
    work.cluster.start()
    for topic in (SOURCE, TARGET):
        work.create_topic(topic, partitions=2)
        work.history.transactional.add(topic)
    load = TransactionalLoad("writer", SOURCE, partitions=2, transactions_per_s=2.0)
    work.write_transactions("writer", load)
    work.write_transactions("zombie", load)
    work.transform("transformer", Transformation("transformer", "transformers", SOURCE, TARGET, partitions=2))
    work.consume("source-reader", "source-readers", SOURCE, **READ_COMMITTED)
    work.consume("target-reader", "target-readers", TARGET, **READ_COMMITTED)
    world.sleep(8)
    for fault in faults:
        work.suffer(fault)
    return Result(work.history, work.finish())


@pytest.mark.parametrize(
    ("kind", "brokers", "seed"),  # a seed of which some transactions are aborted
    [
        (Kind.KILL, 1, 4),
        pytest.param(Kind.POWER, 1, 4, marks=pytest.mark.soak),
        pytest.param(Kind.KILL_CONTROLLER, 3, 6, marks=pytest.mark.soak),
    ],
    ids=lambda given: getattr(given, "name", str(given)),
)
def test_transactions_are_read_as_a_whole_or_not_at_all_through_a_fault(
    kind: Kind, brokers: int, seed: int, tmp_path: Path
) -> None:
    fault = Fault(kind, duration_s=12.0, after_s=4.0, amount=0.5)  # longer than transactions may be open
    result = World(seed, tmp_path).run(lambda world: transactions_with_faults(world, [fault], brokers))
    assert result.violations == []
    outcomes = [transaction.outcome for transaction in result.history.transactions]
    assert outcomes.count(Outcome.COMMITTED) > 5
    assert outcomes.count(Outcome.ABORTED) > 1
    visible = {record.place.topic for record in result.history.visible}
    assert visible == {SOURCE, TARGET}
    assert len(result.history.stored) > len(result.history.visible)


@pytest.mark.parametrize(
    ("bug", "rules"),
    [
        pytest.param("showing_open_transactions", {"intermediate read", "aborted read"}, marks=pytest.mark.soak),
        pytest.param("without_aborted_transactions", {"aborted read"}, marks=pytest.mark.soak),
        pytest.param("without_timeouts", {"hanging transaction"}, marks=pytest.mark.soak),
        pytest.param("repeating_epochs", {"lost transaction", "record not transformed"}, marks=pytest.mark.soak),
        # The transactions of a zombie and of its heir share an epoch: what one aborts may be committed by the other.
        pytest.param(
            "without_fencing", {"zombie's write", "aborted read", "intermediate read"}, marks=pytest.mark.soak
        ),
    ],
)
def test_a_known_bug_is_found(bug: str, rules: set[str], tmp_path: Path) -> None:
    found: set[str] = set()
    for seed in range(1, 7):
        world = World(seed, tmp_path / str(seed), modules=lambda: Modules((*PACKAGES, "tests")))
        world.substitutes[PROGRAMS + "broker"] = f"tests.support.broken_transactions:{bug}"
        result = world.run(lambda world: transactions_with_faults(world, []))
        found = {violation.rule for violation in result.violations}
        if found & rules:
            return
    pytest.fail(f"no seed found it; the last one found {found}")
