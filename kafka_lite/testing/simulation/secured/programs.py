"""Programs of a secured cluster: the operator's, which gives users their rights, and those of strangers.

Not in Kafka. Like ``simulation.programs``, a world loads this module once per process.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka_lite.testing.simulation.operator_programs import until_it_works
from kafka_lite.testing.simulation.programs import CONSUMER_DEFAULTS, PRODUCER_DEFAULTS

if TYPE_CHECKING:
    from kafka_lite.testing.cluster_client import ClusterClient
    from kafka_lite.testing.history.history import History

PAUSE_S = 0.5
"""How long a stranger waits before it tries again."""
SHORT: Mapping[str, object] = {
    "request.timeout.ms": 2_000,
    "delivery.timeout.ms": 3_000,
    "max.block.ms": 3_000,
    "retry.backoff.ms": 50,
    "enable.idempotence": False,
}


def allow(bootstrap: str, user: str, rights: Sequence[str]) -> None:
    """Give a user rights, written ``WRITE TOPIC t``; retries until a broker has stored them."""

    def create(client: ClusterClient) -> None:
        for right in rights:
            client.allow(f"User:{user}", *right.split())

    until_it_works(bootstrap, create)


def stranger(bootstrap: str, name: str, topic: str, history: History, configs: Mapping[str, object]) -> None:
    """Try to write and to read a topic until the history is over.

    Raises AssertionError, which ends the run with a violation, if a broker takes a record or returns one.
    """
    while not history.is_sending_over:
        keys: dict[str, Any] = {"bootstrap.servers": bootstrap, "client.id": name, **configs}
        _write(keys, topic)
        _read(keys, topic)
        time.sleep(PAUSE_S)


def _write(keys: Mapping[str, Any], topic: str) -> None:
    from kafka_lite.common.errors import KafkaError
    from kafka_lite.producer import KafkaProducer, ProducerRecord

    try:
        with KafkaProducer({**PRODUCER_DEFAULTS, **SHORT, **keys}) as sender:
            metadata = sender.send(ProducerRecord(topic, b"of a stranger")).get()
    except (KafkaError, OSError):
        return
    raise AssertionError(f"a broker has taken a record of a stranger: {metadata}")


def _read(keys: Mapping[str, Any], topic: str) -> None:
    from kafka_lite.common.errors import KafkaError
    from kafka_lite.consumer import KafkaConsumer

    records: list[Any] = []
    try:
        with KafkaConsumer({**CONSUMER_DEFAULTS, "group.id": "strangers", **keys}) as reader:
            reader.subscribe([topic])
            records += reader.poll(500)
    except (KafkaError, OSError):
        return
    assert not records, f"a broker has given a stranger {records}"
