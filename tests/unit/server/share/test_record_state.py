"""The tables of states."""

from __future__ import annotations

from kafka_lite.server.share.record_state import (
    STATE_OF_ACKNOWLEDGE_TYPE,
    TERMINAL,
    VALID_PREVIOUS_PARTITION_STATES,
    VALID_PREVIOUS_STATES,
    RecordState,
    SharePartitionState,
)


def test_nothing_leaves_a_terminal_state() -> None:
    assert set(VALID_PREVIOUS_STATES) == set(RecordState)
    assert not TERMINAL & frozenset().union(*VALID_PREVIOUS_STATES.values())


def test_the_numbers_are_those_that_are_persisted() -> None:
    assert {state.name: state.value for state in RecordState} == {
        "AVAILABLE": 0,
        "ACQUIRED": 1,
        "ACKNOWLEDGED": 2,
        "ARCHIVED": 4,
    }


def test_each_acknowledgement_leads_out_of_acquired() -> None:
    assert list(STATE_OF_ACKNOWLEDGE_TYPE) == [0, 1, 2, 3]
    for state in STATE_OF_ACKNOWLEDGE_TYPE.values():
        assert RecordState.ACQUIRED in VALID_PREVIOUS_STATES[state]


def test_a_fenced_partition_stays_fenced() -> None:
    assert set(VALID_PREVIOUS_PARTITION_STATES) == set(SharePartitionState)
    for previous in VALID_PREVIOUS_PARTITION_STATES.values():
        assert SharePartitionState.FENCED not in previous
