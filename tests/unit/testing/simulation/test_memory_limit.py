"""A run that takes too much memory ends as such, and in its own process."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from kafka_lite.testing.simulation import memory_limit, runner
from kafka_lite.testing.simulation.memory_limit import MemoryLimit
from kafka_lite.testing.simulation.runner import ModulePool, Outcome, Plan, Run, run_in_forks

MIB = 1 << 20


def outcome_of(run_seed: Callable[[], Outcome], monkeypatch: pytest.MonkeyPatch) -> Outcome:
    """The outcome of a seed whose run is this function."""
    monkeypatch.setattr(runner, "run_seed", lambda *_: run_seed())
    monkeypatch.setattr(memory_limit, "MemoryLimit", lambda: MemoryLimit(100 * MIB))
    (outcome,) = run_in_forks(Plan(), [Run(7)], ModulePool(0), workers=1)
    return outcome


def take_memory() -> None:
    kept = []
    while True:
        kept.append(bytes(MIB))


def test_a_run_within_the_limit_is_reported_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def work() -> Outcome:
        assert len(bytes(50 * MIB)) == 50 * MIB
        return Outcome(7, "digest", ["a rule: is broken"])

    assert outcome_of(work, monkeypatch) == Outcome(7, "digest", ["a rule: is broken"])


def test_a_run_without_end_is_out_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def work() -> Outcome:
        take_memory()
        raise AssertionError

    assert outcome_of(work, monkeypatch).findings == {"out of memory"}


def test_what_is_found_once_there_is_no_memory_is_not_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def work() -> Outcome:
        with pytest.raises(MemoryError):  # as in a thread of a broker that logs whatever is raised
            take_memory()
        return Outcome(7, "digest", ["lost write: is a consequence"])

    assert outcome_of(work, monkeypatch).findings == {"out of memory"}


def test_an_error_in_the_process_of_a_seed_does_not_go_on_in_the_code_of_its_parent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parent = os.getpid()

    def work() -> Outcome:
        raise KeyboardInterrupt

    assert outcome_of(work, monkeypatch).failure == "the process of the seed died"
    assert os.getpid() == parent
