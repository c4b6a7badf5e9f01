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
from kafka_lite.security.channel_builders import CLIENT_SECURITY_CONFIG

logger = logging.getLogger(__name__)

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
_client_numbers = itertools.count(1)

GROUP_CONFIG = (
    ConfigDef()
    .define("group.id", Type.STRING, None, HIGH,
            "The group of the consumer. Required for subscribe and for commits.")
    .define("group.protocol", Type.STRING, "classic", HIGH,
            "classic: the members of the group elect a leader, which assigns. consumer: the broker assigns (KIP-848), "
            "which needs brokers of Kafka 4.0 or later.", ValidString.in_("classic", "consumer"))
    .define("group.remote.assignor", Type.STRING, None, MEDIUM,
            "With group.protocol=consumer, the broker's assignor: uniform or range. By default the broker chooses.",
            NON_EMPTY)
    .define("group.instance.id", Type.STRING, None, MEDIUM,
            "Makes the consumer a static member (KIP-345), which keeps its partitions if it is restarted within "
            "session.timeout.ms, because it does not leave the group. Must be unique within the group.",
            NON_EMPTY)
    .define("session.timeout.ms", Type.INT, 45_000, HIGH,
            "How long the coordinator waits for a heartbeat before it removes the consumer from the group.",
            Range.at_least(1))
    .define("heartbeat.interval.ms", Type.INT, 3000, HIGH,
            "How often heartbeats are sent: at most a third of session.timeout.ms.", Range.at_least(1))
    .define("max.poll.interval.ms", Type.INT, 300_000, MEDIUM,
            "The longest time between two polls. If it is exceeded, the consumer leaves the group. Also how long a "
            "rebalance waits for the consumer to join again.", Range.at_least(1))
    .define("partition.assignment.strategy", Type.LIST, "range", MEDIUM,
            "Assignors, in order of preference: range, roundrobin, sticky, cooperative-sticky, or names of classes. "
            "With cooperative-sticky alone, members keep reading while the group rebalances.",
            NON_EMPTY)
    .define("enable.auto.commit", Type.BOOLEAN, True, MEDIUM,
            "Whether positions are committed periodically, within poll, and before partitions are given up.")
    .define("auto.commit.interval.ms", Type.INT, 5000, LOW, "The interval of automatic commits.", Range.at_least(0))
    .define("auto.offset.reset", Type.STRING, "latest", MEDIUM,
            "Where to start if no offset is committed, or if it is out of range: at the earliest record, after the "
            "latest one, or (none) nowhere, in which case poll raises.",
            ValidString.in_("latest", "earliest", "none"))
    .define("exclude.internal.topics", Type.BOOLEAN, True, MEDIUM,
            "Whether patterns exclude internal topics such as __consumer_offsets.")
    .define("internal.leave.group.on.close", Type.BOOLEAN, True, LOW,
            "Whether the consumer leaves its group when it closes. Otherwise its partitions are not read until "
            "session.timeout.ms has passed.")
    .define("internal.throw.on.fetch.stable.offset.unsupported", Type.BOOLEAN, False, LOW,
            "Whether a read_committed consumer fails at brokers before Kafka 2.5, which do not make it wait for the "
            "transactions that commit its offsets.")
)  # fmt: skip

