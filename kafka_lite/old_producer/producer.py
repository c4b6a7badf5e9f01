"""The old producer, synchronous or asynchronous.

Kafka 0.10.2: core/.../producer/Producer.scala · book 2.2.1
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Mapping
from typing import Any, Self

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.new_instance import new_instance
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.old_producer.default_event_handler import DefaultEventHandler, EventHandler
from kafka_lite.old_producer.encoder import Encoder
from kafka_lite.old_producer.keyed_message import KeyedMessage
from kafka_lite.old_producer.partitioner import Partitioner
from kafka_lite.old_producer.producer_config import ProducerConfig
from kafka_lite.old_producer.producer_pool import ProducerPool
from kafka_lite.old_producer.producer_send_thread import ProducerSendThread
from kafka_lite.old_producer.producer_stats import ProducerStatsRegistry


class ProducerClosedError(KafkaError):
    """The producer is closed."""

    def __init__(self) -> None:
        super().__init__("producer already closed: create another one")


class QueueFullError(KafkaError):
    """The queue of an asynchronous producer is full, and the message was dropped."""


class Producer:
    """``send`` blocks until the messages are acknowledged (``producer.type=sync``), or only queues them (async).

    ::

        sync    send ─▶ DefaultEventHandler.handle ─▶ SyncProducer ─▶ broker
        async   send ─▶ queue ─▶ ProducerSendThread ─ batch ─▶ DefaultEventHandler.handle ─▶ …

    Unlike with the new producer, nobody learns the offset of a message, a failure of an asynchronous producer is only
    logged, and the sending thread waits for one broker after the other. Thread-safe, one ``send`` at a time.
    """

    def __init__(
        self, configs: Mapping[str, object], event_handler: EventHandler | None = None, time: Time = SYSTEM_TIME
    ) -> None:
        """Raises ConfigError. ``event_handler`` replaces the default one in tests."""
        self.config = config = ProducerConfig(configs)
        self.stats = ProducerStatsRegistry(config["client.id"], time)
        """The metrics. ``stats.beans()`` returns them under the names of Kafka's beans."""
        self._handler = event_handler or default_event_handler(config, time, self.stats)
        self._lock = threading.Lock()
        self._closed = False
        self._queue: queue.Queue[KeyedMessage | None] = queue.Queue(config["queue.buffering.max.messages"])
        self._send_thread: ProducerSendThread | None = None
        if config["producer.type"] == "async":
            self._send_thread = ProducerSendThread(
                f"ProducerSendThread-{config['client.id']}",
                self._queue,
                self._handler,
                config["queue.buffering.max.ms"],
                config["batch.num.messages"],
                time,
            )
            tags = {"clientId": config["client.id"]}
            group = self.stats.group("ProducerSendThread", "kafka.producer.async")
            group.new_gauge("ProducerQueueSize", self._queue.qsize, tags)
            self._send_thread.start()

    def send(self, *messages: KeyedMessage) -> None:
        """Send messages, or queue them.

        Raises ProducerClosedError; FailedToSendMessageError (sync); QueueFullError (async, if the queue stays full for
        ``queue.enqueue.timeout.ms``).
        """
        for message in messages:
            if not isinstance(message, KeyedMessage):
                raise TypeError(f"send takes KeyedMessages, not a {type(message).__name__}: KeyedMessage(topic, value)")
        with self._lock:
            if self._closed:
                raise ProducerClosedError
            for message in messages:
                self.stats.topics.sent(message.topic)
            if self._send_thread is None:
                self._handler.handle(messages)
            else:
                for message in messages:
                    self._enqueue(message)

    def _enqueue(self, message: KeyedMessage) -> None:
        timeout_ms = self.config["queue.enqueue.timeout.ms"]
        try:
            if timeout_ms < 0:
                self._queue.put(message)
            else:
                self._queue.put(message, block=timeout_ms > 0, timeout=timeout_ms / 1000 or None)
        except queue.Full:
            self.stats.topics.dropped(message.topic)
            raise QueueFullError(
                f"Event queue is full of unsent messages, could not send event for topic {message.topic}"
            ) from None

    def close(self) -> None:
        """Send what is queued, then close all connections. Further calls do nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            if self._send_thread is not None:
                self._send_thread.finish()
            self._handler.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def default_event_handler(
    config: ProducerConfig, time: Time, stats: ProducerStatsRegistry | None = None
) -> DefaultEventHandler:
    """The handler with the configured partitioner and encoders."""
    stats = stats or ProducerStatsRegistry(config["client.id"], time)

    def made(key: str, kind: type[Any], name: str) -> Any:
        return new_instance(key, kind, name, config.originals)

    encoder = made("serializer.class", Encoder, config["serializer.class"])
    key_encoder_name = config["key.serializer.class"] or config["serializer.class"]
    return DefaultEventHandler(
        config,
        made("partitioner.class", Partitioner, config["partitioner.class"]),
        encoder,
        made("key.serializer.class", Encoder, key_encoder_name),
        ProducerPool(config, stats.requests),
        time,
        stats=stats,
    )
