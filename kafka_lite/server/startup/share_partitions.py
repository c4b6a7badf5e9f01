"""Creates what serves share groups on the leaders of their partitions.

Kafka 4.1: core/.../server/BrokerServer.scala (sharePartitionManager) · book 5.4.1
"""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from kafka_lite.common.purgatory.delayed_operation import DelayedOperationPurgatory
from kafka_lite.common.purgatory.timer import SystemTimer
from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.modern.consumer_group_config import GroupConfigManager
from kafka_lite.coordinator.share.persister import Persister
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.server.apis.leader_hints import CurrentLeader
from kafka_lite.server.apis.share.share_fetch_apis import KnownTopics, ShareFetchApis
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.quotas.request_handler_helper import RequestHandlerHelper
from kafka_lite.server.replica_manager import ReplicaManager
from kafka_lite.server.share.acquisition_lock_timer import AcquisitionLockTimer
from kafka_lite.server.share.delayed_share_fetch import DelayedShareFetch
from kafka_lite.server.share.share_group_metrics import ShareGroupMetrics
from kafka_lite.server.share.share_partition_manager import SharePartitionManager
from kafka_lite.server.share.share_session import ShareSessionCache


class SharePartitions:
    """The broker's share partitions with the parts that they use. They stop before the persister does."""

    def __init__(
        self,
        config: KafkaConfig,
        replica_manager: ReplicaManager,
        group_configs: GroupConfigManager,
        persister: Persister,
        registry: MetricsRegistry,
        channel: RequestChannel,
        time: Time,
    ) -> None:
        limits = config.share_groups
        self._fetch_max_bytes = config.fetch_max_bytes
        self._group_configs = group_configs
        self.purgatory: DelayedOperationPurgatory[DelayedShareFetch] = DelayedOperationPurgatory(
            "ShareFetch", broker_id=config.broker_id, purge_interval=limits.purgatory_purge_interval, time=time
        )
        self.manager = SharePartitionManager(
            replica_manager,
            ShareSessionCache(limits.max_share_sessions, registry, time),
            group_configs.share_config_of,
            persister,
            AcquisitionLockTimer(config.broker_id, SystemTimer(time=time)),
            self.purgatory,
            ShareGroupMetrics(registry, time),
            time,
        )
        channel.on_connection_ended = self.manager.on_connection_ended

    def apis(
        self,
        metadata_cache: MetadataCache,
        denied: Callable[[Request, set[str]], set[str]] | None,
        current_leader: CurrentLeader,
        request_helper: RequestHandlerHelper,
        scheduler: Scheduler,
    ) -> ShareFetchApis:
        """Handlers of requests to leaders. ``denied``: the topics that a client may not read."""

        def later(ms: float, do: Callable[[], None]) -> None:
            scheduler.schedule("share-fetch-without-session", do, ms)

        def name_of(topic_id: UUID) -> str | None:
            return metadata_cache.topic_name(topic_id)

        def has_partition(log: TopicPartition) -> bool:
            return metadata_cache.get_partition_info(log) is not None

        return ShareFetchApis(
            self.manager,
            KnownTopics(name_of, has_partition, denied),
            self._group_configs.share_config_of,
            current_leader,
            request_helper,
            self._fetch_max_bytes,
            later,
        )

    def shutdown(self) -> None:
        """Deliver nothing more."""
        self.manager.shutdown()
