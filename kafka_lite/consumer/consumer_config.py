"""The consumer's configuration keys.

Kafka 0.10.2: clients/.../consumer/ConsumerConfig.java, clients/.../clients/CommonClientConfigs.java · book 4.1.2
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Mapping
from typing import Any

from kafka_lite.common.config_def import (
    NO_DEFAULT,
    NON_EMPTY,
    ConfigDef,
    ConfigError,
    Importance,
    Range,
    Type,
    ValidString,
    configs_of,
)

logger = logging.getLogger(__name__)

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
_client_numbers = itertools.count(1)

GROUP_CONFIG = (
    ConfigDef()
    .define("group.id", Type.STRING, None, HIGH,
            "The group that the consumer is a member of; needed to subscribe and to commit.")
    .define("group.instance.id", Type.STRING, None, MEDIUM,
            "Makes the consumer a static member: one that keeps its partitions when it is restarted within "
            "session.timeout.ms, for nobody is told that it has left (KIP-345). No two of a group share one.",
            NON_EMPTY)
    .define("session.timeout.ms", Type.INT, 45_000, HIGH,
            "After how long without a heartbeat the coordinator takes the consumer for dead.",
            Range.at_least(1))
    .define("heartbeat.interval.ms", Type.INT, 3000, HIGH,
            "How often the consumer says that it lives: a third of session.timeout.ms, or less.", Range.at_least(1))
    .define("max.poll.interval.ms", Type.INT, 300_000, MEDIUM,
            "How long the user may take from one poll to the next before the consumer leaves the group; and how long "
            "the others wait for it in a rebalance.", Range.at_least(1))
    .define("partition.assignment.strategy", Type.LIST, "range", MEDIUM,
            "How the group shares partitions, the most wanted first: range, roundrobin, sticky, cooperative-sticky, or "
            "names of classes. With cooperative-sticky alone, members go on reading while the group rebalances.",
            NON_EMPTY)
    .define("enable.auto.commit", Type.BOOLEAN, True, MEDIUM,
            "Whether positions are committed from time to time, within poll, and before partitions are given up.")
    .define("auto.commit.interval.ms", Type.INT, 5000, LOW, "How often that is.", Range.at_least(0))
    .define("auto.offset.reset", Type.STRING, "latest", MEDIUM,
            "Where to begin in a partition without a committed offset, or with one that is not in the log: at the "
            "earliest record, behind the latest, or (none) nowhere: then poll raises.",
            ValidString.in_("latest", "earliest", "none"))
    .define("exclude.internal.topics", Type.BOOLEAN, True, MEDIUM,
            "Whether a pattern leaves out topics such as __consumer_offsets.")
    .define("internal.leave.group.on.close", Type.BOOLEAN, True, LOW,
            "Whether the group is told when the consumer closes; otherwise nobody reads its partitions until "
            "session.timeout.ms has passed.")
)  # fmt: skip

FETCH_CONFIG = (
    ConfigDef()
    .define("key.deserializer", Type.CLASS, "", HIGH,
            "Name of the class that makes keys of bytes; without one keys are bytes.")
    .define("value.deserializer", Type.CLASS, "", HIGH,
            "Name of the class that makes values of bytes; without one values are bytes.")
    .define("max.poll.records", Type.INT, 500, MEDIUM, "How many records one poll returns at most.", Range.at_least(1))
    .define("fetch.min.bytes", Type.INT, 1, HIGH,
            "How much the broker collects before it answers, if fetch.max.wait.ms allows.", Range.at_least(0))
    .define("fetch.max.bytes", Type.INT, 50 * 1024 * 1024, MEDIUM,
            "How much an answer holds at most, except for a first batch that is larger.", Range.at_least(0))
    .define("fetch.max.wait.ms", Type.INT, 500, LOW,
            "How long the broker waits for fetch.min.bytes.", Range.at_least(0))
    .define("max.partition.fetch.bytes", Type.INT, 1024 * 1024, HIGH,
            "How much an answer holds of one partition, except for a first batch that is larger.", Range.at_least(0))
    .define("check.crcs", Type.BOOLEAN, True, LOW, "Whether the checksums of batches are checked.")
    .define("isolation.level", Type.STRING, "read_uncommitted", MEDIUM,
            "With read_committed, records of transactions are given out when they are committed, and never those of "
            "aborted ones.", ValidString.in_("read_uncommitted", "read_committed"))
    .define("interceptor.classes", Type.LIST, "", LOW, "Names of classes that see every record and every commit.")
    .define("allow.auto.create.topics", Type.BOOLEAN, True, MEDIUM,
            "Whether the broker may create a topic that is subscribed to and not there.")
)  # fmt: skip

CLIENT_CONFIG = (
    ConfigDef()
    .define("bootstrap.servers", Type.LIST, NO_DEFAULT, HIGH,
            "Brokers to ask for the rest of the cluster, host:port each; a few of them are enough.")
    .define("client.id", Type.STRING, "", LOW,
            "Name of the client in the logs and quotas of the brokers; consumer-GROUP-1, … if there is none.")
    .define("request.timeout.ms", Type.INT, 30_000, MEDIUM,
            "How long to wait for the answer to a request; then the connection is closed. A JoinGroup may take as long "
            "as max.poll.interval.ms.", Range.at_least(0))
    .define("default.api.timeout.ms", Type.INT, 60_000, MEDIUM,
            "How long calls without a timeout of their own may take.", Range.at_least(0))
    .define("retry.backoff.ms", Type.LONG, 100, LOW, "How long to wait before a request is repeated.",
            Range.at_least(0))
    .define("metadata.max.age.ms", Type.LONG, 300_000, LOW,
            "After how long metadata is fetched anew even if nothing has changed: so topics of a pattern are found.",
            Range.at_least(0))
    .define("reconnect.backoff.ms", Type.LONG, 50, LOW,
            "How long a broker is left alone after a lost connection; doubles with each failure.", Range.at_least(0))
    .define("reconnect.backoff.max.ms", Type.LONG, 1000, LOW, "Up to this.", Range.at_least(0))
    .define("socket.connection.setup.timeout.ms", Type.LONG, 10_000, MEDIUM,
            "How long to wait for a connection.", Range.at_least(0))
    .define("connections.max.idle.ms", Type.LONG, 540_000, MEDIUM, "After how long an unused connection is closed.")
    .define("send.buffer.bytes", Type.INT, 131_072, MEDIUM, "SO_SNDBUF; -1 leaves it to the system.",
            Range.at_least(-1))
    .define("receive.buffer.bytes", Type.INT, 65_536, MEDIUM, "SO_RCVBUF; -1 leaves it to the system.",
            Range.at_least(-1))
    .define("metrics.sample.window.ms", Type.LONG, 30_000, LOW, "How long a window of a metric is.", Range.at_least(0))
    .define("metrics.num.samples", Type.INT, 2, LOW, "How many windows a metric has.", Range.at_least(1))
    .define("metrics.recording.level", Type.STRING, "INFO", LOW, "The highest level of sensors that record.",
            ValidString.in_("INFO", "DEBUG"))
    .define("metric.reporters", Type.LIST, "", LOW, "Names of classes that are told of the consumer's metrics.")
)  # fmt: skip

CONFIG = ConfigDef().include(CLIENT_CONFIG).include(GROUP_CONFIG).include(FETCH_CONFIG)

DEVIATIONS: dict[str, tuple[str, str]] = {
    "group.id": (
        '""',
        "as in Kafka since 2.2: a consumer without a group has none, and does not share one without a name",
    ),
    "session.timeout.ms": ("10000", "as in Kafka since 3.0: a pause of some seconds is not a death"),
    "request.timeout.ms": (
        "305000",
        "as in Kafka since 2.0: only a JoinGroup may wait for max.poll.interval.ms, and other requests that nobody "
        "answers are given up sooner",
    ),
    "partition.assignment.strategy": (
        "[class org.apache.kafka.clients.consumer.RangeAssignor]",
        "the same assignor, by the name that members of all languages know it by",
    ),
    "key.deserializer": ("(required)", "bytes are what most programs in Python begin with"),
    "value.deserializer": ("(required)", "bytes are what most programs in Python begin with"),
    "interceptor.classes": ("null", "no classes are an empty list"),
}
"""Keys whose default is not 0.10.2's: what it was there, and why it is not here."""


