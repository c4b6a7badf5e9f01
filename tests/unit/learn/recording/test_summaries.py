"""Values in a few words."""

from kafka_learn.recording.summaries import summary
from tests.support.recorded_store import Color, Store


def test_values_are_summarised_in_a_few_words():
    assert summary(b"abc") == "3 bytes"
    assert summary({"t-0": b"abc", "t-1": memoryview(b"x"), "t-2": 0}) == "{t-0: 3 bytes, t-1: 1 bytes, …}"
    assert summary((1, Store())) == "[1, Store]"
    assert summary(Color.RED) == "RED"
    assert summary("x" * 100) == "x" * 59 + "…"
    assert summary(object()) is None


def test_a_set_is_shown_in_order_so_that_each_recording_of_a_run_is_the_same():
    names = {f"topic-{number}" for number in range(50)}
    assert summary(names) == summary(sorted(names))
    assert summary(frozenset({b"abcd", 7})) == "[4 bytes, 7]", "by their words if they have no order"
