"""Task 3: a session is looked up."""

from types import SimpleNamespace

import pytest

from kafka_learn.labs.raising import must_raise
from kafka_lite.streams.errors import ProcessorStateError
from kafka_lite.streams.kstream.internals.kstream_session_window_aggregate import KStreamSessionWindowAggregate
from kafka_lite.streams.kstream.session_windows import SessionWindows
from kafka_lite.streams.windowed import SessionWindow, Windowed


@pytest.fixture
def getter(store):
    """The value getter over the store ``sessions``, and the number of times that it asked for the store."""
    asked = []
    context = SimpleNamespace(get_state_store=lambda name: asked.append(name) or store)
    table = KStreamSessionWindowAggregate("sessions", SessionWindows.with_gap(5), int, max, max)
    value_of = table.value_getter(context)
    return lambda start, end: value_of(Windowed("k", SessionWindow(start, end))), asked


def put(store, start, end, aggregate):
    store.put(Windowed("k", SessionWindow(start, end)), aggregate)


@pytest.mark.points(8, task=3)
def test_a_session_is_found_by_its_end(store, getter):
    """Among others of its key"""
    value_of, _ = getter
    for start, end, aggregate in ((0, 3, 10), (9, 15, 20), (30, 30, 30)):
        put(store, start, end, aggregate)
    found = [value_of(0, 3), value_of(9, 15), value_of(30, 30)]
    assert found == [10, 20, 30], f"the aggregates of the sessions are 10, 20, 30; yours: {found}"
    asked, find = [], store.find_sessions

    def noted(key, earliest_session_end, latest_session_start):
        asked.append((earliest_session_end, latest_session_start))
        return find(key, earliest_session_end, latest_session_start)

    store.find_sessions = noted
    assert value_of(0, 9) == 20, "the end decides: at 9 there is the session with 20"
    assert asked == [(9, 9)], f"ask the store for 9 to 9, not for all sessions of the key; you asked for {asked}"
    put(store, 50, 50, 0)
    assert value_of(50, 50) == 0, f"0 is an aggregate like any other; yours: {value_of(50, 50)}"


@pytest.mark.points(6, task=3)
def test_a_session_that_is_not_there(store, getter):
    """None, and one look for the store"""
    value_of, asked = getter
    put(store, 0, 3, 10)
    try:
        found = [value_of(5, 8), value_of(0, 3)]
    except (IndexError, StopIteration, ProcessorStateError) as error:
        pytest.fail(f"no session is there at 8: return None, that is no error; yours raised {type(error).__name__}")
    assert found == [None, 10], f"no session is there at 8: None, and then 10 for [0, 3]; yours: {found}"
    assert asked == ["sessions"], f"get the store once, not at each look-up; you asked for {asked}"


@pytest.mark.points(6, task=3)
def test_two_sessions_at_the_same_time(store, getter):
    """The store is damaged"""
    value_of, _ = getter
    put(store, 1, 5, 10)
    put(store, 3, 8, 20)
    rule = "two sessions of a key at the same time cannot be right"
    raised = must_raise(ProcessorStateError, rule, value_of, 1, 5)
    missing = [part for part in ("sessions", "k", "5") if part not in str(raised)]
    assert missing == [], f"name the store, the key and the end; yours, without {missing}: {raised}"
