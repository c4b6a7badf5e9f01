"""Makes the clients of an application. Give your own to see or to replace them, in tests for example.

Kafka 0.10.2: streams/.../streams/KafkaClientSupplier.java, processor/internals/DefaultKafkaClientSupplier.java
· book 9.1.3
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.producer.kafka_producer import KafkaProducer


class KafkaClientSupplier:
    """Each method makes a new client, and raises ConfigError. The caller closes it."""

    def __init__(self, time: Time = SYSTEM_TIME) -> None:
        self._time = time

    def get_consumer(self, config: Mapping[str, object]) -> KafkaConsumer:
        """The consumer that is a member of the group."""
        return KafkaConsumer(config, time=self._time)

    def get_restore_consumer(self, config: Mapping[str, object]) -> KafkaConsumer:
        """A consumer without a group: it restores stores, follows global topics, or asks for the ends of changelogs."""
        return KafkaConsumer(config, time=self._time)

    def get_producer(self, config: Mapping[str, object]) -> KafkaProducer:
        """The producer of a thread or, with exactly_once, of a task."""
        return KafkaProducer(config, time=self._time)