class ConsumerConfig:
    """Configuration of one consumer, checked. ``config["max.poll.records"]`` is the value, in the type of the key.

    Raises ConfigError for a value that is not valid, and for values that contradict each other. Unknown keys are warned
    of, unless they are for the user's own classes, which get ``originals``.
    """

    def __init__(self, configs: Mapping[str, object]) -> None:
        self.originals = configs_of("KafkaConsumer", configs)
        for key in CONFIG.keys & configs.keys():
            if configs[key] is None and CONFIG.keys[key].default is not None:
                raise ConfigError(key, None, "it has no value; leave it out, and it has its default")
        self._values = CONFIG.parse(configs)
        self.group_id: str | None = self["group.id"] or None
        if not self["client.id"]:
            names = ["consumer", self.group_id, self["group.instance.id"] or str(next(_client_numbers))]
            self._values["client.id"] = "-".join(name for name in names if name)
        self.enable_auto_commit = self._decide_auto_commit()
        self._check_timeouts()
        for key in CONFIG.unused(configs):
            logger.warning("The configuration '%s' was supplied but isn't a known config of the consumer", key)

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def _decide_auto_commit(self) -> bool:
        """Only for a group; whoever asks for it without one has made a mistake."""
        wanted = bool(self["enable.auto.commit"])
        if self.group_id is None and wanted:
            if "enable.auto.commit" in self.originals:
                raise ConfigError("enable.auto.commit", True, "cannot be true without a group.id")
            return False
        return wanted

    def _check_timeouts(self) -> None:
        heartbeat, session = self["heartbeat.interval.ms"], self["session.timeout.ms"]
        if heartbeat >= session:
            if "heartbeat.interval.ms" in self.originals or session <= 1:
                raise ConfigError("heartbeat.interval.ms", heartbeat, f"must be below session.timeout.ms, {session}")
            self._values["heartbeat.interval.ms"] = max(1, session // 3)
