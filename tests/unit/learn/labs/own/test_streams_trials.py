"""The applications of the trials, without a broker."""

from __future__ import annotations

from collections import Counter

import pytest

from kafka_learn.labs.own import streams_trials
from kafka_learn.labs.own.streams_trials import await_counts, lines_of, windowed_count, word_count, words_of
from kafka_lite.common.serialization import LongDeserializer, StringDeserializer, StringSerializer
from kafka_lite.streams.topology_test_driver import TopologyTestDriver

STRING = StringSerializer()


class FakeConsumer:
    """Returns counts as records, then nothing."""

    counts: tuple[tuple[str, int], ...] = ()

    def __init__(self, _configs: object) -> None:
        self.left = [FakeMessage(word, count) for word, count in self.counts]

    def assign(self, _partitions: object) -> None: ...

    def poll(self, _timeout_s: float) -> FakeMessage | None:
        return self.left.pop(0) if self.left else None

    def close(self) -> None: ...


class FakeMessage:
    def __init__(self, word: str, count: int) -> None:
        self.word, self.count = word, count

    def error(self) -> None: ...

    def key(self) -> bytes:
        return self.word.encode()

    def value(self) -> bytes:
        return self.count.to_bytes(8, "big", signed=True)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> type[FakeConsumer]:
    monkeypatch.setattr(streams_trials, "Consumer", FakeConsumer)
    monkeypatch.setattr(streams_trials, "LIMIT_S", 0.01)
    return FakeConsumer


def outputs(driver: TopologyTestDriver, topic: str) -> dict[str, int]:
    found: dict[str, int] = {}
    while (record := driver.read_output(topic, StringDeserializer(), LongDeserializer())) is not None:
        found[record.key] = record.value
    return found


def test_words_are_counted() -> None:
    lines = lines_of(1, 20)
    assert lines == lines_of(1, 20) != lines_of(2, 20)
    with TopologyTestDriver(word_count("lines", "counts")) as driver:
        for line in lines:
            driver.pipe_input("lines", None, line, key_serializer=STRING, value_serializer=STRING)
        assert outputs(driver, "counts") == words_of(lines)
    assert words_of(lines).total() == 100


def test_words_are_counted_by_the_second() -> None:
    with TopologyTestDriver(windowed_count()) as driver:
        for word, at_ms in (("a", 5_000), ("a", 5_999), ("a", 6_000), ("b", 3_000)):
            driver.pipe_input("said", None, word, timestamp=at_ms, key_serializer=STRING, value_serializer=STRING)
        assert outputs(driver, "said-by-second") == {"a@5000": 2, "a@6000": 1, "b@3000": 1}


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ((), "2 of 2 keys have no count, a among them"),
        ((("a", 1), ("b", 1)), "b has the count 1, and must have 2"),
        ((("a", 1), ("b", 2), ("c", 1)), "c has the count 1, and must have 0"),
    ],
)
def test_what_is_wrong_with_counts_is_said(
    counted: type[FakeConsumer], monkeypatch: pytest.MonkeyPatch, counts: tuple[tuple[str, int], ...], says: str
) -> None:
    # The last one comes after the right counts, so they are not complete yet when it is there.
    monkeypatch.setattr(counted, "counts", tuple(reversed(counts)))
    with pytest.raises(AssertionError) as raised:
        await_counts("none:1", "counts", Counter(a=1, b=2))
    assert str(raised.value) == says


def test_the_last_count_of_a_word_counts(counted: type[FakeConsumer], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counted, "counts", (("a", 3), ("b", 2), ("a", 1)))
    await_counts("none:1", "counts", Counter(a=1, b=2))