FETCH_CONFIG = (
    ConfigDef()
    .define("key.deserializer", Type.CLASS, "", HIGH,
            "The class that deserializes keys. By default keys are bytes.")
    .define("value.deserializer", Type.CLASS, "", HIGH,
            "The class that deserializes values. By default values are bytes.")
    .define("max.poll.records", Type.INT, 500, MEDIUM, "The most records that one poll returns.", Range.at_least(1))
    .define("fetch.min.bytes", Type.INT, 1, HIGH,
            "How many bytes the broker collects before it responds, within fetch.max.wait.ms.", Range.at_least(0))
    .define("fetch.max.bytes", Type.INT, 50 * 1024 * 1024, MEDIUM,
            "The most bytes in a response, except for a first batch that is larger.", Range.at_least(0))
    .define("fetch.max.wait.ms", Type.INT, 500, LOW,
            "How long the broker waits for fetch.min.bytes.", Range.at_least(0))
    .define("max.partition.fetch.bytes", Type.INT, 1024 * 1024, HIGH,
            "The most bytes of one partition in a response, except for a larger first batch.", Range.at_least(0))
    .define("check.crcs", Type.BOOLEAN, True, LOW, "Whether the checksums of batches are verified.")
    .define("isolation.level", Type.STRING, "read_uncommitted", MEDIUM,
            "With read_committed, records of transactions are returned once they are committed, and never if they are "
            "aborted.", ValidString.in_("read_uncommitted", "read_committed"))
    .define("interceptor.classes", Type.LIST, "", LOW, "Interceptor classes, called for records and commits.")
    .define("client.rack", Type.STRING, "", LOW,
            "Where this consumer is, in the words of the brokers' broker.rack. With a RackAwareReplicaSelector on the "
            "brokers it reads from replicas in the same rack (KIP-392).")
    .define("allow.auto.create.topics", Type.BOOLEAN, True, MEDIUM,
            "Whether the broker may create a subscribed topic that does not exist.")
)  # fmt: skip

CLIENT_CONFIG = (
    ConfigDef()
    .define("bootstrap.servers", Type.LIST, NO_DEFAULT, HIGH,
            "Brokers that are asked for the cluster's metadata first, host:port each; a few of them are enough.")
    .define("client.id", Type.STRING, "", LOW,
            "The client's name in the brokers' logs and quotas; by default consumer-GROUP-1 and so on.")
    .define("request.timeout.ms", Type.INT, 30_000, MEDIUM,
            "How long to wait for a response before the connection is closed. A JoinGroup may take as long as "
            "max.poll.interval.ms.", Range.at_least(0))
    .define("default.api.timeout.ms", Type.INT, 60_000, MEDIUM,
            "The timeout of calls that do not specify one.", Range.at_least(0))
    .define("retry.backoff.ms", Type.LONG, 100, LOW, "How long to wait before a request is repeated.",
            Range.at_least(0))
    .define("metadata.max.age.ms", Type.LONG, 300_000, LOW,
            "The age at which metadata is refreshed even without a known change; this also finds a pattern's topics.",
            Range.at_least(0))
    .define("reconnect.backoff.ms", Type.LONG, 50, LOW,
            "How long to wait before reconnecting to a broker; doubles with each failure.", Range.at_least(0))
    .define("reconnect.backoff.max.ms", Type.LONG, 1000, LOW, "The upper limit of that.", Range.at_least(0))
    .define("socket.connection.setup.timeout.ms", Type.LONG, 10_000, MEDIUM,
            "How long to wait for a connection.", Range.at_least(0))
    .define("connections.max.idle.ms", Type.LONG, 540_000, MEDIUM, "How long an idle connection is kept open.")
    .define("send.buffer.bytes", Type.INT, 131_072, MEDIUM, "SO_SNDBUF; -1 leaves it to the system.",
            Range.at_least(-1))
    .define("receive.buffer.bytes", Type.INT, 65_536, MEDIUM, "SO_RCVBUF; -1 leaves it to the system.",
            Range.at_least(-1))
    .define("metrics.sample.window.ms", Type.LONG, 30_000, LOW, "The length of a metric's window.", Range.at_least(0))
    .define("metrics.num.samples", Type.INT, 2, LOW, "The number of a metric's windows.", Range.at_least(1))
    .define("metrics.recording.level", Type.STRING, "INFO", LOW, "The highest recording level of sensors.",
            ValidString.in_("INFO", "DEBUG"))
    .define("metric.reporters", Type.LIST, "", LOW, "Reporter classes, notified of the consumer's metrics.")
)  # fmt: skip

CONFIG = ConfigDef().include(CLIENT_CONFIG).include(GROUP_CONFIG).include(FETCH_CONFIG).include(CLIENT_SECURITY_CONFIG)

