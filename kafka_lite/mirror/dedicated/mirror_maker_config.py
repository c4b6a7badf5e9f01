"""The file of ``connect-mirror-maker``: clusters, the ways between them, and what follows for workers and connectors.

::

    clusters = west, east                         names
    west.bootstrap.servers = w:9092               of a cluster
    west->east.enabled = true                     of a way
    west->east.topics = orders
    replication.factor = 1                        of all connectors

Kafka 2.4: connect/mirror/.../connect/mirror/MirrorMakerConfig.java, SourceAndTarget.java · book 8.1.1
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from typing import NamedTuple

from kafka_lite.common.config_def import NO_DEFAULT, NON_EMPTY, ConfigDef, ConfigError, Importance, Type
from kafka_lite.connect.runtime.connector_config import source_config_def
from kafka_lite.mirror.connectors.checkpoint.mirror_checkpoint_config import CONFIG as CHECKPOINT_CONFIG
from kafka_lite.mirror.connectors.heartbeat.mirror_heartbeat_config import CONFIG as HEARTBEAT_CONFIG
from kafka_lite.mirror.connectors.mirror_connector_config import CLIENT_KEYS
from kafka_lite.mirror.connectors.named_class import JAVA
from kafka_lite.mirror.connectors.source.mirror_source_config import CONFIG as SOURCE_CONFIG

CONFIG = ConfigDef().define("clusters", Type.LIST, NO_DEFAULT, Importance.HIGH, "The names of the clusters.", NON_EMPTY)
KINDS = ("MirrorSourceConnector", "MirrorHeartbeatConnector", "MirrorCheckpointConnector")
"""The connectors of a way, in the order in which they are configured."""
CLIENT_KINDS = ("producer", "consumer", "admin")
EMIT_HEARTBEATS = "emit.heartbeats.enabled"
OF_WORKERS = (
    "offset.storage", "config.storage", "status.storage", "key.converter", "value.converter", "header.converter",
    "task", "worker", "replication.policy",
)  # fmt: skip
"""Beginnings of keys that workers take from the top of the file."""
OF_CONNECTORS = frozenset({
    *source_config_def().keys, *SOURCE_CONFIG.keys, *CHECKPOINT_CONFIG.keys, *HEARTBEAT_CONFIG.keys,
})  # fmt: skip
"""Keys that connectors take from there."""
BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
JSON = "org.apache.kafka.connect.json.JsonConverter"


class SourceAndTarget(NamedTuple):
    """A way: the names of two clusters."""

    source: str
    target: str

    def __str__(self) -> str:
        return f"{self.source}->{self.target}"


class MirrorMakerConfig:
    """The properties of the file. Those of a way are stronger than those of a cluster and of the top."""

    def __init__(self, props: Mapping[str, str]) -> None:
        """Raises ConfigError if there are no two clusters, or if one has no brokers."""
        self._props = dict(props)
        self.clusters: list[str] = CONFIG.parse(props)["clusters"]
        """Their names."""
        for name in self.clusters:
            key = f"{name}.bootstrap.servers"
            if not props.get(key):
                raise ConfigError(key, props.get(key), f"the brokers of cluster {name} are needed")

    def cluster_pairs(self) -> list[SourceAndTarget]:
        """The ways that need a worker: those that are enabled, and those that have heartbeats only.

        A heartbeat is written into the target of a way by that way's worker. So that the mirror from west to east
        copies heartbeats, the worker of the way from east to west writes them into west.
        """
        pairs = (SourceAndTarget(*pair) for pair in permutations(self.clusters, 2))
        return [pair for pair in pairs if self._is_true(f"{pair}.enabled", "false") or self._has_heartbeats(pair)]

    def _has_heartbeats(self, pair: SourceAndTarget) -> bool:
        return self._is_true(f"{pair}.{EMIT_HEARTBEATS}", self._props.get(EMIT_HEARTBEATS, "true"))

    def _is_true(self, key: str, default: str) -> bool:
        return self._props.get(key, default).strip().lower() == "true"

    def cluster_props(self, cluster: str) -> dict[str, str]:
        """The settings of a cluster: its own, those of its clients, and those of all clients from the top."""
        found = self._stripped(f"{cluster}.")
        for props in (dict(found), self._props):
            for key in sorted(CLIENT_KEYS & props.keys()):
                for kind in CLIENT_KINDS:
                    found.setdefault(f"{kind}.{key}", props[key])
                found.setdefault(key, props[key])
        return found

    def worker_config(self, pair: SourceAndTarget) -> dict[str, str]:
        """The worker of a way: in the target, with topics named after the source."""
        found = self.cluster_props(pair.target)
        found |= {key: value for key, value in self._props.items() if key.startswith(OF_WORKERS)}
        defaults = {
            "client.id": str(pair),
            "group.id": f"{pair.source}-mm2",
            **{f"{kind}.storage.topic": f"mm2-{what}.{pair.source}.internal" for kind, what in STORAGES.items()},
            **{f"{kind}.converter": BYTES for kind in ("key", "value", "header")},
            **{f"internal.{kind}.converter": JSON for kind in ("key", "value")},
            **{f"internal.{kind}.converter.schemas.enable": "false" for kind in ("key", "value")},
            # No port is given away: the interface is for the workers of this process and machine.
            "rest.host.name": "127.0.0.1",
            "rest.port": "0",
        }
        return defaults | found

    def connector_config(self, pair: SourceAndTarget, kind: str) -> dict[str, str]:
        """A connector of a way. ``kind`` is one of KINDS. Kafka: connectorBaseConfig."""
        found = {
            key: value
            for key, value in self._props.items()
            if key in OF_CONNECTORS or key.startswith("replication.policy")
        }
        for role, cluster in (("source", pair.source), ("target", pair.target)):
            for key, value in self.cluster_props(cluster).items():
                is_of_a_client = key.startswith(CLIENT_KINDS)
                found[f"{role}.{key}" if is_of_a_client else f"{role}.cluster.{key}"] = value
        defaults = {
            "name": kind,
            "connector.class": f"{JAVA}.{kind}",
            "source.cluster.alias": pair.source,
            "target.cluster.alias": pair.target,
            "enabled": "false",
        }
        return defaults | found | self._stripped(f"{pair}.")

    def _stripped(self, prefix: str) -> dict[str, str]:
        return {key[len(prefix) :]: value for key, value in self._props.items() if key.startswith(prefix)}


STORAGES: Mapping[str, str] = {"config": "configs", "offset": "offsets", "status": "status"}
"""A worker's topics -> the words in their names."""
