"""The configuration keys of a share consumer.

Kafka 4.1: clients/.../consumer/ConsumerConfig.java (SHARE_GROUP_UNSUPPORTED_CONFIGS),
clients/.../consumer/internals/ShareAcknowledgementMode.java · book 4.1.2
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Mapping
from typing import Any

from kafka_lite.common.config_def import ConfigDef, ConfigError, Importance, Range, Type, configs_of
from kafka_lite.consumer.consumer_config import CLIENT_CONFIG
from kafka_lite.security.channel_builders import CLIENT_SECURITY_CONFIG

logger = logging.getLogger(__name__)

IMPLICIT, EXPLICIT = "implicit", "explicit"
ACKNOWLEDGEMENT_MODE = "share.acknowledgement.mode"
HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW

# A table: one key, its kind on the first line, its meaning on the second.
# fmt: off
SHARE_CONFIG = (
    ConfigDef()
    .define("group.id", Type.STRING, "", HIGH, "The share group of the consumer.")
    .define(ACKNOWLEDGEMENT_MODE, Type.STRING, IMPLICIT, MEDIUM,
            "How records are acknowledged: `implicit`, all records of a poll as accepted by the next one, or "
            "`explicit`, each by the user.")
    .define("key.deserializer", Type.CLASS, "", HIGH,
            "The class that deserializes keys. By default keys are bytes.")
    .define("value.deserializer", Type.CLASS, "", HIGH,
            "The class that deserializes values. By default values are bytes.")
    .define("max.poll.records", Type.INT, 500, MEDIUM,
            "About how many records one poll returns: a broker does not divide a batch without need.",
            Range.at_least(1))
    .define("max.poll.interval.ms", Type.INT, 300_000, MEDIUM,
            "The longest time between two polls. If it is exceeded, the consumer leaves the group.",
            Range.at_least(1))
    .define("fetch.min.bytes", Type.INT, 1, HIGH,
            "How many bytes the broker collects before it responds, within fetch.max.wait.ms.", Range.at_least(0))
    .define("fetch.max.bytes", Type.INT, 50 * 1024 * 1024, MEDIUM,
            "The most bytes in a response, except for a first batch that is larger.", Range.at_least(0))
    .define("fetch.max.wait.ms", Type.INT, 500, LOW,
            "How long the broker waits for fetch.min.bytes.", Range.at_least(0))
    .define("check.crcs", Type.BOOLEAN, True, LOW, "Whether the checksums of batches are verified.")
    .define("client.rack", Type.STRING, "", LOW, "Where this consumer is, for the group's coordinator.")
    .define("allow.auto.create.topics", Type.BOOLEAN, True, MEDIUM,
            "Whether the broker may create a subscribed topic that does not exist.")
)
# fmt: on

CONFIG = ConfigDef().include(CLIENT_CONFIG).include(SHARE_CONFIG).include(CLIENT_SECURITY_CONFIG)

UNSUPPORTED = (
    "auto.offset.reset",
    "enable.auto.commit",
    "group.instance.id",
    "isolation.level",
    "partition.assignment.strategy",
    "interceptor.classes",
    "session.timeout.ms",
    "heartbeat.interval.ms",
    "group.protocol",
    "group.remote.assignor",
)
"""Keys of consumers that make no sense here: most are settings of the group, on the brokers."""

_client_numbers = itertools.count(1)


class ShareConsumerConfig:
    """The checked configuration of one share consumer. Raises ConfigError."""

    def __init__(self, configs: Mapping[str, object]) -> None:
        self.originals = configs_of("KafkaShareConsumer", configs)
        for key in UNSUPPORTED:
            if key in configs:
                raise ConfigError(key, configs[key], "it cannot be set when using a share group")
        self._values = CONFIG.parse(configs)
        self.group_id: str = self["group.id"]
        if not self.group_id:
            raise ConfigError("group.id", self.group_id, "a share consumer needs a group")
        mode = str(self[ACKNOWLEDGEMENT_MODE]).lower()
        if mode not in (IMPLICIT, EXPLICIT):
            raise ConfigError(ACKNOWLEDGEMENT_MODE, mode, f"it must be {IMPLICIT} or {EXPLICIT}")
        self.is_explicit = mode == EXPLICIT
        if not self["client.id"]:
            self._values["client.id"] = f"consumer-{self.group_id}-{next(_client_numbers)}"
        for key in CONFIG.unused(configs):
            text = "The configuration '%s' was supplied but isn't a known config of the share consumer.%s"
            logger.warning(text, key, CONFIG.meant_by(key))

    def __getitem__(self, key: str) -> Any:
        return self._values[key]
