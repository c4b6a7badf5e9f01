"""The settings that the connectors of MirrorMaker 2 share, and the clients that they describe.

Kafka 2.4: connect/mirror/.../connect/mirror/MirrorConnectorConfig.java · book 8.1.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from kafka_lite.common.config_def import NO_DEFAULT, ConfigDef, Importance, Range, Type, ValidString
from kafka_lite.mirror.connectors.mirror_admin import FORWARDING_ADMIN, JAVAS_FORWARDING_ADMIN
from kafka_lite.mirror.connectors.named_class import JAVA
from kafka_lite.mirror.connectors.replication_policy import (
    INTERNAL_TOPIC_SEPARATOR_ENABLED,
    REPLICATION_POLICY,
    SEPARATOR,
    SOURCE_CLUSTER_ALIAS,
    ReplicationPolicy,
)
from kafka_lite.security.channel_builders import CLIENT_SECURITY_CONFIG

HIGH, LOW = Importance.HIGH, Importance.LOW
NAME, ENABLED, TASK_INDEX = "name", "enabled", "task.index"
TARGET_CLUSTER_ALIAS = "target.cluster.alias"
SOURCE_BOOTSTRAP_SERVERS = "source.cluster.bootstrap.servers"
TARGET_BOOTSTRAP_SERVERS = "target.cluster.bootstrap.servers"
OFFSET_SYNCS_LOCATION = "offset-syncs.topic.location"
EMIT_OFFSET_SYNCS = "emit.offset-syncs.enabled"
CONSUMER_POLL_TIMEOUT_MS = "consumer.poll.timeout.ms"
METRIC_REPORTERS = "metric.reporters"
ADMIN_TIMEOUT_MS, REQUEST_TIMEOUT_MS = "admin.timeout.ms", "request.timeout.ms"
DEFAULT_REQUEST_TIMEOUT_MS = 30_000

Cluster = Literal["source", "target"]
ClientKind = Literal["admin", "consumer", "producer"]
CLIENT_KEYS = frozenset({"bootstrap.servers", *CLIENT_SECURITY_CONFIG.keys})
"""The keys that all clients of a cluster need."""


def base_config_def() -> ConfigDef:
    """The keys of all connectors of MirrorMaker 2."""
    return (
        ConfigDef()
        .define(SOURCE_CLUSTER_ALIAS, Type.STRING, "source", HIGH, "The name of the source cluster.")
        .define(TARGET_CLUSTER_ALIAS, Type.STRING, "target", HIGH, "The name of the target cluster.")
        .define(TARGET_BOOTSTRAP_SERVERS, Type.LIST, NO_DEFAULT, HIGH, "Brokers of the target cluster.")
        .define(REPLICATION_POLICY.key, Type.CLASS, f"{JAVA}.DefaultReplicationPolicy", LOW,
                "How copied topics are named.", REPLICATION_POLICY)
        .define(SEPARATOR, Type.STRING, ".", LOW, "The separator between a cluster's name and a topic's.")
        .define(INTERNAL_TOPIC_SEPARATOR_ENABLED, Type.BOOLEAN, True, LOW,
                "Whether names of internal topics have that separator, too.")
        .define(ADMIN_TIMEOUT_MS, Type.LONG, 60_000, LOW,
                "The longest wait for an answer about topics and groups.", Range.at_least(0))
        .define(FORWARDING_ADMIN.key, Type.CLASS, JAVAS_FORWARDING_ADMIN, LOW,
                "The admin that asks about topics and groups, and changes them.", FORWARDING_ADMIN)
        .define(METRIC_REPORTERS, Type.LIST, "", LOW, "Classes that are told of the tasks' metrics.")
    )  # fmt: skip


def copying_config_def() -> ConfigDef:
    """The keys of those that read the source: of topics, and of groups."""
    return (
        base_config_def()
        .define(ENABLED, Type.BOOLEAN, True, LOW, "Whether the connector does anything.")
        .define(SOURCE_BOOTSTRAP_SERVERS, Type.LIST, NO_DEFAULT, HIGH, "Brokers of the source cluster.")
        .define(OFFSET_SYNCS_LOCATION, Type.STRING, "source", LOW,
                "The cluster that has the topic of offset syncs.", ValidString.in_("source", "target"))
        .define(EMIT_OFFSET_SYNCS, Type.BOOLEAN, True, LOW,
                "Whether offset syncs are written. Without them, offsets of groups cannot be translated.")
        .define(CONSUMER_POLL_TIMEOUT_MS, Type.LONG, 1000, LOW, "The longest wait for records of the source.")
    )  # fmt: skip


class MirrorConnectorConfig:
    """The checked settings of a connector or task.

    Its clients have the settings of their cluster, those of their kind, and those of their kind in their cluster::

        source.cluster.bootstrap.servers = a:9092       bootstrap.servers and security: of all clients of the source
        consumer.fetch.min.bytes = 1000                 of all consumers
        source.consumer.isolation.level = read_committed
    """

    def __init__(self, definition: ConfigDef, props: Mapping[str, str]) -> None:
        """Raises ConfigError."""
        self.props = dict(props)
        self._values = definition.parse(props)
        self.policy: ReplicationPolicy = REPLICATION_POLICY.new(self._values, props)
        """How topics are named."""

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    @property
    def source(self) -> str:
        """The name of the source cluster."""
        return str(self[SOURCE_CLUSTER_ALIAS])

    @property
    def target(self) -> str:
        """The name of the target cluster."""
        return str(self[TARGET_CLUSTER_ALIAS])

    @property
    def label(self) -> str:
        """The mirror and the connector, and the task if it is one: ``west->east|copy-0``. It is in ids of clients."""
        task = self.props.get(TASK_INDEX)
        return f"{self.source}->{self.target}|{self.props.get(NAME)}" + ("" if task is None else f"-{task}")

    @property
    def offset_syncs_topic(self) -> str:
        """The topic of offset syncs, which is named after the cluster that does not have it."""
        return self.policy.offset_syncs_topic(self.target if self.offset_syncs_cluster == "source" else self.source)

    @property
    def offset_syncs_cluster(self) -> Cluster:
        """The cluster that has that topic."""
        return "source" if self[OFFSET_SYNCS_LOCATION] == "source" else "target"

    @property
    def checkpoints_topic(self) -> str:
        """The topic of checkpoints, in the target."""
        return self.policy.checkpoints_topic(self.source)

    def interval_ms(self, name: str) -> int | None:
        """The time between two runs of ``refresh.topics``, say; None if it is disabled."""
        return int(self[f"{name}.interval.seconds"]) * 1000 if self[f"{name}.enabled"] else None

    def client(self, cluster: Cluster, kind: ClientKind, role: str) -> dict[str, object]:
        """The settings of a client. ``role`` is the end of its id."""
        of_cluster = self._with_prefix(f"{cluster}.cluster.")
        found: dict[str, object] = {key: value for key, value in of_cluster.items() if key in CLIENT_KEYS}
        found |= self._with_prefix(f"{kind}.")
        found |= self._with_prefix(f"{cluster}.{kind}.")
        if kind == "consumer":
            found["enable.auto.commit"] = "false"
            found.setdefault("auto.offset.reset", "earliest")
        if kind == "admin":
            timeout_ms = int(str(found.get(REQUEST_TIMEOUT_MS, DEFAULT_REQUEST_TIMEOUT_MS)))
            found[REQUEST_TIMEOUT_MS] = min(self[ADMIN_TIMEOUT_MS], timeout_ms)
            found[FORWARDING_ADMIN.key] = self[FORWARDING_ADMIN.key]
        users = [found["client.id"]] if "client.id" in found else []
        found["client.id"] = "|".join(map(str, (*users, self.label, role)))
        return found

    def _with_prefix(self, prefix: str) -> dict[str, str]:
        """The properties with a prefix, without it; none of the connector's own, such as CONSUMER_POLL_TIMEOUT_MS."""
        return {
            key[len(prefix) :]: value
            for key, value in self.props.items()
            if key.startswith(prefix) and (key not in self._values or key.endswith(".cluster.bootstrap.servers"))
        }
