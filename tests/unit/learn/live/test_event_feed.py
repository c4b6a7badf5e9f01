"""The events of a live cluster: no floods, and only what is new."""

from __future__ import annotations

from kafka_learn.live.event_feed import KEPT, LONGEST, EventFeed

SECOND = 10**9


def lines(feed: EventFeed) -> list[tuple[str, int]]:
    return [(entry["text"], entry["count"]) for entry in feed.news()]


def test_each_event_is_a_line_with_its_time() -> None:
    feed = EventFeed()
    feed.note(1_500_000_000, "broker-0: started")
    feed.note(2 * SECOND, "broker-1: kill -9\nwith details that nobody reads")
    assert [(entry["time_s"], entry["text"]) for entry in feed.news()] == [
        (1.5, "broker-0: started"),
        (2.0, "broker-1: kill -9"),
    ]


def test_a_flood_is_one_line_with_a_count() -> None:
    feed = EventFeed()
    for number in range(50):
        feed.note(number * SECOND // 10, f"producer: WARNING no connection to node 1, try {number}")
    assert lines(feed) == [("producer: WARNING no connection to node 1, try 0", 50)]


def test_the_same_event_of_another_broker_is_a_line_of_its_own() -> None:
    feed = EventFeed()
    feed.note(0, "broker-1: started")
    feed.note(1, "broker-2: started")
    assert lines(feed) == [("broker-1: started", 1), ("broker-2: started", 1)]


def test_the_same_event_after_a_quiet_while_is_a_new_line() -> None:
    feed = EventFeed()
    feed.note(0, "broker-1: kill -9")
    feed.note(60 * SECOND, "broker-1: kill -9")
    assert lines(feed) == [("broker-1: kill -9", 1)] * 2


def test_news_are_what_was_not_told_before() -> None:
    feed = EventFeed()
    feed.note(0, "one")
    feed.note(1, "two")
    assert lines(feed) == [("one", 1), ("two", 1)]
    assert lines(feed) == []
    feed.note(2, "two")
    feed.note(3, "three")
    assert lines(feed) == [("two", 2), ("three", 1)]


def test_it_stays_small() -> None:
    feed = EventFeed()
    for number in range(2 * KEPT):
        feed.note(number * 60 * SECOND, "x" * number)
    assert len(feed._entries) == KEPT
    assert max(len(text) for text, _ in lines(feed)) == LONGEST


def test_what_a_reader_does_is_a_line_each_time() -> None:
    feed = EventFeed()
    feed.note(0, "you: produce 10 all", is_own=True)
    feed.note(1, "you: produce 10 all", is_own=True)
    assert [entry["count"] for entry in feed.news()] == [1, 1]
