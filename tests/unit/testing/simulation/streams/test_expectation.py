"""Each way to break exactly once is found in the topics of a drawn application, by histories written by hand."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from kafka_lite.testing.simulation.streams.drawing import Drawing
from kafka_lite.testing.simulation.streams.expectation import RULE, Expectation, judge, topics
from kafka_lite.testing.simulation.streams.seen import Seen

COUNTS_OF_KEYS = Drawing()
CACHED = Drawing(cache_bytes=1_000)
COUNTS_OF_WINDOWS = Drawing(windows="tumbling windows")
NEW_KEYS = Drawing(steps=("map_values", "select_key"))
REPARTITION = "drawn-First-repartition"
TEXT = [("a", "1", 1_000), ("b", "2", 1_000), ("a", "3", 500)]
"""Key, value, timestamp in ms."""
COUNTED = [("a", 1, 1_000), ("b", 1, 1_000), ("a", 2, 500)]


def seen_of(text: Iterable[tuple[str, str, int]], counts: Iterable[tuple[bytes | str, int, int]]) -> Seen:
    """One partition of each topic, the keys of ``counts`` as they are or as text."""
    seen = Seen()
    for offset, (key, value, timestamp) in enumerate(text):
        seen.add("text", 0, offset, key.encode(), value.encode(), timestamp)
    for offset, (windowed, count, timestamp) in enumerate(counts):
        raw = windowed.encode() if isinstance(windowed, str) else windowed
        seen.add("counts", 0, 2 * offset, raw, count.to_bytes(8), timestamp)
    return seen


def found(drawing: Drawing, seen: Seen, partitions: int = 1) -> list[str]:
    violations = judge(drawing, partitions, seen)
    assert all(violation.rule == RULE for violation in violations)
    return [violation.text for violation in violations]


def test_each_record_counted_once_in_order_is_right() -> None:
    assert found(COUNTS_OF_KEYS, seen_of(TEXT, COUNTED)) == []


def test_a_lost_record_is_found() -> None:
    (text,) = found(COUNTS_OF_KEYS, seen_of(TEXT, COUNTED[:2]))
    assert "ends after 2 records, and lacks b'a': b'\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02' of 500" in text


def test_a_lost_record_before_others_is_found() -> None:
    (text,) = found(COUNTS_OF_KEYS, seen_of(TEXT, [COUNTED[0], COUNTED[2]]))
    assert "as record 1, where b'b'" in text


def test_a_duplicate_is_found() -> None:
    (text,) = found(COUNTS_OF_KEYS, seen_of(TEXT, [*COUNTED, COUNTED[2]]))
    assert "at 6, as record 3, where the end is due" in text


def test_a_record_counted_twice_is_found() -> None:
    assert found(COUNTS_OF_KEYS, seen_of(TEXT, [*COUNTED, ("a", 3, 500)]))


def test_a_swapped_order_is_found() -> None:
    (text,) = found(COUNTS_OF_KEYS, seen_of(TEXT, [COUNTED[1], COUNTED[0], COUNTED[2]]))
    assert "as record 0, where b'a'" in text


def test_a_wrong_timestamp_is_found() -> None:
    assert found(COUNTS_OF_KEYS, seen_of(TEXT, [*COUNTED[:2], ("a", 2, 1_000)]))


@pytest.mark.parametrize("results", [COUNTED, COUNTED[1:], [COUNTED[2], COUNTED[1]]])
def test_a_cache_may_hold_results_back_and_reorder_keys(results: list[tuple[str, int, int]]) -> None:
    assert found(CACHED, seen_of(TEXT, results)) == []


@pytest.mark.parametrize(
    ("results", "text"),
    [
        ([COUNTED[0], COUNTED[1]], "lacks b'a'"),
        ([COUNTED[0], COUNTED[2]], "lacks b'b'"),
        ([*COUNTED, COUNTED[2]], "has b'a'"),
        ([COUNTED[1], COUNTED[2], COUNTED[0]], "has b'a'"),
        ([*COUNTED, ("c", 1, 500)], "has b'c'"),
        ([*COUNTED, ("a", 3, 500)], "has b'a'"),
    ],
)
def test_the_last_result_of_each_key_must_leave_the_cache_behind_the_others(
    results: list[tuple[str, int, int]], text: str
) -> None:
    (violation,) = found(CACHED, seen_of(TEXT, results))
    assert violation.startswith(f"counts-0 {text}")


def test_cached_results_are_complete_with_the_last_of_each_key() -> None:
    for results, is_complete in ((COUNTED[:2], False), (COUNTED[1:], True)):
        seen, expectation = seen_of(TEXT, results), Expectation(CACHED, 1)
        expectation.feed(seen)
        assert expectation.is_complete(seen) == is_complete


def windowed(start_ms: int, count: int, key: str = "a") -> tuple[bytes, int, int]:
    """What is written for a window: its record has the time at which the window starts."""
    return key.encode() + start_ms.to_bytes(8), count, start_ms


def test_a_wrong_window_is_found() -> None:
    text = [("a", "1", 31_000), ("a", "2", 29_000), ("a", "3", 59_000)]
    first, *_, last = counts = [windowed(30_000, 1), windowed(0, 1), windowed(30_000, 2)]
    assert found(COUNTS_OF_WINDOWS, seen_of(text, counts)) == []
    (violation,) = found(COUNTS_OF_WINDOWS, seen_of(text, [first, windowed(30_000, 2), last]))
    assert "as record 1, where b'a\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00'" in violation


def test_a_record_that_is_too_late_begins_its_window_anew() -> None:
    """The store has dropped the window, and so has the one of the judge."""
    text = [("a", "1", 1_000), ("a", "2", 1_000), ("a", "3", 400_000), ("a", "4", 1_000), ("a", "5", 1_000)]
    counts = [windowed(0, 1), windowed(0, 2), windowed(390_000, 1)]
    assert found(COUNTS_OF_WINDOWS, seen_of(text, [*counts, windowed(0, 1), windowed(0, 1)])) == []
    assert found(COUNTS_OF_WINDOWS, seen_of(text, [*counts, windowed(0, 3), windowed(0, 4)]))


# ── behind a repartition topic ────────────────────────────────────────────────────────────────────────────────────────

IN_ORDER = ("0!", "2!", "9!")
"""All three have the same new key, and so go to the same partition."""


def renamed(order: Iterable[str], counts: Iterable[int]) -> Seen:
    """Two partitions of text: 0 and 2 are in one, 9 in the other. What each has become is in one partition."""
    seen = Seen()
    for partition, offset, value in ((0, 0, b"0"), (0, 1, b"2"), (1, 0, b"9")):
        seen.add("text", partition, offset, b"a", value, 1_000)
    for offset, text in enumerate(order):
        seen.add(REPARTITION, 1, offset, b"new-0", text.encode(), 1_000)
    for offset, count in enumerate(counts):
        seen.add("counts", 1, offset, b"new-0", count.to_bytes(8), 1_000)
    return seen


def test_topics_are_those_of_all_sub_topologies() -> None:
    assert topics(NEW_KEYS) == ["text", REPARTITION, "counts"]
    assert topics(Drawing(is_grouped=True)) == ["text", "drawn-Second-repartition", "counts"]


def test_records_of_two_partitions_may_alternate() -> None:
    for order in (IN_ORDER, ("0!", "9!", "2!"), ("9!", "0!", "2!")):
        assert found(NEW_KEYS, renamed(order, [1, 2, 3]), partitions=2) == []


def test_records_of_one_partition_may_not_change_places() -> None:
    (text,) = found(NEW_KEYS, renamed(("2!", "0!", "9!"), [1, 2, 3]), partitions=2)
    assert text.startswith(f"{REPARTITION}-1 has b'new-0': b'2!' of 1000 at 0, as record 0, where b'new-0': b'0!'")


def test_what_is_lost_in_one_topic_is_found_there_only() -> None:
    """What is counted is judged by what is in the repartition topic."""
    (text,) = found(NEW_KEYS, renamed(IN_ORDER[:2], [1, 2]), partitions=2)
    assert text.startswith(f"{REPARTITION}-1 ends after 2 records")
    (text,) = found(NEW_KEYS, renamed(IN_ORDER, [1, 2]), partitions=2)
    assert text.startswith("counts-1 ends after 2 records")


def test_a_duplicate_in_a_repartition_topic_is_found_although_it_is_counted_as_it_is() -> None:
    (text,) = found(NEW_KEYS, renamed([*IN_ORDER, "9!"], [1, 2, 3, 4]), partitions=2)
    assert text.startswith(f"{REPARTITION}-1 has")


def test_topics_are_complete_as_soon_as_they_have_what_the_tasks_send() -> None:
    for counts, is_complete in (([1, 2], False), ([1, 2, 3], True)):
        seen, expectation = renamed(IN_ORDER, counts), Expectation(NEW_KEYS, 2)
        expectation.feed(seen)
        assert expectation.is_complete(seen) == is_complete


def test_only_what_is_new_is_fed() -> None:
    seen, expectation = seen_of(TEXT[:1], COUNTED), Expectation(COUNTS_OF_KEYS, 1)
    expectation.feed(seen)
    for key, value, timestamp in TEXT[1:]:
        seen.add("text", 0, timestamp, key.encode(), value.encode(), timestamp)
        expectation.feed(seen)
    assert list(expectation.violations(seen)) == []
