"""The replicas of a broker: their manager, the controller's changes to them, and the watch over failing disks.

Kafka 0.10.2: core/.../server/KafkaServer.scala (createReplicaManager), ReplicaManager.scala · book 6.2.1
"""

from __future__ import annotations

from collections.abc import Callable

from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.time import Time
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.log_dir_failure_handler import LogDirFailureHandler
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.quotas.quota_factory import QuotaManagers
from kafka_lite.server.replica_manager import ReplicaManager
from kafka_lite.server.replica_state_changes import ReplicaStateChanges
from kafka_lite.server.replication.inter_broker_versions import log_dirs_are_known
from kafka_lite.server.replication.isr_changes import IsrChanges
from kafka_lite.server.startup.log_management import LogManagement
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.log_dir_events import LogDirEvents


class ReplicaManagement:
    """The broker's replica manager with the parts that it uses.

    ``stop_broker`` is called if the last log directory fails.
    """

    def __init__(
        self,
        config: KafkaConfig,
        logs: LogManagement,
        zk_client: KafkaZkClient,
        metadata_cache: MetadataCache,
        quotas: QuotaManagers,
        registry: MetricsRegistry,
        scheduler: Scheduler,
        stop_broker: Callable[[], None],
        time: Time,
    ) -> None:
        self._broker_id = config.broker_id
        self._zookeeper = zk_client.zookeeper
        self._log_dir_events = LogDirEvents(self._zookeeper)
        self.manager = ReplicaManager(
            config,
            logs.log_manager,
            scheduler,
            time,
            time,
            registry,
            IsrChanges(zk_client, time, scheduler),
            quotas,
            metadata_cache,
        )
        self.state_changes = ReplicaStateChanges(self.manager, logs.topic_config, metadata_cache.get_alive_brokers)
        self._failure_handler = LogDirFailureHandler(
            logs.log_manager,
            self.state_changes,
            stop_broker,
            self.notify_controller,
            log_dirs_are_known(config.inter_broker_protocol_version),
            time,
        )

    def startup(self) -> None:
        """Read the high watermarks of the last run, and begin to watch the ISRs and the log directories."""
        self.manager.startup()
        self._failure_handler.start()

    def shutdown(self) -> None:
        """Stop following and watching, and write the high watermarks."""
        try:
            self._failure_handler.shutdown()
        finally:
            self.manager.shutdown()

    def notify_controller(self) -> None:
        """Let the controller find out which replicas are online here."""
        with self._zookeeper.refusing_without_room():  # its disk may be the full one
            self._log_dir_events.propagate(self._broker_id)
