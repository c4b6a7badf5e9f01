"""Brokers in this process that share a ZooKeeper, for tests and recorded runs that look inside of them.

A test that only talks to its brokers, as clients do, uses ``Cluster``.

Kafka 0.10.2: core/src/test/.../integration/KafkaServerTestHarness.scala · book 1.4.2
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kafka_lite.cluster.partition import Partition
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.kafka_server import KafkaServer

SETTINGS = {
    "listeners": "PLAINTEXT://127.0.0.1:0",
    "num.io.threads": "2",
    "replica.fetch.backoff.ms": "50",
}


class KafkaServers:
    """``servers``: the brokers that run, by id. Each has the files of its last run, and a new port after each start."""

    def __init__(self, folder: Path, zookeeper_connect: str, settings: Mapping[str, object] | None = None) -> None:
        self.folder = folder
        self._settings = {**SETTINGS, "zookeeper.connect": zookeeper_connect, **(settings or {})}
        self.servers: dict[int, KafkaServer] = {}
        self._known: dict[int, KafkaServer] = {}
        """The last server of each broker, from the moment when it begins to start."""

    def start(self, broker_id: int, **settings: object) -> KafkaServer:
        """Start a broker, with these keys (``_`` for each dot) beside those of all."""
        own = {key.replace("_", "."): value for key, value in settings.items()}
        files = self.folder / f"broker-{broker_id}"
        properties = {**self._settings, "broker.id": broker_id, "log.dirs": files, **own}
        server = KafkaServer(KafkaConfig({key: str(value) for key, value in properties.items()}))
        self._known[broker_id] = server
        server.startup()
        self.servers[broker_id] = server
        return server

    def stop(self, broker_id: int) -> None:
        """Stop a broker cleanly."""
        self.servers.pop(broker_id).shutdown()

    def kill(self, broker_id: int) -> None:
        """As if the process had died: its session ends at once, and it hands over nothing."""
        server = self.servers.pop(broker_id)
        server.config.controlled_shutdown_enable = False
        server.zk_client.close()
        server.shutdown()

    def stop_all(self) -> None:
        """Stop those that run, one after another."""
        for broker_id in list(self.servers):
            self.stop(broker_id)

    def know_each_other(self) -> bool:
        """Whether every broker knows which brokers run."""
        caches = [server.metadata_cache for server in self.servers.values()]
        return all({broker.id for broker in cache.get_alive_brokers()} == set(self.servers) for cache in caches)

    def active_controller(self) -> int | None:
        """The broker that is the controller; None between two of them."""
        active = (number for number, server in self.servers.items() if server.controller.is_active)
        return next(active, None)

    def partition_of(self, broker_id: int, partition: TopicPartition) -> Partition | None:
        """A partition as a broker sees it; None if it does not know it yet."""
        return self.servers[broker_id].replica_manager.get_partition(partition)
