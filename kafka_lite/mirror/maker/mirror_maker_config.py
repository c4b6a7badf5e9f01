"""The settings of a mirror: what the flags must agree on, and the defaults that lose nothing.

Kafka 0.10.2: core/.../tools/MirrorMaker.scala (main, maybeSetDefaultProperty) · book 8.1.1
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from kafka_lite.common.errors import KafkaError

logger = logging.getLogger(__name__)

ZOOKEEPER_CONNECT = "zookeeper.connect"
BOOTSTRAP_SERVERS = "bootstrap.servers"
MAX_INT, MAX_LONG = 0x7FFFFFFF, 0x7FFFFFFFFFFFFFFF

PRODUCER_DEFAULTS = {
    "retries": str(MAX_INT),
    "delivery.timeout.ms": str(MAX_INT),
    "max.block.ms": str(MAX_LONG),
    "acks": "all",
    "max.in.flight.requests.per.connection": "1",
}
"""0.10.2 had no ``delivery.timeout.ms``, and repeated a record for ever."""
NEW_CONSUMER_DEFAULTS = {"enable.auto.commit": "false"}
OLD_CONSUMER_DEFAULTS = {"auto.commit.enable": "false", "consumer.timeout.ms": "10000"}

ASSIGNMENT_WARNING = (
    "WARNING: The default partition assignment strategy of the new-consumer-based mirror maker will change from "
    "'range' to 'roundrobin' in an upcoming release (so that better load balancing can be achieved). If you prefer to "
    "make this switch in advance of that release add the following to the corresponding new-consumer config: "
    "'partition.assignment.strategy=org.apache.kafka.clients.consumer.RoundRobinAssignor'"
)


class MirrorMakerConfigError(KafkaError):
    """Flags that contradict each other, or a file that lacks a property."""


@dataclass(frozen=True)
class MirrorMakerConfig:
    """The flags of ``mirror-maker``, with the contents of the two files."""

    consumer: Mapping[str, str]
    producer: Mapping[str, str]
    new_consumer: bool = False
    num_streams: int = 1
    whitelist: str | None = None
    blacklist: str | None = None
    offset_commit_interval_ms: int = 60_000
    abort_on_send_failure: bool = True
    message_handler: str | None = None
    message_handler_args: str | None = None
    consumer_rebalance_listener: str | None = None
    rebalance_listener_args: str | None = None

    @property
    def uses_old_consumer(self) -> bool:
        """Whether the source is read through ZooKeeper: so says ``zookeeper.connect`` in the consumer's file."""
        return ZOOKEEPER_CONNECT in self.consumer

    @property
    def warns_of_assignment(self) -> bool:
        """Whether the assignor was left to the default."""
        return not self.uses_old_consumer and "partition.assignment.strategy" not in self.consumer

    def check(self) -> None:
        """Raise MirrorMakerConfigError if no mirror can be made of this."""
        if problem := self._problem_of_old_consumer() if self.uses_old_consumer else self._problem_of_new_consumer():
            raise MirrorMakerConfigError(problem)
        if self.num_streams < 1:
            raise MirrorMakerConfigError(f"num.streams is {self.num_streams}: a mirror needs at least one thread.")
        if not self.consumer.get("group.id"):
            raise MirrorMakerConfigError(
                "The consumer configuration has no group.id: the offsets of what was copied are committed for a group."
            )

    def _problem_of_old_consumer(self) -> str:
        if self.new_consumer:
            return f"The consumer configuration parameter `{ZOOKEEPER_CONNECT}` is not valid when using --new.consumer"
        if BOOTSTRAP_SERVERS in self.consumer:
            return (
                f"The configuration parameters `{ZOOKEEPER_CONNECT}` (old consumer) and `{BOOTSTRAP_SERVERS}` (new "
                "consumer) cannot be used together."
            )
        if (self.whitelist is None) == (self.blacklist is None):
            return "Exactly one of whitelist or blacklist is required."
        return ""

    def _problem_of_new_consumer(self) -> str:
        if self.blacklist is not None:
            return "blacklist can not be used when using new consumer in mirror maker. Use whitelist instead."
        if self.whitelist is None:
            return "whitelist must be specified when using new consumer in mirror maker."
        return ""

    def producer_properties(self) -> dict[str, str]:
        """The shared producer's configuration. Keys and values are bytes, whatever the file says."""
        given = without(self.producer, "key.serializer", "value.serializer", "producer.type")
        return with_defaults(given, PRODUCER_DEFAULTS)

    @property
    def sends_synchronously(self) -> bool:
        """Whether each record waits for its acknowledgement."""
        return self.producer.get("producer.type", "async") == "sync"

    def consumer_properties(self, number: int) -> dict[str, str]:
        """The configuration of consumer ``number``. All have the group's id in common, and each its own client id."""
        defaults = OLD_CONSUMER_DEFAULTS if self.uses_old_consumer else NEW_CONSUMER_DEFAULTS
        given = without(self.consumer, "key.deserializer", "value.deserializer")
        return with_defaults(given, defaults, quietly=number > 0) | {
            "client.id": f"{self.consumer['group.id']}-{number}"
        }


def without(properties: Mapping[str, str], *keys: str) -> dict[str, str]:
    """The properties that have none of these keys."""
    return {key: value for key, value in properties.items() if key not in keys}


def with_defaults(
    properties: Mapping[str, str], defaults: Mapping[str, str], *, quietly: bool = False
) -> dict[str, str]:
    """The properties, completed. Says which defaults are overridden, unless ``quietly``."""
    for key, default in defaults.items():
        given = properties.get(key, default)
        if given != default and not quietly:
            logger.warning("Property %s is overridden to %s - data loss or message reordering is possible.", key, given)
    return {**defaults, **properties}
