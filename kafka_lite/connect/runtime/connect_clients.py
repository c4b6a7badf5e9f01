"""Makes the clients of a worker. Give your own to see or to replace them, in tests for example.

Kafka 0.10.2: connect/runtime/.../connect/runtime/Worker.java (producerProps), WorkerSinkTask.java (createConsumer),
connect/util/KafkaBasedLog.java (createProducer, createConsumer) · book 8.3.5
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.connect.runtime.group_admin import GroupAdmin
from kafka_lite.connect.runtime.topic_admin import TopicAdmin
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.producer.kafka_producer import KafkaProducer


class ConnectClients:
    """Each method makes a new client, and raises ConfigError. The caller closes it."""

    def __init__(self, time: Time = SYSTEM_TIME) -> None:
        self._time = time

    def consumer(self, config: Mapping[str, object]) -> KafkaConsumer:
        """The consumer of a sink task or of an internal topic."""
        return KafkaConsumer(config, time=self._time)

    def producer(self, config: Mapping[str, object]) -> KafkaProducer:
        """The producer of a source task or of an internal topic."""
        return KafkaProducer(config, time=self._time)

    def topic_admin(self, config: Mapping[str, object]) -> TopicAdmin:
        """Creates and checks topics. It need not be closed."""
        return TopicAdmin(config, self._time)

    def group_admin(self, config: Mapping[str, object]) -> GroupAdmin:
        """Changes the offsets of consumer groups. It need not be closed."""
        return GroupAdmin(config, self._time)
