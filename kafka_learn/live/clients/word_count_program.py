"""Word count with Kafka Streams: an instance of the application, and somebody who writes lines of text.

Not in Kafka. The topology is that of chapter 9; its processors tell a witness which tasks an instance has, and what it
counts::

    text ─▶ split ─▶ (words) ─▶ count ─▶ word-counts
                                  │
                               counts, a store in memory with a changelog
"""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from kafka_learn.live.clients.client_programs import CONSUMER_CONFIGS, PRODUCER_CONFIGS

if TYPE_CHECKING:
    from kafka_lite.streams.processor.topology_builder import TopologyBuilder

APPLICATION_ID: Final = "word-count"
TEXT, COUNTS, WORDS, STORE = "text", "word-counts", "words", "counts"
PARTITIONS: Final = 2
"""Of each topic: two tasks count."""
LINES: Final = (
    "to be or not to be", "a log is a file", "the leader has the log", "the group has a leader", "to read is to poll",
)  # fmt: skip
CONFIGS: Final[dict[str, object]] = {
    "application.id": APPLICATION_ID, "commit.interval.ms": 1_000, "cache.max.bytes.buffering": 0,
    "auto.offset.reset": "earliest", "replication.factor": 3, "metadata.max.age.ms": 3_000, "poll.ms": 100,
}  # fmt: skip
"""Without a cache each new count is a record: what is shown is what has been counted."""
SHARED: Final = ("session.timeout.ms", "heartbeat.interval.ms", "fetch.max.wait.ms")
"""Settings that an instance's consumers share with the reader's."""
LOOKS_S: Final = 0.2


class Witness(Protocol):
    """Hears what happens to the instances."""

    def streams_state(self, instance: str, state: str) -> None:
        """An instance has another state."""
        ...

    def task_began(self, instance: str, task: str) -> None:
        """An instance has got a task."""
        ...

    def task_ended(self, instance: str, task: str) -> None:
        """An instance has lost a task, or closed it."""
        ...

    def counted(self, instance: str, task: str, word: str, count: int) -> None:
        """A word has come so often."""
        ...

    def line_written(self, line: str) -> None:
        """A line is in the log."""
        ...


def instance(bootstrap: str, name: str, state_dir: str, witness: Witness) -> None:
    """Run an instance until SIGTERM, and leave the group."""
    from kafka_lite.streams.kafka_streams import KafkaStreams, State

    is_over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: is_over.set())
    clients = PRODUCER_CONFIGS | {key: CONSUMER_CONFIGS[key] for key in SHARED}
    own = {"bootstrap.servers": bootstrap, "client.id": name, "state.dir": str(Path(state_dir) / name)}
    streams = KafkaStreams(topology(name, witness), {**clients, **CONFIGS, **own})
    streams.set_state_listener(lambda new, _: witness.streams_state(name, new.name))
    streams.start()
    while not is_over.wait(LOOKS_S) and streams.state is not State.ERROR:
        pass
    streams.close()


def topology(name: str, witness: Witness) -> TopologyBuilder:
    """The topology, whose processors belong to an instance of this name."""
    from kafka_lite.common.serdes import Serdes
    from kafka_lite.common.serialization import LongSerializer, StringDeserializer, StringSerializer
    from kafka_lite.streams.processor.topology_builder import TopologyBuilder
    from kafka_lite.streams.state.stores import Stores

    split, count = processors(name, witness)
    to_string, of_string = StringSerializer(), StringDeserializer()
    # Sub-topologies are numbered in the order of the names of their sources, as Kafka does it.
    builder = TopologyBuilder().add_internal_topic(WORDS)
    builder.add_source("lines", TEXT, value_deserializer=of_string)
    builder.add_processor("split", split, "lines")
    builder.add_sink("to-words", WORDS, "split", key_serializer=to_string, value_serializer=to_string)
    builder.add_source("words", WORDS, key_deserializer=of_string, value_deserializer=of_string)
    builder.add_processor("count", count, "words")
    builder.add_state_store(Stores.in_memory_key_value(STORE, Serdes.string(), Serdes.long()), "count")
    builder.add_sink("counted", COUNTS, "count", key_serializer=to_string, value_serializer=LongSerializer())
    return builder


def processors(name: str, witness: Witness) -> tuple[Any, Any]:
    """The classes of the processors that split lines and count words."""
    from kafka_lite.streams.processor.processor import Processor

    class Seen(Processor[Any, Any]):
        """Tells when its task begins and ends."""

        def init(self, context: Any) -> None:
            super().init(context)
            witness.task_began(name, str(context.task_id))

        def close(self) -> None:
            witness.task_ended(name, str(self.context.task_id))

    class Split(Seen):
        """Forwards each word of a line, as key and value."""

        def process(self, key: Any, value: str) -> None:  # noqa: ARG002  Kafka's signature
            for word in value.split():
                self.context.forward(word, word)

    class Count(Seen):
        """Counts each word in its store, and forwards the count."""

        def process(self, key: str, value: str) -> None:  # noqa: ARG002  Kafka's signature
            counts: Any = self.context.get_state_store(STORE)
            count = (counts.get(key) or 0) + 1
            counts.put(key, count)
            witness.counted(name, str(self.context.task_id), key, count)
            self.context.forward(key, count)

    return Split, Count


def writer(bootstrap: str, first: int, count: int, witness: Witness) -> None:
    """Write so many lines, the first of them with this number. Tries until the brokers take them."""
    from kafka_lite.producer import KafkaProducer, ProducerRecord

    with KafkaProducer({**PRODUCER_CONFIGS, "bootstrap.servers": bootstrap, "client.id": "writer"}) as producer:
        for number in range(first, first + count):
            line = LINES[number % len(LINES)]

            def on_completion(_metadata: Any, error: Exception | None, line: str = line) -> None:
                if error is None:
                    witness.line_written(line)

            producer.send(ProducerRecord(TEXT, line.encode(), partition=number % PARTITIONS), on_completion)
