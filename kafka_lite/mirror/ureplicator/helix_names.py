"""The names that uReplicator's controller and its workers share: Helix's words for what a mirror has.

    Kafka topic            Helix resource      its name
    Kafka partition        Helix partition     its number as text: "0"
    uReplicator worker     Helix participant   instanceId of the worker, any text without a slash
    ONLINE                                     the worker copies the partition
    OFFLINE                                    it does not

    /CLUSTER/...                               Helix's znodes, see PropertyPaths
    /CLUSTER/BLACKLISTED_TOPICS/TOPIC          a topic that automatic white-listing leaves alone; no value

A partition has one worker, so there is nobody to be master or slave of: the state model OnlineOffline is enough.

uReplicator kafka-0.10.2.1: uReplicator-Controller/.../mirrormaker/controller/core/OnlineOfflineStateModel.java
(OnlineOfflineStateModel) · book 8.2.1, 8.2.2
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.helix.property_paths import PropertyPaths

DEFAULT_CLUSTER = "testMirrorMaker"
"""The cluster of workers whose file does not name one, and of the controller's examples."""
STATE_MODEL = "OnlineOffline"
ONLINE = "ONLINE"
OFFLINE = "OFFLINE"
SESSION_TIMEOUT_MS = 30_000
"""Helix's ZooKeeper session: so long a dead worker's partitions are thought to be copied."""
SESSION_TIMEOUT_PROPERTY = "zk.session.timeout"
"""Sets another one: a property of the worker's helix.config, a flag of the controller. (Helix: a system property.)"""

View = Mapping[str, Mapping[str, Mapping[str, str]]]
"""Resource, partition, instance: the state; of external views or of ideal states."""


def partition_name(partition: int) -> str:
    """The Helix partition of a partition of Kafka."""
    return str(partition)


def topic_partition(resource: str, partition: str) -> TopicPartition | None:
    """The partition of Kafka; None for a name that no controller of uReplicator writes."""
    return TopicPartition(resource, int(partition)) if partition.isascii() and partition.isdigit() else None


def online_workers(view: View) -> dict[TopicPartition, list[str]]:
    """Per partition the workers that are ONLINE, by name; none while a partition moves."""
    found: dict[TopicPartition, list[str]] = {}
    for resource, partitions in view.items():
        for name, states in partitions.items():
            partition = topic_partition(resource, name)
            if partition is not None:
                found[partition] = sorted(worker for worker, state in states.items() if state == ONLINE)
    return found


def blacklisted_topics(paths: PropertyPaths) -> str:
    """The parent of the topics that automatic white-listing leaves alone."""
    return f"{paths.root}/BLACKLISTED_TOPICS"


def process_name() -> str:
    """LIVE_INSTANCE of this process, as a JVM has it: PID@HOST."""
    return f"{os.getpid()}@{socket.gethostname()}"
