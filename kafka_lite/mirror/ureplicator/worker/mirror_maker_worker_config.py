"""The settings of a worker: its flags, and its three files for the source, the target, and Helix.

uReplicator kafka-0.10.2.1: uReplicator-Worker/.../mirrormaker/MirrorMakerWorker.scala (main) · book 8.2.3
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka_lite.mirror.maker.mirror_maker_config import (
    OLD_CONSUMER_DEFAULTS,
    MirrorMakerConfig,
    MirrorMakerConfigError,
    with_defaults,
    without,
)
from kafka_lite.mirror.ureplicator.helix_names import DEFAULT_CLUSTER, SESSION_TIMEOUT_MS, SESSION_TIMEOUT_PROPERTY
from kafka_lite.old_consumer.consumer_config import ConsumerConfig

DEFAULT_ZK_SERVER = "localhost:2181"


@dataclass(frozen=True)
class MirrorMakerWorkerConfig:
    """The flags of ``ureplicator-worker``, with the contents of the files.

    ::

        helix.config        default                  meaning
        zkServer            localhost:2181           Helix's ZooKeeper
        helixClusterName    testMirrorMaker          the controller's -helixClusterName
        instanceId          HelixMirrorMaker-MILLIS  the worker's name; one that stays keeps its partitions
        zk.session.timeout  30000                    ms until a dead worker is noticed (in Java a system property)
    """

    consumer: Mapping[str, str]
    producer: Mapping[str, str]
    helix: Mapping[str, str]
    offset_commit_interval_ms: int = 60_000
    abort_on_send_failure: bool = True
    topic_mappings: Mapping[str, str] = field(default_factory=dict)

    def check(self) -> None:
        """Raise MirrorMakerConfigError or ConfigError if no worker can be made of this."""
        self.consumer_config()
        if "/" in self.helix.get("instanceId", ""):
            raise MirrorMakerConfigError(f"instanceId {self.helix['instanceId']} has a slash, which no znode may have.")
        if not self.helix.get(SESSION_TIMEOUT_PROPERTY, "1").isdecimal():
            raise MirrorMakerConfigError(
                f"{SESSION_TIMEOUT_PROPERTY} {self.helix[SESSION_TIMEOUT_PROPERTY]} is not a number of milliseconds."
            )

    @property
    def zk_server(self) -> str:
        """Helix's ZooKeeper."""
        return self.helix.get("zkServer", DEFAULT_ZK_SERVER)

    @property
    def cluster(self) -> str:
        """The Helix cluster."""
        return self.helix.get("helixClusterName", DEFAULT_CLUSTER)

    @property
    def session_timeout_ms(self) -> int:
        """How long Helix's ZooKeeper waits for a sign of life."""
        return int(self.helix.get(SESSION_TIMEOUT_PROPERTY, SESSION_TIMEOUT_MS))

    def instance_id(self, now_ms: int) -> str:
        """The worker's name."""
        return self.helix.get("instanceId", f"HelixMirrorMaker-{now_ms}")

    def consumer_config(self) -> ConsumerConfig:
        """The connector's configuration. Raises ConfigError."""
        return ConsumerConfig(
            with_defaults(without(self.consumer, "key.deserializer", "value.deserializer"), OLD_CONSUMER_DEFAULTS)
        )

    def producer_properties(self) -> dict[str, str]:
        """The producer's configuration: MirrorMaker's, which lose nothing.

        ``block.on.buffer.full``, which uReplicator sets too, has been ``max.block.ms`` since 0.9.
        """
        given = without(self.producer, "block.on.buffer.full")
        return MirrorMakerConfig(self.consumer, given).producer_properties()

    @property
    def sends_synchronously(self) -> bool:
        """Whether each record waits for its acknowledgement: ``producer.type=sync``."""
        return MirrorMakerConfig(self.consumer, self.producer).sends_synchronously