DEVIATIONS: dict[str, tuple[str, str]] = {
    "group.id": (
        '""',
        "as in Kafka since 2.2: a consumer without a group.id has no group, instead of sharing one with an empty name",
    ),
    "session.timeout.ms": ("10000", "as in Kafka since 3.0: a pause of a few seconds is not a failure"),
    "request.timeout.ms": (
        "305000",
        "as in Kafka since 2.0: only JoinGroup may wait for max.poll.interval.ms, and other requests without a "
        "response time out sooner",
    ),
    "partition.assignment.strategy": (
        "[class org.apache.kafka.clients.consumer.RangeAssignor]",
        "the same assignor, by the name under which clients of all languages know it",
    ),
    "key.deserializer": ("(required)", "most Python programs start with bytes"),
    "value.deserializer": ("(required)", "most Python programs start with bytes"),
    "interceptor.classes": ("null", "an empty list of classes is empty, not null"),
}
"""Keys whose default differs from 0.10.2: the default there, and the reason."""


NOT_WITH_CONSUMER = ("partition.assignment.strategy", "heartbeat.interval.ms", "session.timeout.ms")
"""Keys of members whose broker does not assign. In a group of KIP-848 they belong to the broker."""


class ConsumerConfig:
    """The checked configuration of one consumer. ``config["max.poll.records"]`` has the type of its key.

    Raises ConfigError for invalid and for contradictory values. Logs a warning for unknown keys, unless they are meant
    for the user's own classes, which get ``originals``.
    """

    def __init__(self, configs: Mapping[str, object]) -> None:
        self.originals = configs_of("KafkaConsumer", configs)
        for key in CONFIG.keys & configs.keys():
            if configs[key] is None and CONFIG.keys[key].default is not None:
                raise ConfigError(key, None, "it has no value; leave it out to get the default")
        self._values = CONFIG.parse(_with_protocol_in_lower_case(configs))
        self.group_id: str | None = self["group.id"] or None
        if not self["client.id"]:
            names = ["consumer", self.group_id, self["group.instance.id"] or str(next(_client_numbers))]
            self._values["client.id"] = "-".join(name for name in names if name)
        self.enable_auto_commit = self._decide_auto_commit()
        self.is_modern = self["group.protocol"] == "consumer"
        self._check_protocol()
        self._check_timeouts()
        for key in CONFIG.unused(configs):
            if key.startswith("__"):
                continue  # passes an object to a class of ours: Streams to its assignor
            text = "The configuration '%s' was supplied but isn't a known config of the consumer.%s"
            logger.warning(text, key, CONFIG.meant_by(key))

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def _decide_auto_commit(self) -> bool:
        """Whether to auto-commit, which needs a group. Asking for it explicitly without a group is an error."""
        wanted = bool(self["enable.auto.commit"])
        if self.group_id is None and wanted:
            if "enable.auto.commit" in self.originals:
                raise ConfigError("enable.auto.commit", True, "cannot be true without a group.id")
            return False
        return wanted

    def _check_protocol(self) -> None:
        """Refuse keys that would have no effect with the chosen protocol."""
        for key in NOT_WITH_CONSUMER if self.is_modern else ("group.remote.assignor",):
            if key in self.originals:
                name = "CONSUMER" if self.is_modern else "CLASSIC"
                raise ConfigError(key, self.originals[key], f"cannot be set when group.protocol={name}")

    def _check_timeouts(self) -> None:
        heartbeat, session = self["heartbeat.interval.ms"], self["session.timeout.ms"]
        if heartbeat >= session:
            if "heartbeat.interval.ms" in self.originals or session <= 1:
                raise ConfigError(
                    "heartbeat.interval.ms", heartbeat, f"must be less than session.timeout.ms, {session}"
                )
            self._values["heartbeat.interval.ms"] = max(1, session // 3)


def _with_protocol_in_lower_case(configs: Mapping[str, object]) -> Mapping[str, object]:
    """As in Kafka, CONSUMER and consumer are the same protocol."""
    protocol = configs.get("group.protocol")
    return {**configs, "group.protocol": protocol.lower()} if isinstance(protocol, str) else configs
