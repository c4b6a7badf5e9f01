"""Limits in seconds of a quiet machine, by a clock and a load that the test sets."""

from __future__ import annotations

import os
from dataclasses import dataclass

import pytest

from tests.support import patience
from tests.support.patience import MAX_SLOWNESS, Patience, cores, patient_s, slowness


@dataclass
class Machine:
    """The time, and how many times slower than a quiet machine this one is."""

    now_s: float = 100.0
    slowness: float = 1.0

    def patience(self, limit_s: float) -> Patience:
        return Patience(limit_s, lambda: self.now_s, lambda: self.slowness)


def test_on_a_quiet_machine_a_limit_is_its_seconds() -> None:
    machine = Machine()
    limit = machine.patience(60)
    machine.now_s += 60
    assert not limit.is_over()
    machine.now_s += 0.1
    assert limit.is_over()


def test_a_busy_second_counts_for_as_much_less_as_the_machine_is_slower() -> None:
    machine = Machine(slowness=10)
    limit = machine.patience(60)
    machine.now_s += 590
    assert not limit.is_over()
    machine.now_s += 20
    assert limit.is_over()


def test_each_part_of_the_time_counts_by_the_load_of_then() -> None:
    machine = Machine(slowness=10)
    limit = machine.patience(60)
    machine.now_s += 300
    assert not limit.is_over()
    machine.slowness = 1
    assert limit.left_s() == pytest.approx(30)
    machine.now_s += 31
    assert limit.is_over()
    assert limit.left_s() == 0


@pytest.mark.parametrize(("load_per_core", "expected"), [(0.0, 1.0), (0.9, 1.0), (7.5, 7.5), (1000.0, MAX_SLOWNESS)])
def test_slowness_is_the_load_per_core_within_bounds(
    load_per_core: float, expected: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (load_per_core * cores(), 0.0, 0.0))
    assert slowness() == pytest.approx(expected)
    assert patient_s(2) == pytest.approx(2 * expected)


def test_cores_are_those_that_the_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience.os, "sched_getaffinity", lambda _pid: {3}, raising=False)
    assert cores() == 1
