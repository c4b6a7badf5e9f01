"""Task 5: how long a thread that computes keeps the GIL."""

import sys

import pytest

from kafka_learn.labs.locks import TracedLock
from kafka_lite.common.process import short_turns as module
from kafka_lite.common.process.short_turns import TURN_S, short_turns

USUAL_S = 0.005


@pytest.fixture
def interpreter(monkeypatch):
    """The interpreter's turn, and each change of it: the turn, and whether the lock was held."""
    lock = TracedLock(module._lock)
    state = {"turn": USUAL_S, "changes": []}

    def change(turn_s):
        state["turn"] = turn_s
        state["changes"].append((turn_s, lock.is_held()))

    monkeypatch.setattr(module, "_lock", lock)
    monkeypatch.setattr(sys, "setswitchinterval", change)
    monkeypatch.setattr(sys, "getswitchinterval", lambda: state["turn"])
    return state


@pytest.mark.points(5, task=5)
def test_one_block(interpreter):
    """Within a block, after it, and after one that ends with an error"""
    with short_turns():
        assert interpreter["turn"] == TURN_S, f"within the block a turn takes {TURN_S} s, not {interpreter['turn']}"
    assert interpreter["turn"] == USUAL_S, f"after it, the usual {USUAL_S} s; yours: {interpreter['turn']}"
    with pytest.raises(KeyError), short_turns():
        raise KeyError
    assert interpreter["turn"] == USUAL_S, "an error ends the block, too: try, finally"
    with short_turns():
        assert interpreter["turn"] == TURN_S, "the next block shortens the turns again"


@pytest.mark.points(5, task=5)
def test_blocks_that_overlap(interpreter):
    """Two threads: the first block ends while the second lasts"""
    first, second = short_turns(), short_turns()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert interpreter["turn"] == TURN_S, "the second block lasts: turns stay short until the last one has ended"
    second.__exit__(None, None, None)
    assert interpreter["turn"] == USUAL_S, (
        f"the last block has ended: the usual turn, as it was before the first; yours: {interpreter['turn']}"
    )
    changes = [turn for turn, _ in interpreter["changes"]]
    assert changes == [TURN_S, USUAL_S], f"only the first and the last block change anything; yours: {changes}"
    assert all(held for _, held in interpreter["changes"]), (
        "hold _lock where you count and change: otherwise a block that begins and one that ends overwrite each other"
    )


@pytest.mark.points(5, task=5)
def test_shorter_turns_stay(interpreter):
    """An operator has set .0005 s"""
    interpreter["turn"] = 0.0005
    with short_turns():
        assert interpreter["turn"] == 0.0005, f"turns are short already: no longer ones; yours: {interpreter['turn']}"
    assert interpreter["turn"] == 0.0005, "and they stay as they were"
