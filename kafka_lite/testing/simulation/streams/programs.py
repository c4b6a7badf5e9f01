"""Programs that run inside a world: instances of an application that counts, and a reader of its counts.

Not in Kafka.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kafka_lite.testing.simulation.programs import CONSUMER_DEFAULTS, PRODUCER_DEFAULTS, poll_or_back_off

if TYPE_CHECKING:
    from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
    from kafka_lite.testing.history.history import History

APPLICATION_ID = "counter"
TEXT, COUNTS = "text", "counts"
LOOKS_S = 0.2
"""How often an instance checks whether it should end."""
SMALL_BATCH_BYTES = 1_000
"""A batch must fit into the smallest segment. After a pause there is enough to be sent for a larger one, which brokers
would refuse for ever."""
CONFIGS: dict[str, object] = {
    "application.id": APPLICATION_ID,
    "commit.interval.ms": 300,
    "cache.max.bytes.buffering": 0,
    "transaction.timeout.ms": 8_000,
    "auto.offset.reset": "earliest",
    "batch.size": SMALL_BATCH_BYTES,
}
"""Each new count is a record: without a cache, what is sent shows what was counted."""
SHARED = ("session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms", "fetch.max.wait.ms")
"""Settings that an instance's consumers share with those of other programs."""


def counter() -> KStreamBuilder:
    """text ─▶ (a repartition topic) ─▶ how often each key has come so far (a store and its changelog) ─▶ counts"""
    from kafka_lite.common.serdes import Serdes
    from kafka_lite.streams.kstream.kstream import KStream
    from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder

    string, long = Serdes.string(), Serdes.long()
    builder = KStreamBuilder()
    text: KStream[str, str] = builder.stream(TEXT, key_serde=string, value_serde=string)
    by_key = text.select_key(lambda key, _value: key).group_by_key(string, string)
    by_key.count("Counts").to(COUNTS, string, long)
    return builder


def instance(bootstrap: str, name: str, state_dir: str, replicas: int, guarantee: str, history: History) -> None:
    """Run an instance of the application until the history is over. If its thread dies, start another one."""
    configs = {
        "bootstrap.servers": bootstrap, "client.id": name, "state.dir": state_dir, "replication.factor": replicas,
        "processing.guarantee": guarantee,
    }  # fmt: skip
    run_application(counter, configs, history)


def run_application(topology: Callable[[], KStreamBuilder], configs: Mapping[str, object], history: History) -> None:
    """Run an instance of any application with these settings, and those that all have, as ``instance`` does."""
    clients = PRODUCER_DEFAULTS | {key: value for key, value in CONSUMER_DEFAULTS.items() if key in SHARED}
    while not history.is_over:
        _run_until_its_thread_dies(topology(), {**clients, **CONFIGS, **configs}, history)


def _run_until_its_thread_dies(topology: KStreamBuilder, configs: Mapping[str, object], history: History) -> None:
    from kafka_lite.streams.kafka_streams import KafkaStreams, State

    with KafkaStreams(topology, configs) as streams:
        streams.start()
        while not history.is_over and streams.state is not State.ERROR:
            time.sleep(LOOKS_S)


class Counts:
    """By key, the committed counts in the order of their partition."""

    def __init__(self) -> None:
        self.by_key: dict[str, list[int]] = defaultdict(list)

    @property
    def total(self) -> int:
        """How many there are."""
        return sum(map(len, self.by_key.values()))


def reader(bootstrap: str, name: str, partitions: int, counts: Counts, history: History) -> None:
    """Read what is committed until the history is over."""
    from kafka_lite.common.serdes import Serdes

    long = Serdes.long().deserializer
    consumer = committed_reader(bootstrap, name, {COUNTS: partitions})
    while not history.is_over:
        for record in poll_or_back_off(consumer):
            counts.by_key[(record.key or b"").decode()].append(long.deserialize(COUNTS, record.value) or 0)
    consumer.close()


def committed_reader(bootstrap: str, name: str, topics: Mapping[str, int], **configs: object) -> Any:
    """A ``read_committed`` consumer at the beginning of all partitions of the topics."""
    from kafka_lite.common.topic_partition import TopicPartition
    from kafka_lite.consumer import KafkaConsumer

    own = {"bootstrap.servers": bootstrap, "isolation.level": "read_committed", "client.id": name}
    consumer = KafkaConsumer({**CONSUMER_DEFAULTS, **own, **configs})
    assigned = [TopicPartition(topic, number) for topic, count in topics.items() for number in range(count)]
    consumer.assign(assigned)
    consumer.seek_to_beginning(assigned)
    return consumer
