"""The names of copied topics: a prefix that says where they are from, or no change.

Kafka 3.0: connect/mirror-client/.../connect/mirror/ReplicationPolicy.java, DefaultReplicationPolicy.java,
IdentityReplicationPolicy.java · book 8.1.1
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from kafka_lite.mirror.connectors.named_class import NamedClass, javas

SEPARATOR = "replication.policy.separator"
INTERNAL_TOPIC_SEPARATOR_ENABLED = "replication.policy.internal.topic.separator.enabled"
SOURCE_CLUSTER_ALIAS = "source.cluster.alias"
HEARTBEATS = "heartbeats"
DOT = "."


class ReplicationPolicy(ABC):
    """How copied topics are named. A class of yours is created with the connector's properties."""

    _internal_separator = DOT

    @abstractmethod
    def format_remote_topic(self, source_cluster_alias: str, topic: str) -> str:
        """The name in the target of a topic of the source."""

    @abstractmethod
    def topic_source(self, topic: str) -> str | None:
        """The cluster that a topic was copied from; None if it was not copied."""

    @abstractmethod
    def upstream_topic(self, topic: str) -> str | None:
        """The name of a copied topic in the cluster that it was copied from; None if it was not copied."""

    def original_topic(self, topic: str) -> str:
        """The name in the first cluster of its way."""
        upstream = self.upstream_topic(topic)
        return topic if upstream is None or upstream == topic else self.original_topic(upstream)

    # ── topics of MirrorMaker 2 itself ────────────────────────────────────────────────────────────────────────────

    @property
    def heartbeats_topic(self) -> str:
        """The topic of heartbeats, in each cluster."""
        return HEARTBEATS

    def is_heartbeats_topic(self, topic: str) -> bool:
        """Whether these are heartbeats, of this cluster or copied."""
        return self.original_topic(topic) == HEARTBEATS

    def offset_syncs_topic(self, cluster_alias: str) -> str:
        """Pairs of offsets in the source and in this cluster."""
        return self._internal("mm2-offset-syncs", cluster_alias, "internal")

    def checkpoints_topic(self, cluster_alias: str) -> str:
        """Offsets of groups of this cluster, translated."""
        return self._internal(cluster_alias, "checkpoints", "internal")

    def is_checkpoints_topic(self, topic: str) -> bool:
        """Whether its name ends as that of a topic of checkpoints."""
        return topic.endswith(self._internal("", "checkpoints", "internal"))

    def is_internal_topic(self, topic: str) -> bool:
        """Whether it belongs to Kafka, Connect or MirrorMaker 2, and is never copied."""
        ends = (self._internal("", "internal"), "-internal", ".internal")
        return topic.startswith(("__", DOT)) or topic.endswith(ends)

    def _internal(self, *parts: str) -> str:
        return self._internal_separator.join(parts)


class DefaultReplicationPolicy(ReplicationPolicy):
    """Topic ``t`` of the cluster ``west`` is called ``west.t`` elsewhere.

    ::

        west              east                  north
        t         ──▶     west.t        ──▶     east.west.t

    A name tells the way that the records have come. So a mirror sees which topics came from its own target, and leaves
    them out: two clusters may mirror each other.
    """

    def __init__(self, configs: Mapping[str, str] | None = None) -> None:
        configs = configs or {}
        self._separator = configs.get(SEPARATOR, DOT)
        for_internal_ones = configs.get(INTERNAL_TOPIC_SEPARATOR_ENABLED, "true").lower() == "true"
        self._internal_separator = self._separator if for_internal_ones else DOT

    def format_remote_topic(self, source_cluster_alias: str, topic: str) -> str:
        """The name in the target of a topic of the source."""
        return f"{source_cluster_alias}{self._separator}{topic}"

    def topic_source(self, topic: str) -> str | None:
        """The cluster that a topic was copied from; None if it was not copied."""
        source, separator, upstream = topic.partition(self._separator)
        return source if separator and upstream else None

    def upstream_topic(self, topic: str) -> str | None:
        """The name of a copied topic in the cluster that it was copied from; None if it was not copied."""
        source = self.topic_source(topic)
        return None if source is None else topic[len(source) + len(self._separator) :]


class IdentityReplicationPolicy(DefaultReplicationPolicy):
    """Topics keep their names, as with the first MirrorMaker. Heartbeats alone have the prefix.

    Nothing in a name tells where it is from, so that two clusters must not mirror each other.
    """

    def __init__(self, configs: Mapping[str, str] | None = None) -> None:
        super().__init__(configs)
        self._source = (configs or {}).get(SOURCE_CLUSTER_ALIAS)

    def format_remote_topic(self, source_cluster_alias: str, topic: str) -> str:
        """The same name."""
        return super().format_remote_topic(source_cluster_alias, topic) if _is_like_heartbeats(topic) else topic

    def topic_source(self, topic: str) -> str | None:
        """The configured source, whatever the topic is."""
        return super().topic_source(topic) if _is_like_heartbeats(topic) else self._source

    def upstream_topic(self, topic: str) -> str | None:
        """The same name."""
        return super().upstream_topic(topic) if _is_like_heartbeats(topic) else topic


def _is_like_heartbeats(topic: str) -> bool:
    return topic.endswith(HEARTBEATS)


REPLICATION_POLICY = NamedClass(
    "replication.policy.class", ReplicationPolicy, javas(DefaultReplicationPolicy, IdentityReplicationPolicy)
)
