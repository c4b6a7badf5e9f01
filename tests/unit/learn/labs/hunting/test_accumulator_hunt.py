"""The promise of the accumulator, as its hunt asks for it."""

from __future__ import annotations

import pytest

from kafka_learn.labs.hunting.accumulator_hunt import must_be_sent_once

EXPECTED = {b"a-00": 0, b"a-01": 1, b"a-02": 0}


def test_what_is_lost_sent_twice_or_in_another_order_is_named() -> None:
    sent = [(0, b"a-00"), (1, b"a-01"), (0, b"a-02")]
    must_be_sent_once(sent, EXPECTED)
    with pytest.raises(AssertionError, match="1 of 3 records were never sent, a-02 among them"):
        must_be_sent_once(sent[:2], EXPECTED)
    with pytest.raises(AssertionError, match="a-01 was sent twice"):
        must_be_sent_once([*sent, sent[1]], EXPECTED)
    with pytest.raises(AssertionError, match="partition 0 has them in another order: a-02 a-00"):
        must_be_sent_once(sent[::-1], EXPECTED)
