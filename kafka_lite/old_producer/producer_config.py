"""The old producer's configuration keys.

Kafka 0.10.2: core/.../producer/ProducerConfig.scala, async/AsyncProducerConfig.scala · book 2.2.1
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from kafka_lite.clients.client_utils import parse_and_validate_addresses
from kafka_lite.common.config_def import NO_DEFAULT, ConfigDef, ConfigError, Importance, Range, Type, ValidString
from kafka_lite.record.compression import CompressionType
from kafka_lite.security.channel_builders import require_plaintext

logger = logging.getLogger(__name__)

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
MAX_INT = 0x7FFFFFFF
_CODECS = {"none": "0", "gzip": "1", "snappy": "2", "lz4": "3"}

CONFIG = (
    ConfigDef()
    .define("metadata.broker.list", Type.LIST, NO_DEFAULT, HIGH,
            "Brokers that are asked for metadata, host:port each; messages are sent to the leaders in the metadata.")
    .define("producer.type", Type.STRING, "sync", HIGH,
            "sync: send returns once the messages are acknowledged. async: a thread sends batches.",
            ValidString.in_("sync", "async"))
    .define("request.required.acks", Type.SHORT, 0, HIGH,
            "Which replicas must have a message: 0 none, 1 the leader, -1 all in sync.", Range.between(-1, 1))
    .define("serializer.class", Type.CLASS, "kafka_lite.old_producer.encoder.DefaultEncoder", HIGH,
            "The class that serializes messages.")
    .define("key.serializer.class", Type.CLASS, "", MEDIUM, "The class for keys; by default serializer.class.")
    .define("partitioner.class", Type.CLASS, "kafka_lite.old_producer.partitioner.DefaultPartitioner", MEDIUM,
            "The class that chooses partitions by key.")
    .define("compression.codec", Type.STRING, "none", MEDIUM, "none, gzip, snappy or lz4, or the codec's number.",
            ValidString.in_(*_CODECS, *_CODECS.values()))
    .define("compressed.topics", Type.LIST, "", LOW, "The topics to compress; by default all.")
    .define("message.send.max.retries", Type.INT, 3, MEDIUM,
            "How often messages are retried. This may duplicate them if only the response was lost.", Range.at_least(0))
    .define("retry.backoff.ms", Type.INT, 100, MEDIUM,
            "How long to wait before metadata is refreshed and messages are retried.", Range.at_least(0))
    .define("topic.metadata.refresh.interval.ms", Type.INT, 600_000, LOW,
            "How often metadata is refreshed even without a failure; negative: never, 0: before every send.")
    .define("queue.buffering.max.ms", Type.INT, 5000, MEDIUM,
            "async: how long a message waits for others at most.", Range.at_least(0))
    .define("queue.buffering.max.messages", Type.INT, 10_000, MEDIUM,
            "async: how many messages may be queued.", Range.at_least(1))
    .define("queue.enqueue.timeout.ms", Type.INT, -1, MEDIUM,
            "async: how long send blocks while the queue is full; -1: for ever, 0: not at all.",
            Range.at_least(-1))
    .define("batch.num.messages", Type.INT, 200, MEDIUM, "async: messages per batch.", Range.at_least(1))
    .define("request.timeout.ms", Type.INT, 10_000, LOW,
            "How long the broker waits for replicas, and the producer for the broker.", Range.between(1, MAX_INT))
    .define("send.buffer.bytes", Type.INT, 100 * 1024, LOW, "SO_SNDBUF.", Range.at_least(-1))
    .define("client.id", Type.STRING, "", MEDIUM, "The client's name in the brokers' logs.")
)  # fmt: skip


class ProducerConfig:
    """The checked configuration of one old producer. Raises ConfigError."""

    def __init__(self, configs: Mapping[str, object]) -> None:
        self.originals = dict(configs)
        for key in CONFIG.keys & configs.keys():
            if configs[key] is None:
                raise ConfigError(key, None, "it has no value; leave it out to get the default")
        require_plaintext(configs, "the old producer", "kafka_lite.producer.KafkaProducer")
        self._values = CONFIG.parse(configs)
        batch, queue = self["batch.num.messages"], self["queue.buffering.max.messages"]
        if batch > queue:
            raise ConfigError("batch.num.messages", batch, f"can't be larger than queue.buffering.max.messages={queue}")
        self.brokers = parse_and_validate_addresses(self["metadata.broker.list"], "metadata.broker.list")
        codec = self["compression.codec"]
        self.compression = CompressionType.from_code(int(_CODECS.get(codec, codec)))
        for key in CONFIG.unused(configs):
            if key != "serializer.encoding":
                logger.warning("Property %s is not valid", key)

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def compression_of(self, topic: str) -> CompressionType:
        """The configured codec, unless ``compressed.topics`` lists only other topics."""
        named = self["compressed.topics"]
        return self.compression if not named or topic in named else CompressionType.NONE
