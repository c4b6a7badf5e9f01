"""Programs that run inside a world: a producer whose records are out of order, instances of a drawn application, and
readers of its topics.

Not in Kafka.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kafka_lite.testing.simulation.programs import Load, poll_or_back_off, producer
from kafka_lite.testing.simulation.streams.drawn_times import DrawnTimes
from kafka_lite.testing.simulation.streams.programs import SMALL_BATCH_BYTES, committed_reader, run_application
from kafka_lite.testing.simulation.transactional_programs import committed_records

if TYPE_CHECKING:
    from kafka_lite.testing.history.history import History
    from kafka_lite.testing.simulation.streams.drawing import Drawing
    from kafka_lite.testing.simulation.streams.seen import Seen

APPLICATION_ID = "drawn"
BEHIND_MS = 3_600_000
"""How far the first timestamp is behind the wall clock. Brokers keep changelogs for a day more than their windows."""


def drawn_producer(bootstrap: str, name: str, load: Load, history: History, drawing: Drawing) -> None:
    """Send idempotent records with drawn timestamps, until the history sends no more."""
    start_ms = int(time.time() * 1000) - BEHIND_MS
    times = DrawnTimes(random.Random(random.random()), start_ms, are_distinct=drawing.needs_distinct_times)
    configs = {"enable.idempotence": True, "batch.size": SMALL_BATCH_BYTES}
    producer(bootstrap, name, load, history, configs, times.draw)


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
    consumer = committed_reader(bootstrap, name, topics, **{"allow.auto.create.topics": False})
    while not history.is_over:
        _see(poll_or_back_off(consumer), seen)
    consumer.close()


def last_reader(bootstrap: str, topics: Mapping[str, int], seen: Seen) -> None:
    """See everything that is committed."""
    _see(committed_records(bootstrap, topics), seen)


def _see(records: Iterable[Any], seen: Seen) -> None:
    for record in records:
        seen.add(record.topic, record.partition, record.offset, record.key, record.value, record.timestamp)
