"""The topology of word count, by hand: what its witness hears of tasks and counts."""

from __future__ import annotations

from kafka_learn.live.clients.word_count_figures import WordCountFigures
from kafka_learn.live.clients.word_count_program import COUNTS, LINES, TEXT, topology
from kafka_lite.common.serdes import Serdes
from kafka_lite.common.serialization import LongDeserializer
from kafka_lite.streams.topology_test_driver import TopologyTestDriver


def test_words_are_counted_by_the_second_sub_topology() -> None:
    notes: list[str] = []
    figures = WordCountFigures(notes.append)
    driver = TopologyTestDriver(
        topology("instance-1", figures), application_id="app", key_serde=Serdes.string(), value_serde=Serdes.string()
    )
    assert figures.as_json()["instances"]["instance-1"]["tasks"] == ["0_0", "1_0"]
    driver.pipe_input(TEXT, None, "to be or not to be")
    found = iter(lambda: driver.read_output(COUNTS, None, LongDeserializer()), None)
    assert [(record.key, record.value) for record in found] == [
        ("to", 1), ("be", 1), ("or", 1), ("not", 1), ("to", 2), ("be", 2),
    ]  # fmt: skip
    words = figures.as_json()["words"]
    assert words["be"] == {"count": 2, "instance": "instance-1", "task": "1_0"}
    assert sorted(words) == ["be", "not", "or", "to"]
    driver.close()
    assert figures.as_json()["instances"]["instance-1"]["tasks"] == []


def test_the_lines_have_words_of_both_partitions() -> None:
    assert len(set(" ".join(LINES).split())) > len(LINES)
