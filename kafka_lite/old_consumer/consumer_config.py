"""The old consumer's configuration keys.

Kafka 0.10.2: core/.../consumer/ConsumerConfig.scala, core/.../utils/ZkUtils.scala (ZKConfig) · book 3.1.1
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Any

from kafka_lite.common.config_def import NO_DEFAULT, Check, ConfigDef, ConfigError, Importance, Range, Type, ValidString
from kafka_lite.security.channel_builders import require_plaintext

logger = logging.getLogger(__name__)

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
SMALLEST, LARGEST = "smallest", "largest"
ZOOKEEPER, KAFKA = "zookeeper", "kafka"
_LEGAL_CHARS = re.compile(r"[a-zA-Z0-9._-]*")
_NAME = Check(
    lambda name: _LEGAL_CHARS.fullmatch(name) is not None, "made of ASCII letters and digits, '.', '_' and '-'"
)

CONFIG = (
    ConfigDef()
    .define("group.id", Type.STRING, NO_DEFAULT, HIGH,
            "The group. Each message goes to one of its members.", _NAME)
    .define("zookeeper.connect", Type.STRING, NO_DEFAULT, HIGH,
            "ZooKeeper's servers, host:port each; a path at the end is prepended to all others.")
    .define("consumer.id", Type.STRING, None, LOW,
            "The suffix of the member's id; by default made of host name, time and a random number.")
    .define("auto.commit.enable", Type.BOOLEAN, True, HIGH,
            "Whether offsets are committed automatically, every auto.commit.interval.ms and on shutdown.")
    .define("auto.commit.interval.ms", Type.INT, 60_000, HIGH, "The interval of automatic commits.", Range.at_least(1))
    .define("auto.offset.reset", Type.STRING, LARGEST, HIGH,
            "Where to start if no offset is committed, or if it is out of range.",
            ValidString.in_(SMALLEST, LARGEST))
    .define("offsets.storage", Type.STRING, ZOOKEEPER, HIGH,
            "Where offsets are committed: in ZooKeeper, or in Kafka's own offsets topic.",
            ValidString.in_(ZOOKEEPER, KAFKA))
    .define("dual.commit.enabled", Type.BOOLEAN, None, HIGH,
            "Whether offsets that are committed to Kafka go to ZooKeeper too, and the larger one counts; for the "
            "migration of a group. true by default if offsets.storage is kafka.")
    .define("offsets.channel.backoff.ms", Type.INT, 1000, LOW,
            "How long to wait before offsets are fetched or committed again, or the coordinator is looked up again.",
            Range.at_least(0))
    .define("offsets.channel.socket.timeout.ms", Type.INT, 10_000, LOW,
            "How long to wait for the response to such a request.", Range.at_least(1))
    .define("offsets.commit.max.retries", Type.INT, 5, MEDIUM,
            "How often a retriable commit is retried, including the last one on shutdown.", Range.at_least(0))
    .define("partition.assignment.strategy", Type.STRING, "range", MEDIUM,
            "How partitions are assigned; must be the same for all members.", ValidString.in_("range", "roundrobin"))
    .define("consumer.timeout.ms", Type.INT, -1, HIGH,
            "How long a stream waits for a message before it raises ConsumerTimeoutError; -1: for ever.",
            Range.at_least(-1))
    .define("exclude.internal.topics", Type.BOOLEAN, True, MEDIUM,
            "Whether topic filters exclude internal topics.")
    .define("queued.max.message.chunks", Type.INT, 2, MEDIUM,
            "How many fetched chunks are queued per stream, of fetch.message.max.bytes each.", Range.at_least(1))
    .define("rebalance.max.retries", Type.INT, 4, HIGH, "How often a rebalance is attempted.", Range.at_least(1))
    .define("rebalance.backoff.ms", Type.INT, None, MEDIUM,
            "How long to wait between attempts; by default zookeeper.sync.time.ms.", Range.at_least(0))
    .define("refresh.leader.backoff.ms", Type.INT, 200, MEDIUM,
            "How long to wait before the leader of a partition is looked up again.", Range.at_least(1))
    .define("num.consumer.fetchers", Type.INT, 1, MEDIUM, "How many threads fetch from each broker.", Range.at_least(1))
    .define("fetch.message.max.bytes", Type.INT, 1024 * 1024, HIGH,
            "The most bytes to fetch of a partition; must be as large as the largest message.", Range.at_least(1))
    .define("fetch.min.bytes", Type.INT, 1, HIGH, "How many bytes a broker waits for.", Range.at_least(0))
    .define("fetch.max.bytes", Type.INT, 50 * 1024 * 1024, MEDIUM,
            "The most bytes of a whole fetch response.", Range.at_least(0))
    .define("fetch.wait.max.ms", Type.INT, 100, LOW, "How long a broker waits for them.", Range.at_least(0))
    .define("socket.timeout.ms", Type.INT, 30_000, LOW, "How long to wait for a response.", Range.at_least(1))
    .define("socket.receive.buffer.bytes", Type.INT, 64 * 1024, LOW, "SO_RCVBUF; -1: the system's.", Range.at_least(-1))
    .define("client.id", Type.STRING, None, MEDIUM, "The client's name in brokers' logs; by default group.id.", _NAME)
    .define("zookeeper.session.timeout.ms", Type.INT, 6000, HIGH,
            "How long ZooKeeper waits for a heartbeat before the session expires.", Range.at_least(1))
    .define("zookeeper.connection.timeout.ms", Type.INT, None, HIGH,
            "How long to wait for ZooKeeper at startup; by default zookeeper.session.timeout.ms.",
            Range.at_least(1))
    .define("zookeeper.sync.time.ms", Type.INT, 2000, LOW, "How far a ZooKeeper server may lag.", Range.at_least(0))
    .define("kafka.metrics.reporters", Type.LIST, "", LOW,
            "Reporter classes for the consumer's metrics, package.module.Class each (KafkaMetricsReporter).")
    .define("kafka.metrics.polling.interval.secs", Type.INT, 10, LOW, "How often they read them.", Range.at_least(1))
    .define("kafka.csv.metrics.dir", Type.STRING, "kafka_metrics", LOW, "The directory of KafkaCSVMetricsReporter.")
    .define("kafka.csv.metrics.reporter.enabled", Type.BOOLEAN, False, LOW, "Whether that reporter is enabled.")
)  # fmt: skip

_FALLBACKS = {
    "rebalance.backoff.ms": "zookeeper.sync.time.ms",
    "zookeeper.connection.timeout.ms": "zookeeper.session.timeout.ms",
    "client.id": "group.id",
}


class ConsumerConfig:
    """The checked configuration of one old consumer. Raises ConfigError."""

    def __init__(self, configs: Mapping[str, object]) -> None:
        self.originals = dict(configs)
        require_plaintext(configs, "the old consumer", "kafka_lite.consumer.KafkaConsumer, with bootstrap.servers")
        lower = {key: str(value).lower() if key == "offsets.storage" else value for key, value in configs.items()}
        self._values = CONFIG.parse(lower)
        for key, fallback in _FALLBACKS.items():
            if self._values[key] is None:
                self._values[key] = self._values[fallback]
        if self._values["dual.commit.enabled"] is None:
            self._values["dual.commit.enabled"] = self["offsets.storage"] == KAFKA
        wait_ms = self["fetch.wait.max.ms"]
        if wait_ms > self["socket.timeout.ms"]:
            raise ConfigError("fetch.wait.max.ms", wait_ms, "socket.timeout.ms must be at least as long")
        for key in CONFIG.unused(configs):
            if key != "serializer.encoding":
                logger.warning("Property %s is not valid", key)

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    @property
    def values(self) -> Mapping[str, Any]:
        """All keys."""
        return self._values
