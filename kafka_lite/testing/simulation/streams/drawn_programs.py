"""Programs that run inside a world: a producer whose records are out of order, instances of a drawn application, and
readers of its topics.

Not in Kafka.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kafka_lite.testing.simulation.programs import BACKOFF_S, CONSUMER_DEFAULTS, PRODUCER_DEFAULTS, Load
from kafka_lite.testing.simulation.streams.drawn_times import DrawnTimes
from kafka_lite.testing.simulation.streams.programs import SMALL_BATCH_BYTES, run_application

if TYPE_CHECKING:
    from kafka_lite.testing.history.history import History
    from kafka_lite.testing.simulation.streams.drawing import Drawing
    from kafka_lite.testing.simulation.streams.seen import Seen

APPLICATION_ID = "drawn"
BEHIND_MS = 3_600_000
"""How far the first timestamp is behind the wall clock. Brokers keep changelogs for a day more than their windows."""


def drawn_producer(bootstrap: str, name: str, load: Load, history: History) -> None:
    """Send records with drawn timestamps to the partitions of their keys, until the history sends no more."""
    from kafka_lite.common.murmur2 import murmur2, to_positive
    from kafka_lite.producer import KafkaProducer, ProducerRecord

    own = {"bootstrap.servers": bootstrap, "client.id": name, "enable.idempotence": True}
    configs = {**PRODUCER_DEFAULTS, **own, "batch.size": SMALL_BATCH_BYTES}
    times, number = DrawnTimes(random.Random(random.random()), int(time.time() * 1000) - BEHIND_MS), 0
    with KafkaProducer(configs) as sender:
        while not history.is_sending_over:
            key = f"key-{random.randrange(load.keys)}"
            partition = to_positive(murmur2(key.encode())) % load.partitions
            sent = history.send(name, load.topic, partition, f"{name}-{number}", key)

            def on_completion(metadata: Any, error: Exception | None, sent: Any = sent) -> None:
                if error is None:
                    history.acknowledge(sent, metadata.offset)
                else:
                    history.fail(sent, repr(error))

            record = ProducerRecord(load.topic, sent.value.encode(), key.encode(), partition, times.draw())
            sender.send(record, on_completion)
            number += 1
            time.sleep(random.expovariate(load.records_per_s))
        sender.flush()


def drawn_instance(
    bootstrap: str, name: str, state_dir: str, replicas: int, drawing: Drawing, history: History
) -> None:
    """Run an instance of the drawn application until the history is over. If its thread dies, start another one."""
    from kafka_lite.testing.simulation.streams.drawn_topology import build

    configs = {
        "application.id": APPLICATION_ID, "bootstrap.servers": bootstrap, "client.id": name, "state.dir": state_dir,
        "replication.factor": replicas, "processing.guarantee": drawing.guarantee,
        "num.standby.replicas": drawing.standbys, "cache.max.bytes.buffering": drawing.cache_bytes,
    }  # fmt: skip
    run_application(lambda: build(drawing), configs, history)


def watching_reader(bootstrap: str, name: str, topics: Mapping[str, int], seen: Seen, history: History) -> None:
    """See what is committed until the history is over. The topics may be created meanwhile."""
    consumer = _consumer(bootstrap, name, topics)
    while not history.is_over:
        _see_more(consumer, seen)
    consumer.close()


def last_reader(bootstrap: str, topics: Mapping[str, int], seen: Seen) -> None:
    """See everything that is committed."""
    from kafka_lite.common.errors import KafkaError

    consumer = _consumer(bootstrap, "last-reader", topics)
    partitions = sorted(consumer.assignment)
    ends: Mapping[Any, int] = {}
    while not ends:
        try:
            ends = consumer.end_offsets(partitions)
        except KafkaError:
            time.sleep(BACKOFF_S)
    while any(_position(consumer, each) < ends[each] for each in partitions):
        _see_more(consumer, seen)
    consumer.close()


def _position(consumer: Any, partition: Any) -> int:
    from kafka_lite.common.errors import KafkaError

    try:
        return int(consumer.position(partition))
    except KafkaError:
        return -1


def _consumer(bootstrap: str, name: str, topics: Mapping[str, int]) -> Any:
    from kafka_lite.common.topic_partition import TopicPartition
    from kafka_lite.consumer import KafkaConsumer

    own = {"isolation.level": "read_committed", "client.id": name, "allow.auto.create.topics": False}
    consumer = KafkaConsumer({"bootstrap.servers": bootstrap, **CONSUMER_DEFAULTS, **own})
    assigned = [TopicPartition(topic, number) for topic, count in topics.items() for number in range(count)]
    consumer.assign(assigned)
    consumer.seek_to_beginning(assigned)
    return consumer


def _see_more(consumer: Any, seen: Seen) -> None:
    from kafka_lite.common.errors import KafkaError

    try:
        records = list(consumer.poll(500))
    except KafkaError:
        time.sleep(BACKOFF_S)
        return
    for record in records:
        seen.add(record.topic, record.partition, record.offset, record.key, record.value, record.timestamp)
