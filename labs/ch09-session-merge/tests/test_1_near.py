"""Task 1: the sessions near a time."""

import random

import pytest

from kafka_lite.streams.windowed import SessionWindow, Windowed

MINUTE = 60_000


def put(store, *sessions, key="k"):
    for number, (start, end) in enumerate(sessions, 1):
        store.put(Windowed(key, SessionWindow(start, end)), number)


def bounds(store, first, last, key="k"):
    return [(session.window.start, session.window.end) for session, _ in store.find_sessions(key, first, last)]


@pytest.mark.points(6, task=1)
def test_the_binary_key(store, bytes_store):
    """The key, the end, the start"""
    put(store, (3, 7))
    wanted = b"k" + (7).to_bytes(8) + (3).to_bytes(8)
    assert bytes_store.get(wanted) == (1).to_bytes(8), (
        "the binary key of [3, 7] is the record's key, the end, then the start, each in 8 bytes: it is not in the store"
    )
    found = list(store.find_sessions("k", 3, 7))
    assert found == [(Windowed("k", SessionWindow(3, 7)), 1)], (
        f"find_sessions turns the binary key back into the window [3, 7] of k, with its value 1; yours: {found}"
    )
    store.put(Windowed("k", SessionWindow(3, 7)), None)
    assert bytes_store.get(wanted) is None, "None removes the session"
    store.put(Windowed("k", SessionWindow(3, 7)), 0)
    assert bytes_store.get(wanted) == (0).to_bytes(8), "0 is an aggregate like any other: only None removes the session"


@pytest.mark.points(6, task=1)
def test_sessions_that_overlap(store):
    """Before, within and after a range"""
    put(store, (0, 3), (9, 9), (20, 25))
    for first, last, wanted in ((4, 8, []), (2, 9, [(0, 3), (9, 9)]), (0, 99, [(0, 3), (9, 9), (20, 25)])):
        found = bounds(store, first, last)
        assert found == wanted, f"from {first} to {last}, oldest first: {wanted}; yours: {found}"
    assert bounds(store, 0, 99, key="other") == [], "only sessions of the key"


@pytest.mark.points(1, task=1)
def test_only_the_range_is_read(store, bytes_store):
    """What is asked of the inner store"""
    asked, fetch = [], bytes_store.fetch
    bytes_store.fetch = lambda *arguments: asked.append(arguments) or fetch(*arguments)
    put(store, (0, 3), (9, 9))
    bounds(store, 4, 8)
    assert asked == [(b"k", 4, 8)], (
        "the inner store finds the sessions of a range (fetch with the key and both bounds): do not read all sessions "
        f"of a key, which may be thousands; yours asked for {asked}"
    )


@pytest.mark.points(5, task=1)
def test_a_session_around_the_range(store):
    """It ends after the range, perhaps in another segment"""
    put(store, (20, 25))
    found = bounds(store, 21, 22)
    assert found == [(20, 25)], f"a session may end after the range: [20, 25] overlaps 21 to 22; yours: {found}"
    put(store, (0, 3 * MINUTE), key="long")
    found = bounds(store, MINUTE, MINUTE + 1, key="long")
    assert found == [(0, 3 * MINUTE)], f"a session may end after the range, minutes later; yours: {found}"


@pytest.mark.points(6, task=1)
def test_the_bounds(store):
    """They are included, on both sides"""
    put(store, (20, 25))
    found = [bounds(store, 25, 30), bounds(store, 26, 30), bounds(store, 15, 20), bounds(store, 15, 19)]
    assert found == [[(20, 25)], [], [(20, 25)], []], (
        f"both bounds are included: 25 to 30 and 15 to 20 find [20, 25], 26 to 30 and 15 to 19 do not; yours: {found}"
    )


@pytest.mark.points(6, task=1)
def test_random_ranges(store):
    """Two hundred ranges beside a search through all sessions"""
    chance = random.Random(6)
    sessions = [(first, first + chance.randint(0, 9)) for first in range(0, 400, 20)]
    put(store, *sessions)
    for _ in range(200):
        first = chance.randint(0, 400)
        last = first + chance.randint(0, 60)
        wanted = [(start, end) for start, end in sessions if start <= last and end >= first]
        found = bounds(store, first, last)
        assert found == wanted, f"from {first} to {last}: {wanted}; yours: {found}"
