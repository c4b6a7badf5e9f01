"""Finds the shortest list of faults with which a bad seed is still bad.

Not in Kafka. The seed draws the same faults each time; a run may leave some of them out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

from kafka_lite.testing.simulation.runner import ModulePool, Outcome, Plan, Run, run_in_forks

Faults = tuple[int, ...]
"""Numbers of the faults that a run suffers, among those of its seed."""


def shortest(faults: Faults, first_bad: Callable[[Sequence[Faults]], Faults | None]) -> Faults:
    """Leave out halves, quarters, … and at last single faults, as long as the rest is still bad.

    ``first_bad`` gives the first of several lists with which the seed is bad, or None.
    """
    size = max(1, len(faults) // 2)
    while faults:
        shorter = first_bad(list(_without(faults, size)))
        if shorter is not None:
            faults = shorter
            size = min(size, max(1, len(faults) // 2))
        elif size > 1:
            size //= 2
        else:
            break
    return faults


def _without(faults: Faults, size: int) -> Iterator[Faults]:
    """The list without each part of a size."""
    for start in range(0, len(faults), size):
        yield faults[:start] + faults[start + size :]


def shrink(plan: Plan, bad: Outcome, pool: ModulePool, workers: int) -> Faults:
    """The shortest list with which the seed of ``bad`` breaks one of the same promises."""

    def first_bad(lists: Sequence[Faults]) -> Faults | None:
        for faults in lists:
            shorter = dataclasses.replace(plan, faults=faults)
            for outcome in run_in_forks(shorter, [Run(bad.seed)], pool, workers):
                if outcome.findings & bad.findings:
                    return faults
        return None

    everything = range(len(bad.faults)) if plan.faults is None else plan.faults
    return shortest(tuple(everything), first_bad)
