"""Task 2: a record joins sessions."""

import random

import pytest

from kafka_lite.common.serdes import Serdes
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.session_windows import SessionWindows
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.state.stores import Stores
from kafka_lite.streams.state.windowed.serializing_session_store import SerializingSessionStore

GAP = SessionWindows.with_gap(5)


@pytest.mark.points(5, task=2)
def test_a_session_grows(counting, changes):
    """Its old self is deleted first"""
    found = changes(counting(GAP), ("a", 0), ("a", 3))
    assert found == [["a[0,0]=1"], ["a[0,0]=None", "a[0,3]=2"]], (
        f"the session has new bounds, so what was [0,0] is deleted before [0,3] is sent; yours: {found}"
    )


@pytest.mark.points(1, task=2)
def test_only_near_sessions_are_read(counting, changes, monkeypatch):
    """A gap of 5, a record at 10"""
    asked, find = [], SerializingSessionStore.find_sessions

    def noted(store, key, first, last):
        asked.append((first, last))
        return find(store, key, first, last)

    monkeypatch.setattr(SerializingSessionStore, "find_sessions", noted)
    changes(counting(GAP), ("a", 10))
    assert (5, 15) in asked, f"ask the store for sessions from 5 to 15, the gap before and after 10; you asked {asked}"
    assert max(last - first for first, last in asked) == 10, (
        f"near sessions are from 5 to 15: do not read all sessions of the key; you asked {asked}"
    )


@pytest.mark.points(4, task=2)
def test_the_gap(counting, changes):
    """Exactly the gap is near, one more is not, before and after"""
    found = [changes(counting(GAP), ("a", 10), ("a", time))[1][-1] for time in (15, 16, 5, 4)]
    assert found == ["a[10,15]=2", "a[16,16]=1", "a[5,10]=2", "a[4,4]=1"], (
        f"a session is near if it is at most the gap before or after the record; yours: {found}"
    )


@pytest.mark.points(5, task=2)
def test_two_sessions_become_one(counting, changes):
    """A late record in between"""
    found = changes(counting(GAP), ("a", 0), ("a", 10), ("b", 5), ("a", 5))[-1]
    wanted = ["a[0,0]=None", "a[10,10]=None", "a[0,10]=3"]
    assert found == wanted, f"all near sessions of the key are deleted, and one is sent: {wanted}; yours: {found}"


@pytest.mark.points(4, task=2)
def test_the_store_forgets_merged_sessions(counting, changes):
    """What was deleted is not counted again"""
    found = changes(counting(GAP), ("a", 0), ("a", 3), ("a", 4))[-1]
    assert found == ["a[0,3]=None", "a[0,4]=3"], (
        f"a merged session is removed from the store, so the third record finds [0,3] alone; yours: {found}"
    )
    found = changes(counting(GAP), ("a", 0), ("a", 3), ("a", 2))[-1]
    assert found == ["a[0,3]=None", "a[0,3]=3"], (
        f"all near sessions are deleted if the new one is no single moment, also one with its bounds; yours: {found}"
    )


@pytest.mark.points(4, task=2)
def test_the_same_moment_and_no_key(counting, changes):
    """A session that stays as it is, and a record that has none"""
    found = changes(counting(GAP), ("a", 7), ("a", 7), (None, 7))
    assert found[1] == ["a[7,7]=2"], f"a session of one moment keeps its key: nothing is deleted; yours: {found[1]}"
    assert found[2] == [], "a record without a key belongs to no session: drop it"
    found = changes(counting(GAP), ("", 7))
    assert found == [["[7,7]=1"]], f"an empty key is a key, only None is none; yours: {found}"
    found = changes(counting(GAP), ("a", 7, None))
    assert found == [["a[7,7]=1"]], (
        f"only a record without a key is dropped, one without a value counts; yours: {found}"
    )


@pytest.mark.points(4, task=2)
def test_the_order_of_aggregates(changes):
    """The initializer, the sessions, oldest first, and the record"""
    builder = KStreamBuilder()
    texts = builder.stream("in").group_by_key().aggregate(
        lambda: "(", lambda _, value, text: text + value, Serdes.string(), "Texts", GAP, lambda _, one, two: one + two
    )  # fmt: skip
    texts.to_stream(lambda session, _: session.key).to("out")
    found = changes(builder, ("a", 0), ("a", 10), ("a", 5))[-1][-1]
    assert found == "a=((0(12", (
        f"the initializer's value, merged with each session, oldest first; then the record: a=((0(12; yours: {found}"
    )


@pytest.mark.points(4, task=2)
def test_sessions_beside_a_model(counting, changes):
    """A hundred records in random order: what is left are the records without long gaps"""
    chance, table = random.Random(8), {}
    records = [(chance.choice("ab"), chance.randint(0, 300)) for _ in range(100)]
    for sent in changes(counting(GAP), *records):
        table.update(change.split("=") for change in sent)
    wanted = {}
    for key in "ab":
        session = []
        for time in [*sorted(time for each, time in records if each == key), 10**6]:
            if session and time - session[-1] > 5:
                wanted[f"{key}[{session[0]},{session[-1]}]"] = str(len(session))
                session = []
            session.append(time)
    found = {name: count for name, count in table.items() if count != "None"}
    assert found == wanted, (
        f"only in yours: {found.items() - wanted.items()}; missing: {wanted.items() - found.items()}"
    )


@pytest.mark.points(4, task=2)
def test_what_is_forwarded(changes):
    """New and old aggregates, and what the store has by then"""
    seen, stored = [], []

    class Changes(Processor):
        def process(self, key, value):
            seen.append((key.window.start, key.window.end, *value))
            there = [session for session, _ in self.context.get_state_store("Counts").find_sessions("a", 0, 99)]
            stored.append(key in there)

    builder = KStreamBuilder()
    store = Stores.in_memory_session("Counts", GAP.maintain_ms, Serdes.string(), Serdes.long())
    counts = builder.stream("in").group_by_key().count(store, GAP)
    counts.supplier.enable_sending_old_values()
    builder.add_processor("changes", Changes, counts.name).connect_processor_and_state_stores("changes", "Counts")
    changes(builder, ("a", 0), ("a", 3))
    assert seen == [(0, 0, 1, None), (0, 0, None, 1), (0, 3, 2, None)], (
        f"(start, end, new, old): a deletion has the old aggregate, 1, a new session has none; yours: {seen}"
    )
    assert stored == [True, False, True], (
        "the store is changed first, then the change is forwarded: what is below may look it up. [0,0] is there, then "
        f"gone, and [0,3] is there; yours: {stored}"
    )
