"""The beans of coordinators are those that the group coordinator registers."""

from __future__ import annotations

from kafka_lite.coordinator.group.group_coordinator_metrics import DESCRIPTIONS
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.server.metrics.coordinator_beans import COORDINATOR_BEANS


def test_every_count_of_the_coordinator_is_documented() -> None:
    documented = " ".join(bean.kind for bean in COORDINATOR_BEANS)
    assert {f"{what}-count" for what in DESCRIPTIONS} <= set(documented.replace(",", " ").split())
    assert {"consumer-group-count", "share-group-count"} <= set(documented.replace(",", " ").split())


def test_every_state_of_classic_groups_has_a_gauge() -> None:
    names = {bean.name for bean in COORDINATOR_BEANS}
    assert {f"NumGroups{state.value}" for state in GroupState} <= names
