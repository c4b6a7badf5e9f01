"""Turns are short within the blocks, whichever thread is in one, and as before after the last of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from kafka_lite.common.process.short_turns import TURN_S, short_turns


@pytest.fixture(autouse=True)
def usual() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.005)
    yield
    sys.setswitchinterval(before)


def interval() -> float:
    return round(sys.getswitchinterval(), 5)


def test_turns_are_short_until_the_last_block_ends() -> None:
    first, second = short_turns(), short_turns()
    first.__enter__()
    assert interval() == TURN_S
    second.__enter__()
    first.__exit__(None, None, None)
    assert interval() == TURN_S, "another thread is within a block"
    second.__exit__(None, None, None)
    assert interval() == 0.005


def test_an_error_ends_the_block() -> None:
    with pytest.raises(ValueError), short_turns():
        raise ValueError
    assert interval() == 0.005


def test_turns_that_are_shorter_anyway_stay() -> None:
    sys.setswitchinterval(0.0001)
    with short_turns():
        assert interval() == 0.0001
    assert interval() == 0.0001
