"""Word count, node by node with the Processor API, and in five lines with the DSL.

Both read lines from ``text``, count each word in a store, and write every new count to ``word-counts``.
"""

from __future__ import annotations

from typing import Any

from kafka_lite.common.serdes import Serdes
from kafka_lite.common.serialization import LongSerializer, StringDeserializer, StringSerializer
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.processor.processor_context import ProcessorContext
from kafka_lite.streams.processor.topology_builder import TopologyBuilder
from kafka_lite.streams.state.stores import Stores

TEXT = "text"
WORD_COUNTS = "word-counts"


def five_lines() -> KStreamBuilder:
    """The DSL: say what is to happen to the records."""
    string, long = Serdes.string(), Serdes.long()
    builder = KStreamBuilder()
    lines = builder.stream(TEXT, key_serde=string, value_serde=string)
    words = lines.flat_map_values(lambda line: line.lower().split())
    counts = words.group_by(lambda _, word: word, string, string).count("Counts")
    counts.to(WORD_COUNTS, string, long)
    return builder


class Split(Processor[Any, str]):
    """Forwards each word of a line, as key and value."""

    def process(self, key: Any, value: str) -> None:  # noqa: ARG002
        """Split a line."""
        for word in value.lower().split():
            self.context.forward(word, word)


class Count(Processor[str, str]):
    """Forwards each word with the number of times it has come so far."""

    def init(self, context: ProcessorContext) -> None:
        """Get the store."""
        super().init(context)
        self.counts: Any = context.get_state_store("counts")

    def process(self, key: str, value: str) -> None:  # noqa: ARG002
        """Count a word."""
        count = (self.counts.get(key) or 0) + 1
        self.counts.put(key, count)
        self.context.forward(key, count)


def node_by_node() -> TopologyBuilder:
    """The Processor API: declare each source, processor, store and sink.

    ::

        text ─▶ lines ─▶ split ─▶ to-words ─▶ (words) ─▶ words ─▶ count ─▶ counted ─▶ word-counts
                                                                  (counts)
    """
    to_string, of_string = StringSerializer(), StringDeserializer()
    builder = TopologyBuilder().add_internal_topic("words")
    builder.add_source("lines", TEXT, value_deserializer=of_string)
    builder.add_processor("split", Split, "lines")
    builder.add_sink("to-words", "words", "split", key_serializer=to_string, value_serializer=to_string)
    builder.add_source("words", "words", key_deserializer=of_string, value_deserializer=of_string)
    builder.add_processor("count", Count, "words")
    builder.add_state_store(Stores.in_memory_key_value("counts", Serdes.string(), Serdes.long()), "count")
    builder.add_sink("counted", WORD_COUNTS, "count", key_serializer=to_string, value_serializer=LongSerializer())
    return builder
