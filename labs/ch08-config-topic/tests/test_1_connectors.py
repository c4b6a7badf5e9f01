"""Task 1: connectors and target states."""

import pytest

from kafka_lite.connect.runtime.storage.config_topic import ChangeKind
from kafka_lite.connect.runtime.target_state import TargetState

CONFIG = {"properties": {"name": "y"}}


def kind(change):
    return None if change is None else change.kind


@pytest.mark.points(7, task=1)
def test_a_connector_comes_and_goes(applied):
    """A configuration, a newer one, a tombstone"""
    change = applied.put("connector-y", CONFIG)
    assert kind(change) is ChangeKind.CONNECTOR_UPDATED, f"a configuration is CONNECTOR_UPDATED, not {change}"
    assert applied.state().target_state("y") is TargetState.STARTED, "a new connector is STARTED"
    applied.put("connector-y", {"properties": {"name": "y", "file": "b"}})
    assert applied.state().connector_config("y") == {"name": "y", "file": "b"}, "the last configuration counts"
    change = applied.put("connector-y", None)
    assert kind(change) is ChangeKind.CONNECTOR_REMOVED, f"a tombstone is CONNECTOR_REMOVED, not {change}"
    assert "y" not in applied.state(), "a tombstone deletes the connector"


@pytest.mark.points(9, task=1)
def test_pauses(applied, caplog):
    """PAUSED, a new configuration, a tombstone"""
    applied.put("connector-y", CONFIG)
    change = applied.put("target-state-y", {"state": "PAUSED"})
    assert kind(change) is ChangeKind.TARGET_STATE_CHANGED, f"a target state is TARGET_STATE_CHANGED, not {change}"
    applied.put("connector-y", CONFIG)
    state = applied.state().target_state("y")
    assert state is TargetState.PAUSED, f"a paused connector gets a configuration: it stays paused, not {state}"
    change = applied.put("target-state-y", None)
    state = applied.state().target_state("y")
    assert state is TargetState.STARTED, f"the tombstone of a target state means STARTED again, not {state}"
    assert change is None, f"no change to tell of: the connector's own tombstone tells; yours: {change}"
    assert not caplog.records, f"a tombstone is no wrong format: nothing is logged; yours: {caplog.messages}"
    applied.put("target-state-gone", {"state": "PAUSED"})
    applied.put("target-state-gone", None)
    assert applied.state().target_state("gone") is None, "a connector that does not exist has no target state"


@pytest.mark.points(9, task=1)
def test_what_nobody_understands(applied):
    """Wrong formats"""
    applied.put("target-state-x", {"state": "PAUSED"})
    before = applied.state()
    for key, value in (
        ("target-state-x", {"state": "ASLEEP"}), ("target-state-x", "PAUSED"), ("target-state-x", {}),
        ("connector-x", "text"), ("connector-x", {"properties": 7}), ("connector-x", {"properties": {"a": 1}}),
    ):  # fmt: skip
        try:
            change = applied.put(key, value)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            pytest.fail(f"{key} {value!r} is logged and changes nothing; yours raised {error!r}")
        assert change is None, f"{key} {value!r} is logged and changes nothing; yours: {change}"
    after = applied.state()
    assert (after.connector_configs, after.target_states) == (before.connector_configs, before.target_states), (
        "a record in a wrong format changes nothing"
    )
