"""Word count, with a repartition topic and a store: in this process, or in one that can be killed.

``python -m tests.support.word_count TOPOLOGY CONFIGS`` (a name, JSON) runs it until standard input ends.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from kafka_lite.common.serdes import Serdes
from kafka_lite.common.serialization import LongSerializer
from kafka_lite.streams.kafka_streams import KafkaStreams
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.processor.processor_context import ProcessorContext
from kafka_lite.streams.processor.topology_builder import TopologyBuilder
from kafka_lite.streams.state.key_value_store import KeyValueStore
from kafka_lite.streams.state.stores import Stores
from tests.support import streams_topologies

TEXT, COUNTS, CHANGELOG, WORDS = "text", "counts", "word-count-store-changelog", "word-count-words"


class Split(Processor[str, str]):
    """Forwards each word of a line."""

    def process(self, key: str, value: str) -> None:
        for word in value.split():
            self.context.forward(word, word)


class Count(Processor[str, str]):
    """Forwards each word with its number so far."""

    store: KeyValueStore[str, int]

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.store = context.get_state_store("store")  # type: ignore[assignment]

    def process(self, key: str, value: str) -> None:
        count = (self.store.get(key) or 0) + 1
        self.store.put(key, count)
        self.context.forward(key, count)


def word_count() -> TopologyBuilder:
    """text ─▶ split ─▶ words (repartition topic) ─▶ count (store) ─▶ counts"""
    builder = TopologyBuilder().add_internal_topic("words").add_source("lines", TEXT)
    builder.add_processor("split", Split, "lines").add_sink("to-words", "words", "split")
    builder.add_source("from-words", "words").add_processor("count", Count, "from-words")
    builder.add_state_store(Stores.key_value("store", Serdes.string(), Serdes.long()), "count")
    return builder.add_sink("counted", COUNTS, "count", value_serializer=LongSerializer())


def partition_count() -> TopologyBuilder:
    """text ─▶ split ─▶ count (store) ─▶ counts: every task has a store, and counts the words of its partition."""
    builder = TopologyBuilder().add_source("lines", TEXT).add_processor("split", Split, "lines")
    builder.add_processor("count", Count, "split")
    builder.add_state_store(Stores.in_memory_key_value("store", Serdes.string(), Serdes.long()), "count")
    return builder.add_sink("counted", COUNTS, "count", value_serializer=LongSerializer())


TOPOLOGIES: dict[str, Callable[[], TopologyBuilder]] = {
    "word_count": word_count,
    "partition_count": partition_count,
    "word_count_of_two_languages": lambda: streams_topologies.word_count("shared-out"),
}


def configs_of(bootstrap_servers: str, state_dir: Path, **more: object) -> dict[str, object]:
    """Commits soon. ``more`` has keys with underscores for dots."""
    return {
        "application.id": "word-count",
        "bootstrap.servers": bootstrap_servers,
        "state.dir": str(state_dir),
        "key.serde": "kafka_lite.common.serdes.StringSerde",
        "value.serde": "kafka_lite.common.serdes.StringSerde",
        "commit.interval.ms": 100,
        "linger.ms": 5,
        **{key.replace("_", "."): value for key, value in more.items()},
    }


def start_process(configs: Mapping[str, object], topology: str = "word_count") -> subprocess.Popen[bytes]:
    """Word count in a process of its own. It ends with its standard input."""
    command = [sys.executable, "-m", "tests.support.word_count", topology, json.dumps(dict(configs))]
    return subprocess.Popen(command, stdin=subprocess.PIPE, cwd=Path(__file__).parents[2])


if __name__ == "__main__":
    with KafkaStreams(TOPOLOGIES[sys.argv[1]](), json.loads(sys.argv[2])) as streams:
        streams.start()
        sys.stdin.read()
