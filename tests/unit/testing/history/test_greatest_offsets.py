"""The greatest offset of each partition, asked for while the history grows."""

from __future__ import annotations

from operator import itemgetter

from kafka_lite.testing.history.greatest_offsets import GreatestOffsets
from kafka_lite.testing.history.history import History


def test_entries_that_were_added_since_the_last_call_count() -> None:
    history = History()
    greatest = GreatestOffsets(history.acknowledged, itemgetter(1))
    assert greatest.now() == {}
    for offset in (3, 7, 5):
        history.acknowledge(history.send("p", "t", 0, str(offset)), offset)
        history.acknowledge(history.send("p", "t", 1, f"unknown {offset}"), -1)
    assert greatest.now() == {("t", 0): 7, ("t", 1): -1}
    history.acknowledge(history.send("p", "t", 0, "8"), 8)
    assert greatest.now() == {("t", 0): 8, ("t", 1): -1}
