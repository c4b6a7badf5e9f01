"""A few random histories of a share partition, and two faults that such histories must find."""

from __future__ import annotations

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from kafka_lite.server.share.in_flight_records import InFlightRecords
from kafka_lite.server.share.in_flight_state import InFlightState
from tests.support.examples import examples
from tests.support.share_machine import ShareMachine

TestShare = ShareMachine.TestCase
TestShare.settings = settings(max_examples=examples(25), stateful_step_count=30, deadline=None)

WITHOUT_SHRINKING = settings(
    max_examples=300, stateful_step_count=30, deadline=None, phases=[Phase.generate], database=None
)


def test_it_finds_records_that_are_lost_if_a_write_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(InFlightState, "roll_back", InFlightState.commit)
    with pytest.raises(AssertionError):
        run_state_machine_as_test(ShareMachine, settings=WITHOUT_SHRINKING)  # type: ignore[no-untyped-call]


def test_it_finds_records_that_are_not_delivered_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(InFlightRecords, "_first_available", lambda _records: None)
    with pytest.raises(AssertionError):
        run_state_machine_as_test(ShareMachine, settings=WITHOUT_SHRINKING)  # type: ignore[no-untyped-call]
