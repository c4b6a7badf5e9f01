"""Creates the broker's group coordinator with its configuration, purgatories, log and request handlers.

Kafka 0.10.2: core/.../coordinator/GroupCoordinator.scala (object GroupCoordinator) · book 5.2.1
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from kafka_lite.common.errors import Errors
from kafka_lite.common.purgatory.delayed_operation import DelayedOperationPurgatory
from kafka_lite.common.scheduler import KafkaScheduler
from kafka_lite.common.time import Time
from kafka_lite.common.topic_names import GROUP_METADATA_TOPIC_NAME
from kafka_lite.coordinator.group.delayed_heartbeat import DelayedHeartbeat
from kafka_lite.coordinator.group.delayed_join import DelayedRebalance
from kafka_lite.coordinator.group.group_admin import GroupAdmin
from kafka_lite.coordinator.group.group_config import GroupConfig, OffsetConfig
from kafka_lite.coordinator.group.group_coordinator import GroupCoordinator
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.group_metadata_manager import GroupMetadataManager
from kafka_lite.coordinator.group.group_offsets import GroupOffsets
from kafka_lite.coordinator.group.modern.consumer_group_coordinator import ConsumerGroupCoordinator
from kafka_lite.coordinator.group.modern.migration.classic_members import ClassicMembers
from kafka_lite.coordinator.group.modern.migration.group_requests import GroupRequests
from kafka_lite.coordinator.share.persister import Persister
from kafka_lite.record.compression import CompressionType
from kafka_lite.server.apis.consumer_group_apis import ConsumerGroupApis, VisibleTo
from kafka_lite.server.apis.group_apis import GroupApis
from kafka_lite.server.apis.offset_apis import OffsetApis
from kafka_lite.server.dynamic.config_handler import GroupConfigHandler
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.replica_manager import ReplicaManager
from kafka_lite.server.startup.cluster_topics import current_topics
from kafka_lite.server.startup.made_when_asked import MadeWhenAsked
from kafka_lite.server.transactions.transaction_verification import TransactionVerification
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

if TYPE_CHECKING:
    from kafka_lite.coordinator.group.modern.share.share_group_coordinator import ShareGroupCoordinator
    from kafka_lite.server.apis.share.share_group_apis import ShareGroupApis
    from kafka_lite.server.apis.share.share_group_offset_apis import ShareGroupOffsetApis

MS_PER_MINUTE = 60_000


def group_config(config: KafkaConfig) -> GroupConfig:
    """The keys about groups."""
    return GroupConfig(
        min_session_timeout_ms=config.group_min_session_timeout_ms,
        max_session_timeout_ms=config.group_max_session_timeout_ms,
        max_size=config.group_max_size,
        initial_rebalance_delay_ms=config.group_initial_rebalance_delay_ms,
    )


def offset_config(config: KafkaConfig) -> OffsetConfig:
    """The keys about offsets."""
    return OffsetConfig(
        max_metadata_size=config.offset_metadata_max_bytes,
        load_buffer_size=config.offsets_load_buffer_size,
        retention_ms=config.offsets_retention_minutes * MS_PER_MINUTE,
        retention_check_interval_ms=config.offsets_retention_check_interval_ms,
        topic_num_partitions=config.offsets_topic_num_partitions,
        compression=CompressionType.from_code(config.offsets_topic_compression_codec),
        commit_timeout_ms=config.offsets_commit_timeout_ms,
        commit_required_acks=config.offsets_commit_required_acks,
        inter_broker_protocol_version=config.inter_broker_protocol_version,
    )


class GroupCoordination:
    """The broker's coordinator with the parts that it uses."""

    def __init__(
        self,
        config: KafkaConfig,
        replica_manager: ReplicaManager,
        metadata_cache: MetadataCache,
        persister: Callable[[], Persister],
        time: Time,
    ) -> None:
        """``persister`` returns what keeps the states of share groups; asked when there is one."""
        self._time = time
        scheduler = KafkaScheduler(1, "group-metadata-manager-", time)
        heartbeats: DelayedOperationPurgatory[DelayedHeartbeat] = DelayedOperationPurgatory(
            "Heartbeat", broker_id=config.broker_id, time=time
        )
        rebalances: DelayedOperationPurgatory[DelayedRebalance] = DelayedOperationPurgatory(
            "Rebalance", broker_id=config.broker_id, time=time
        )
        self.offset_config = offset_config(config)
        self.group_manager = GroupMetadataManager(self.offset_config, replica_manager, scheduler, time)
        self.coordinator = GroupCoordinator(group_config(config), self.group_manager, heartbeats, rebalances)
        self._topics = topics = current_topics(metadata_cache)
        self._persister = persister
        self._scheduler = scheduler
        self.consumer_groups = ConsumerGroupCoordinator(
            config.consumer_groups, self.coordinator, topics, scheduler, time
        )
        self.group_configs = self.consumer_groups.group_configs
        self.group_configs.share_defaults = config.share_groups
        self._share_groups = MadeWhenAsked(self._new_share_groups)
        self.coordinator.rebalancer.loaded_listeners.append(self._on_group_loaded)
        self.offsets = GroupOffsets(self.coordinator)

    def startup(self, zk_client: KafkaZkClient) -> None:
        """Start serving groups. An existing topic ``__consumer_offsets`` determines the number of its partitions."""
        assignment = zk_client.get_topic_assignment(GROUP_METADATA_TOPIC_NAME)
        partitions = len(assignment.partitions) if assignment is not None else self.offset_config.topic_num_partitions
        self.coordinator.startup(partitions)

    def shutdown(self) -> None:
        """Stop serving groups."""
        self.coordinator.shutdown()

    def config_handler(self) -> GroupConfigHandler:
        """Applies the configurations of single groups."""
        return GroupConfigHandler(self.group_configs.update)

    def group_apis(self) -> GroupApis:
        """Handlers of requests about groups."""
        version = self.offset_config.inter_broker_protocol_version
        requests = GroupRequests(self.coordinator, ClassicMembers(self.consumer_groups))
        return GroupApis(requests, GroupAdmin(self.coordinator), version, self._delete_states)

    def consumer_group_apis(self, visible_to: VisibleTo | None) -> ConsumerGroupApis:
        """Handlers of requests about groups of KIP-848."""
        return ConsumerGroupApis(self.consumer_groups, visible_to)

    def share_group_apis(self) -> ShareGroupApis:
        """Handlers of requests about share groups."""
        from kafka_lite.server.apis.share.share_group_apis import ShareGroupApis  # for the first share group

        return ShareGroupApis(self._share_groups())

    def share_group_offset_apis(self) -> ShareGroupOffsetApis:
        """Handlers of requests about the offsets of share groups."""
        from kafka_lite.coordinator.group.modern.share.share_group_offsets import ShareGroupOffsets
        from kafka_lite.server.apis.share.share_group_offset_apis import ShareGroupOffsetApis  # for the first one

        keeper = self._share_groups().state_keeper
        return ShareGroupOffsetApis(ShareGroupOffsets(self.coordinator, keeper, self._topics, self._persister()))

    def _new_share_groups(self) -> ShareGroupCoordinator:
        from kafka_lite.coordinator.group.modern.share.share_group_coordinator import ShareGroupCoordinator

        parts = (self.coordinator, self._topics, self._persister(), self._scheduler, self._time)
        return ShareGroupCoordinator(self.group_configs, *parts)

    def _on_group_loaded(self, group: GroupMetadata) -> None:
        if group.share is not None:
            self._share_groups().on_group_loaded(group)

    def _delete_states(self, group_ids: Collection[str], respond: Callable[[Mapping[str, Errors]], None]) -> None:
        """Delete the states of share groups, if there are any among the groups."""
        groups = map(self.group_manager.get_group, group_ids)
        if any(group is not None and group.share is not None for group in groups):
            self._share_groups().state_keeper.delete_states_of(group_ids, respond)
        else:
            respond({})

    def offset_apis(
        self, metadata_cache: MetadataCache, zk_client: KafkaZkClient, verification: TransactionVerification
    ) -> OffsetApis:
        """Handlers of requests about offsets."""
        return OffsetApis(self.offsets, self.offset_config, metadata_cache, zk_client, self._time, verification)
