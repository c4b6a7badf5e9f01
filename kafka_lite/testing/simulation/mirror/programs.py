"""Programs that run inside a world: a MirrorMaker, and a witness of what it copies.

Not in Kafka. Like ``kafka_lite.testing.simulation.programs``, a world loads this module once per process.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kafka_lite.testing.simulation.mirror.facts import COPIES, ORIGINALS, Copy
from kafka_lite.testing.simulation.programs import (
    CONSUMER_DEFAULTS,
    PRODUCER_DEFAULTS,
    poll_or_back_off,
    text_of,
)
from kafka_lite.testing.simulation.transactional_programs import committed_records

if TYPE_CHECKING:
    from kafka_lite.testing.history.history import History
    from kafka_lite.testing.simulation.mirror.facts import Facts

GROUP = "mirrors"
LOOKS_S = 0.5
"""How often a mirror checks whether it should end."""
HANDLER = "kafka_lite.testing.simulation.mirror.to_copies.ToCopies"
OWN = ("delivery.timeout.ms",)
"""The mirror has a value of its own for these."""


def mirror(bootstrap: str, name: str, target: str, streams: int, interval_ms: int, history: History) -> None:
    """Mirror to ``target`` until the history is over. If a thread ends, start another mirror, as a supervisor would."""
    from kafka_lite.mirror.maker.mirror_maker_config import MirrorMakerConfig

    reading = {"group.id": GROUP, "metadata.max.age.ms": "3000"}
    consumer = {"bootstrap.servers": bootstrap, **_texts(CONSUMER_DEFAULTS), **reading}
    producer = {"bootstrap.servers": target, **_texts(PRODUCER_DEFAULTS), "client.id": name}
    del consumer["enable.auto.commit"]
    for key in OWN:
        del producer[key]
    config = MirrorMakerConfig(
        consumer,
        producer,
        whitelist=ORIGINALS,
        num_streams=streams,
        offset_commit_interval_ms=interval_ms,
        message_handler=HANDLER,
    )
    while not history.is_over:
        _mirror_until_a_thread_ends(config, history)


def _texts(configs: Mapping[str, object]) -> dict[str, str]:
    return {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in configs.items()}


def _mirror_until_a_thread_ends(config: Any, history: History) -> None:
    from kafka_lite.mirror.maker.mirror_maker import MirrorMaker

    mirror = MirrorMaker.create(config)
    mirror.start()
    while not history.is_over and not mirror.await_end(LOOKS_S):
        pass
    mirror.initiate_shutdown()
    mirror.await_shutdown()


def witness(bootstrap: str, name: str, partitions: int, facts: Facts, history: History) -> None:
    """Read COPIES until the history is over, and tell the facts what is there."""
    from kafka_lite.common.topic_partition import TopicPartition
    from kafka_lite.consumer import KafkaConsumer

    with KafkaConsumer({"bootstrap.servers": bootstrap, "client.id": name, **CONSUMER_DEFAULTS}) as reader:
        reader.assign([TopicPartition(COPIES, number) for number in range(partitions)])
        while not history.is_over:
            facts.seen.update(text_of(record.value) or "" for record in poll_or_back_off(reader))


def read_copies(bootstrap: str, partitions: int, facts: Facts) -> None:
    """Tell the facts what is in COPIES at the end."""
    for record in committed_records(bootstrap, {COPIES: partitions}):
        value = text_of(record.value) or ""
        facts.copies.append(Copy(record.partition, record.offset, text_of(record.key), value))
