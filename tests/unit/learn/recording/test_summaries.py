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
