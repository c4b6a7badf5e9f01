"""The table of states."""

from __future__ import annotations

from kafka_lite.coordinator.group.modern.share.share_group_state import VALID_PREVIOUS_STATES, ShareGroupState


def test_every_state_has_its_previous_ones_and_kafkas_name() -> None:
    assert VALID_PREVIOUS_STATES.keys() == set(ShareGroupState)
    assert [state.value for state in ShareGroupState] == ["Empty", "Stable", "Dead"]
    assert ShareGroupState.STABLE not in VALID_PREVIOUS_STATES[ShareGroupState.DEAD]
