"""A seed draws the same faults every time, of all kinds."""

from __future__ import annotations

from itertools import islice
from random import Random

from kafka_lite.testing.chaos.faults import AFTER_S, CAN_FILL_DISKS, ODDS, Kind, draw_faults


def test_a_seed_draws_the_same_faults_again() -> None:
    first, second = (list(islice(draw_faults(Random(7)), 100)) for _ in range(2))
    assert first == second
    assert first != list(islice(draw_faults(Random(8)), 100))


def test_every_kind_is_drawn_within_its_limits() -> None:
    faults = list(islice(draw_faults(Random(1)), 3000))
    possible = set(Kind) if CAN_FILL_DISKS else set(Kind) - {Kind.FULL_DISK}
    assert {fault.kind for fault in faults} == possible
    assert all(0 < fault.duration_s <= ODDS[fault.kind].longest_s for fault in faults)
    assert all(0 <= fault.after_s <= 4 * AFTER_S for fault in faults)


def test_only_the_wanted_kinds_are_drawn() -> None:
    faults = islice(draw_faults(Random(1), [Kind.KILL, Kind.RESET]), 100)
    assert {str(fault) for fault in faults if fault.kind is Kind.RESET} == {"reset of a broker's connections"}
