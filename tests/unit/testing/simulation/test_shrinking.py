"""A failing list of faults becomes as short as it can be, with few runs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kafka_lite.testing.simulation.shrinking import Faults, shortest


class Runs:
    """Lists of faults are bad if they have all that it takes."""

    def __init__(self, needed: set[int]) -> None:
        self.needed = needed
        self.tried = 0

    def first_bad(self, lists: Sequence[Faults]) -> Faults | None:
        for faults in lists:
            self.tried += 1
            if self.needed <= set(faults):
                return faults
        return None


@pytest.mark.parametrize("needed", [(), (0,), (7,), (2, 3), (0, 7), (1, 4, 6), tuple(range(8))])
def test_only_what_it_takes_is_left(needed: Faults) -> None:
    assert shortest(tuple(range(8)), Runs(set(needed)).first_bad) == needed


def test_one_of_many_faults_is_found_in_few_runs() -> None:
    runs = Runs({37})
    assert shortest(tuple(range(64)), runs.first_bad) == (37,)
    assert runs.tried < 20
