"""Creates the broker's share coordinator with its configuration and log, and the persister that asks all of them.

Kafka 4.1: core/.../server/BrokerServer.scala (createShareCoordinator, createShareStatePersister) · book 10.3
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.scheduler import KafkaScheduler
from kafka_lite.common.time import Time
from kafka_lite.common.topic_names import SHARE_GROUP_STATE_TOPIC_NAME
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.common.utils import java_abs, java_string_hash
from kafka_lite.coordinator.share.persister import Persister, SharePartitionKey
from kafka_lite.coordinator.share.share_coordinator import ShareCoordinator
from kafka_lite.coordinator.share.share_coordinator_metrics import ShareCoordinatorMetrics
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.server.apis.share.share_state_apis import ShareStateApis
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.replica_manager import ReplicaManager
from kafka_lite.server.replication.broker_channels import BrokerChannels
from kafka_lite.server.share.persister import state_messages
from kafka_lite.server.share.persister.default_state_persister import DefaultStatePersister
from kafka_lite.server.share.persister.persister_state_manager import PersisterStateManager
from kafka_lite.server.share.persister.state_messages import StateMessages

logger = logging.getLogger(__name__)


class ShareCoordination:
    """The broker's coordinator, and its Persister."""

    def __init__(
        self,
        config: KafkaConfig,
        replica_manager: ReplicaManager,
        metadata_cache: MetadataCache,
        create_topic: Callable[[str], None],
        metrics: Metrics,
        time: Time,
    ) -> None:
        """``create_topic`` creates an internal topic with its defaults, and raises ApiError."""
        self.config = config.share_coordinator
        self._inter_broker_listener_name = config.inter_broker_listener_name
        self._metadata_cache = metadata_cache
        self._create_topic = create_topic
        self.coordinator = ShareCoordinator(
            self.config,
            replica_manager,
            replica_manager.delete_internal_records,
            self._partition_exists,
            ShareCoordinatorMetrics(metrics),
            KafkaScheduler(self.config.num_threads, "share-coordinator-", time),
            time,
        )
        self._channels = BrokerChannels(
            f"broker-{config.broker_id}-share-persister",
            self._end_point_of,
            config.request_timeout_ms,
            time,
            config.inter_broker_security(),
        )
        self.persister: Persister = DefaultStatePersister(
            PersisterStateManager(
                config.broker_id,
                self.coordinator_of,
                self._ask_here,
                self._channels,
                KafkaScheduler(1, "persister-state-manager-", time),
            )
        )

    def shutdown(self) -> None:
        """Stop asking, then stop serving."""
        self.persister.stop()
        self.coordinator.stop()
        self._channels.close()

    def share_state_apis(self) -> ShareStateApis:
        """Handlers of requests to the coordinator."""
        return ShareStateApis(self.coordinator)

    # ── for the persister ─────────────────────────────────────────────────────────────────────────────────────────

    def coordinator_of(self, key: SharePartitionKey) -> int | None:
        """The broker that leads the key's partition of the topic, which is created if it is missing.

        None if it has no leader that is alive.
        """
        partitions = self._metadata_cache.get_partitions(SHARE_GROUP_STATE_TOPIC_NAME)
        if not partitions:
            self._create()
            return None
        number = java_abs(java_string_hash(key.as_coordinator_key())) % len(partitions)
        info = self._metadata_cache.get_partition_info(TopicPartition(SHARE_GROUP_STATE_TOPIC_NAME, number))
        is_alive = info is not None and self._metadata_cache.get_alive_broker(info.leader) is not None
        return info.leader if is_alive and info is not None else None

    def _create(self) -> None:
        if not self._metadata_cache.has_alive_brokers():
            return  # the controller has not told this broker of any topic
        try:
            self._create_topic(SHARE_GROUP_STATE_TOPIC_NAME)
        except ApiError as failure:
            if failure.error is not Errors.TOPIC_ALREADY_EXISTS:
                logger.warning("Cannot create %s: %s", SHARE_GROUP_STATE_TOPIC_NAME, failure)
        except Exception:
            logger.exception("Error creating %s", SHARE_GROUP_STATE_TOPIC_NAME)  # an error of ZooKeeper, say

    def _ask_here(
        self,
        messages: StateMessages[Any, Any],
        group_id: str,
        partitions: Mapping[TopicIdPartition, Any],
        respond: Callable[[Mapping[TopicIdPartition, Any]], None],
    ) -> None:
        methods: dict[str, Callable[..., None]] = {
            state_messages.INITIALIZE.name: self.coordinator.initialize_state,
            state_messages.READ.name: self.coordinator.read_state,
            state_messages.WRITE.name: self.coordinator.write_state,
            state_messages.DELETE.name: self.coordinator.delete_state,
            state_messages.READ_SUMMARY.name: self.coordinator.read_summary,
        }
        methods[messages.name](group_id, partitions, respond)

    def _partition_exists(self, topic_id: UUID, partition: int) -> bool:
        name = self._metadata_cache.topic_name(topic_id)
        return name is not None and partition in self._metadata_cache.get_partitions(name)

    def _end_point_of(self, broker_id: int) -> BrokerEndPoint | None:
        broker = self._metadata_cache.get_alive_broker(broker_id)
        return broker.get_broker_end_point(self._inter_broker_listener_name) if broker is not None else None
