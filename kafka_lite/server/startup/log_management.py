"""Creates the broker's log manager with its configuration and the overrides of the topics in ZooKeeper.

Kafka 0.10.2: core/.../server/KafkaServer.scala (createLogManager); since 0.11 LogManager.apply · book 6.1.5
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.time import Time
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_manager import LogManager
from kafka_lite.log.managing.log_maintenance import MaintenancePeriods
from kafka_lite.log.producers.producer_state_manager_config import ProducerStateManagerConfig
from kafka_lite.server.dynamic.broker_reconfigurable import (
    BrokerReconfigurable,
    DynamicLogCleaner,
    DynamicProducerStateManagerConfig,
    DynamicThreadPool,
)
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.replication.inter_broker_versions import topic_ids_are_known
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient


class LogManagement:
    """The broker's log manager, and the configurations of its logs.

    ``topic_defaults`` gives the broker's current defaults, which may change while it runs.
    """

    def __init__(
        self,
        config: KafkaConfig,
        topic_defaults: Callable[[], Mapping[str, object]],
        zk_client: KafkaZkClient,
        scheduler: Scheduler,
        time: Time,
    ) -> None:
        self._config = config
        self._topic_defaults = topic_defaults
        self._zk_client = zk_client
        self.topic_configs = {topic: self.topic_config(topic) for topic in zk_client.get_entities("topics")}
        """The topics that had overrides at the start."""
        self.log_manager = LogManager(
            [Path(directory) for directory in config.log_dirs],
            self.topic_configs,
            LogConfig({}, topic_defaults()),
            scheduler,
            time,
            recovery_threads_per_data_dir=config.num_recovery_threads_per_data_dir,
            maintenance_periods=MaintenancePeriods(
                retention_ms=config.log_retention_check_interval_ms,
                flush_ms=config.log_flush_scheduler_interval_ms,
                recovery_points_ms=config.log_flush_offset_checkpoint_interval_ms,
                start_offsets_ms=config.log_flush_start_offset_checkpoint_interval_ms,
                producer_expiration_ms=config.producer_id_expiration_check_interval_ms,
            ),
            producer_config=ProducerStateManagerConfig(
                config.producer_id_expiration_ms, config.transaction_partition_verification_enable
            ),
            cleaner_config=config.cleaner_config(),
            keep_topic_ids=topic_ids_are_known(config.inter_broker_protocol_version),
        )

    def topic_config(self, topic: str) -> LogConfig:
        """The configuration of a topic: its overrides in ZooKeeper, and the broker's defaults."""
        return LogConfig(self._zk_client.get_entity_config(f"topics/{topic}"), self._topic_defaults())

    def reconfigurables(self) -> list[BrokerReconfigurable]:
        """The parts that follow the dynamic configuration of a running broker."""
        logs, cleaner = self.log_manager, self.log_manager.cleaner
        parts: list[BrokerReconfigurable] = [
            DynamicThreadPool("num.recovery.threads.per.data.dir", logs.resize_recovery_thread_pool, self._config),
            DynamicProducerStateManagerConfig(logs.producer_config),
        ]
        return parts if cleaner is None else [*parts, DynamicLogCleaner(cleaner)]
