from __future__ import annotations

import pytest

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.distributed.config_changes import (
    ConfigChangeCollector,
    ConfigChanges,
    Reaction,
    react,
)
from kafka_lite.connect.runtime.storage.cluster_config_state import ClusterConfigState
from kafka_lite.connect.runtime.storage.restart_request import RestartRequest
from kafka_lite.connect.runtime.target_state import TargetState


def _configs(*names: str, **states: TargetState) -> ClusterConfigState:
    return ClusterConfigState(3, {}, {name: {} for name in names}, states)


AB = _configs("a", "b", a=TargetState.PAUSED)


def test_a_changed_configuration_restarts_the_connector_where_it_runs() -> None:
    changes = ConfigChanges(connectors=frozenset("ab"))
    assert react(changes, AB, AB, ["b"]) == Reaction(restart=("b",))
    assert react(changes, AB, AB, []) == Reaction()


@pytest.mark.parametrize("now", [_configs("a"), _configs("a", "b", "c")])
def test_other_connectors_than_before_mean_a_rebalance(now: ClusterConfigState) -> None:
    changes = ConfigChanges(connectors=frozenset("b"), target_states=frozenset("a"))
    assert react(changes, AB, now, ["a", "b"]) == Reaction(rebalance=True)


def test_committed_tasks_mean_a_rebalance_and_nothing_else() -> None:
    changes = ConfigChanges(needs_rebalance=True, connectors=frozenset("a"), target_states=frozenset("b"))
    assert react(changes, AB, AB, ["a", "b"]) == Reaction(rebalance=True)


def test_every_worker_applies_target_states() -> None:
    changes = ConfigChanges(target_states=frozenset(["a", "b", "gone"]))
    assert react(changes, AB, AB, []).target_states == {"a": TargetState.PAUSED, "b": TargetState.STARTED}


def test_the_connector_that_is_deleted_and_unknown_is_stopped() -> None:
    changes = ConfigChanges(connectors=frozenset(["gone"]))
    assert react(changes, AB, AB, ["gone"]) == Reaction(stop=("gone",))


def test_changes_are_gathered_until_they_are_taken() -> None:
    woken: list[int] = []
    collector = ConfigChangeCollector(lambda: AB, lambda: woken.append(1), lambda *_: None)
    assert not collector.take()
    collector.on_connector_config_update("a")
    collector.on_connector_target_state_change("b")
    assert not collector.needs_rebalance
    assert collector.take() == ConfigChanges(False, frozenset("a"), frozenset("b"))
    assert not collector.take()
    assert len(woken) == 2


@pytest.mark.parametrize(
    ("report", "name", "needs_rebalance"),
    [
        ("on_connector_config_update", "new", True),
        ("on_connector_config_update", "a", False),
        ("on_connector_config_remove", "a", True),
        ("on_connector_config_remove", "unknown", False),
    ],
)
def test_a_rebalance_is_expected_if_a_connector_comes_or_goes(report: str, name: str, needs_rebalance: bool) -> None:
    collector = ConfigChangeCollector(lambda: AB, lambda: None, lambda *_: None)
    getattr(collector, report)(name)
    assert collector.needs_rebalance == needs_rebalance


def test_a_rebalance_is_expected_after_every_commit() -> None:
    collector = ConfigChangeCollector(lambda: AB, lambda: None, lambda *_: None)
    collector.on_task_config_update((ConnectorTaskId("a", 0),))
    collector.on_connector_config_update("a")
    assert collector.needs_rebalance


def test_of_several_restarts_of_a_connector_the_one_with_the_most_impact_stays() -> None:
    woken: list[bool] = []
    collector = ConfigChangeCollector(lambda: AB, lambda: woken.append(True), lambda *_: None)
    failed, everything = RestartRequest("a", True, True), RestartRequest("a", False, True)
    other = RestartRequest("b", True)
    for request in (failed, everything, other, failed):
        collector.on_restart_request(request)
    assert len(woken) == 4
    assert not collector.take()  # a restart is no change of the configuration, and makes no rebalance
    assert collector.take_restarts() == [everything, other]
    assert collector.take_restarts() == []


def test_a_level_is_set_at_once() -> None:
    levels: list[tuple[str, str]] = []
    collector = ConfigChangeCollector(lambda: AB, lambda: None, lambda *level: levels.append(level))
    collector.on_logging_level_update("kafka_lite", "DEBUG")
    assert (levels, bool(collector.take())) == ([("kafka_lite", "DEBUG")], False)
