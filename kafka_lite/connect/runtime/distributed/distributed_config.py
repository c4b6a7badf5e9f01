"""The configuration keys of a distributed worker.

Kafka 0.10.2: connect/runtime/.../connect/runtime/distributed/DistributedConfig.java; the keys by which internal topics
are created: Kafka 1.0, topicSettings: Kafka 2.7 · book 8.3.1
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from kafka_lite.common.config_def import (
    NO_DEFAULT,
    NON_EMPTY,
    ConfigDef,
    ConfigError,
    Importance,
    Range,
    Type,
    ValidString,
)
from kafka_lite.connect.runtime.storage.internal_topic import InternalTopic
from kafka_lite.connect.runtime.topic_admin import BROKERS_DEFAULT
from kafka_lite.connect.runtime.worker_config import WorkerConfig, base_config_def
from kafka_lite.security.channel_builders import CLIENT_SECURITY_CONFIG

logger = logging.getLogger(__name__)

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
WORKER_UNSYNC_BACKOFF_MS_DEFAULT = 5 * 60 * 1000
PURPOSES: Final[Mapping[str, str]] = MappingProxyType({
    "offset": "source connector offsets",
    "config": "connector configurations",
    "status": "connector and task statuses",
})  # fmt: skip
"""Kind of an internal topic -> what it keeps."""


@dataclass(frozen=True)
class PositiveOrDefault:
    """A positive number, or -1 for the brokers' default."""

    what: str
    bound: str = ""
    """Another condition on the number, in words."""

    def ensure_valid(self, name: str, value: Any) -> None:
        """Raises ConfigError."""
        if value != BROKERS_DEFAULT and value < 1:
            valid = " and ".join(filter(None, ("positive", self.bound)))
            raise ConfigError(name, value, f"{self.what} must be {valid}, or -1 to use the broker's default")

    def __str__(self) -> str:
        valid = " ".join(filter(None, ("Positive number", self.bound)))
        return f"{valid}, or -1 to use the broker's default"


_PARTITIONS = PositiveOrDefault("Number of partitions")
_REPLICAS = PositiveOrDefault("Replication factor", "not larger than the number of brokers in the Kafka cluster")


def _topics_def() -> ConfigDef:
    return (
        ConfigDef()
        .define("offset.storage.topic", Type.STRING, NO_DEFAULT, HIGH, "The topic that has the source offsets.",
                NON_EMPTY)
        .define("offset.storage.partitions", Type.INT, 25, LOW,
                "How many partitions it gets if the worker creates it.", _PARTITIONS)
        .define("offset.storage.replication.factor", Type.SHORT, 3, LOW,
                "How many replicas its partitions get then.", _REPLICAS)
        .define("config.storage.topic", Type.STRING, NO_DEFAULT, HIGH,
                "The topic that has the configurations of connectors and tasks.", NON_EMPTY)
        .define("config.storage.replication.factor", Type.SHORT, 3, LOW,
                "How many replicas its partitions get then.", _REPLICAS)
        .define("status.storage.topic", Type.STRING, NO_DEFAULT, HIGH,
                "The topic that has the statuses of connectors and tasks.", NON_EMPTY)
        .define("status.storage.partitions", Type.INT, 5, LOW,
                "How many partitions it gets if the worker creates it.", _PARTITIONS)
        .define("status.storage.replication.factor", Type.SHORT, 3, LOW,
                "How many replicas its partitions get then.", _REPLICAS)
    )  # fmt: skip


