"""The promises of a mirror: everything arrives, each key in its order; what comes twice counts once."""

from __future__ import annotations

import pytest

from kafka_lite.testing.history.history import History
from kafka_lite.testing.simulation.mirror.facts import ORIGINALS, Copy, Facts
from kafka_lite.testing.simulation.mirror.verdict import COPY_LOST, KEY_SPREAD, NO_ORIGINAL, OUT_OF_ORDER, judge


def rules(*copies: str, acknowledged: int = 3) -> list[str]:
    """``k:1@0``: value 1 of key k in partition 0. The originals are 0, 1 and 2, of key k."""
    history, facts = History(), Facts()
    for number in range(3):
        sent = history.send("producer", ORIGINALS, 0, str(number), "k")
        if number < acknowledged:
            history.acknowledge(sent, number)
        history.store(ORIGINALS, 0, number, str(number), "k")
    for offset, copy in enumerate(copies):
        key, value, partition = copy.replace("@", ":").split(":")
        facts.copies.append(Copy(int(partition), offset, key, value))
    return [violation.rule for violation in judge(history, facts)]


@pytest.mark.parametrize(
    ("copies", "broken"),
    [
        (["k:0@0", "k:1@0", "k:2@0"], []),
        (["k:0@0", "k:1@0", "k:0@0", "k:1@0", "k:2@0"], []),
        (["k:0@0", "k:2@0"], [COPY_LOST]),
        (["k:1@0", "k:0@0", "k:2@0"], [OUT_OF_ORDER]),
        (["k:0@0", "k:1@1", "k:2@0"], [KEY_SPREAD]),
        (["k:0@0", "k:1@0", "k:2@0", "k:9@0"], [NO_ORIGINAL]),
    ],
)
def test_broken_promises(copies: list[str], broken: list[str]) -> None:
    assert rules(*copies) == broken


def test_a_record_that_was_not_acknowledged_may_be_missing() -> None:
    assert rules("k:0@0", "k:1@0", acknowledged=2) == []
