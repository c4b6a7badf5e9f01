"""Task 1: the hash determines the slot of each probe."""

import pytest

HASH = bytes.fromhex("3c6e0b8a 9c15224a 8228b9a9 8ca1531d")
WINDOWS = [int.from_bytes(HASH[n : n + 4], "big") for n in range(13)]


def must_lead_to(offset_map, attempt, number, why):
    slot = number % offset_map.slots
    got, want = offset_map._position_of(HASH, attempt), slot * 24
    assert got % 24 == 0, f"position {got} is not the start of a slot: position = slot number × 24 bytes"
    assert got != slot or slot == 0, f"{got} is the number of the slot; its position in bytes is {want}"
    assert got == want, f"probe {attempt}: {why}, slot {slot} at byte {want}; you are at byte {got}"


@pytest.mark.points(7, task=1)
def test_the_first_probe(new_map):
    """The first probe"""
    must_lead_to(new_map(1000), 0, WINDOWS[0], "bytes 0 to 3 of the hash are 3c6e0b8a")


@pytest.mark.points(10, task=1)
def test_the_window_slides(new_map):
    """Probes 1 to 12: the window slides over the hash"""
    for attempt in range(1, 13):
        read = HASH[attempt : attempt + 4].hex()
        must_lead_to(new_map(1000), attempt, WINDOWS[attempt], f"bytes {attempt} to {attempt + 3} are {read}")


@pytest.mark.points(7, task=1)
def test_one_by_one_after_the_last_window(new_map):
    """Probes from 13 on: one slot after the other, each exactly once"""
    offset_map = new_map(50)
    for attempt in range(13, 40):
        why = f"the last window, 8ca1531d, and {attempt - 12} more"
        must_lead_to(offset_map, attempt, WINDOWS[12] + attempt - 12, why)
    seen = {offset_map._position_of(HASH, attempt) for attempt in range(12, 62)}
    assert len(seen) == 50, f"50 probes from the last window on must meet all 50 slots, yours meet {len(seen)}"


@pytest.mark.points(1, task=1)
def test_the_largest_number(new_map):
    """A last window of ff ff ff ff"""
    offset_map, largest = new_map(50), bytes(12) + b"\xff" * 4
    seen = {offset_map._position_of(largest, attempt) for attempt in range(12, 62)}
    assert len(seen) == 50, (
        f"the last window is 4294967295, and 1 more is 4294967296, a number without limits: 50 probes must meet all 50 "
        f"slots, yours meet {len(seen)}"
    )