def _config_def() -> ConfigDef:
    return (
        base_config_def()
        .define("group.id", Type.STRING, NO_DEFAULT, HIGH, "The group of workers. All of them have the same topics.",
                NON_EMPTY)
        .define("session.timeout.ms", Type.INT, 10_000, HIGH,
                "How long a worker may be silent before the group removes it.")
        .define("rebalance.timeout.ms", Type.INT, 60_000, HIGH,
                "How long a worker may take to stop its tasks when the group rebalances.")
        .define("heartbeat.interval.ms", Type.INT, 3000, HIGH, "How often a worker shows that it is alive.")
        .define("metadata.max.age.ms", Type.LONG, 300_000, LOW, "How often metadata is refreshed.", Range.at_least(0))
        .define("client.id", Type.STRING, "", LOW, "The id that is sent with the worker's requests.")
        .define("send.buffer.bytes", Type.INT, 128 * 1024, MEDIUM, "SO_SNDBUF.", Range.at_least(0))
        .define("receive.buffer.bytes", Type.INT, 32 * 1024, MEDIUM, "SO_RCVBUF.", Range.at_least(0))
        .define("reconnect.backoff.ms", Type.LONG, 50, LOW, "How long to wait before the next attempt to connect.",
                Range.at_least(0))
        .define("retry.backoff.ms", Type.LONG, 100, LOW, "How long to wait before a request is repeated.",
                Range.at_least(0))
        .define("request.timeout.ms", Type.INT, 40_000, MEDIUM, "How long to wait for a response.", Range.at_least(0))
        .define("reconnect.backoff.max.ms", Type.LONG, 1000, LOW,
                "The longest such wait; it doubles with each failure in a row.", Range.at_least(0))
        .define("socket.connection.setup.timeout.ms", Type.LONG, 10_000, MEDIUM,
                "How long to wait until a connection is established.")
        .define("metric.reporters", Type.LIST, "", LOW, "Classes that are told of the membership's metrics.")
        .define("metrics.num.samples", Type.INT, 2, LOW, "How many samples a metric keeps.", Range.at_least(1))
        .define("metrics.sample.window.ms", Type.LONG, 30_000, LOW, "The time that a sample covers.", Range.at_least(0))
        .define("metrics.recording.level", Type.STRING, "INFO", LOW, "INFO, or DEBUG for more metrics.",
                ValidString.in_("INFO", "DEBUG"))
        .define("connections.max.idle.ms", Type.LONG, 540_000, MEDIUM, "How long an idle connection is kept.")
        .define("worker.sync.timeout.ms", Type.INT, 3000, MEDIUM,
                "How long a worker that is behind may take to read the config topic to its end.")
        .define("worker.unsync.backoff.ms", Type.INT, WORKER_UNSYNC_BACKOFF_MS_DEFAULT, MEDIUM,
                "How long it leaves the group if that is not enough.")
        .include(_topics_def())
        .include(CLIENT_SECURITY_CONFIG)
    )  # fmt: skip


CONFIG = _config_def()


class DistributedConfig(WorkerConfig):
    """The values of a distributed worker's keys."""

    def __init__(self, props: Mapping[str, str]) -> None:
        """Raises ConfigError."""
        super().__init__(CONFIG, props)

    def internal_topic(self, kind: str) -> InternalTopic:
        """The topic of a kind, ``config``, ``offset`` or ``status``: its name, and how it is created.

        The other keys ``KIND.storage.KEY`` are settings of the topic.
        """
        prefix = f"{kind}.storage."
        configs = self.originals_with_prefix(prefix)
        for known in ("topic", "replication.factor"):
            configs.pop(known, None)
        partitions = configs.pop("partitions", None)
        if kind == "config" and partitions is not None:
            logger.warning(
                "Ignoring '%spartitions=%s' setting, since config topic partitions is always 1", prefix, partitions
            )
        policy = configs.pop("cleanup.policy", None)
        if policy is not None:
            logger.warning("Ignoring '%scleanup.policy=%s' setting, since compaction is always used", prefix, policy)
        return InternalTopic(
            name=self[f"{prefix}topic"],
            setting=f"{prefix}topic",
            purpose=PURPOSES[kind],
            partitions=1 if kind == "config" else self[f"{prefix}partitions"],
            replication_factor=self[f"{prefix}replication.factor"],
            configs=configs,
        )
