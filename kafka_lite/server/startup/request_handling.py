"""The APIs of a broker, connected with its parts, and the threads that handle requests.

Kafka 0.10.2: core/.../server/KafkaServer.scala (apis, requestHandlerPool) · book 2.3.3
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.time import Time
from kafka_lite.common.topic_names import (
    GROUP_METADATA_TOPIC_NAME,
    SHARE_GROUP_STATE_TOPIC_NAME,
    TRANSACTION_STATE_TOPIC_NAME,
)
from kafka_lite.controller.feature_control import FeatureControl
from kafka_lite.controller.kafka_controller import KafkaController
from kafka_lite.coordinator.transaction.producer_id_manager import ProducerIdManager
from kafka_lite.network.socket_server import SocketServer
from kafka_lite.server import missing_logs
from kafka_lite.server.admin.admin_manager import AdminManager
from kafka_lite.server.admin.config_admin_manager import ConfigAdminManager
from kafka_lite.server.apis.acl_apis import AclApis
from kafka_lite.server.apis.admin_apis import AdminApis
from kafka_lite.server.apis.client_quota_apis import ClientQuotaApis
from kafka_lite.server.apis.delegation_token_apis import DelegationTokenApis
from kafka_lite.server.apis.feature_apis import FeatureApis
from kafka_lite.server.apis.fetch_apis import FetchApis
from kafka_lite.server.apis.leader_hints import LeaderHints
from kafka_lite.server.apis.log_dir_apis import LogDirApis
from kafka_lite.server.apis.log_offset_apis import LogOffsetApis
from kafka_lite.server.apis.metadata_apis import MetadataApis
from kafka_lite.server.apis.partition_admin_apis import PartitionAdminApis
from kafka_lite.server.apis.produce_apis import ProduceApis
from kafka_lite.server.apis.producer_id_apis import ProducerIdApis
from kafka_lite.server.apis.replication_apis import ReplicationApis
from kafka_lite.server.apis.sasl_apis import SaslApis
from kafka_lite.server.apis.telemetry_apis import TelemetryApis
from kafka_lite.server.auth.auth_helper import AuthHelper
from kafka_lite.server.auth.authorizing_handlers import authorizing, fetch_rule, share_fetch_rule, visible_rule
from kafka_lite.server.auth.delegation_token_rules import token_rule
from kafka_lite.server.auth.switched_handlers import switched
from kafka_lite.server.client_telemetry.client_metrics_manager import EXPIRY_CHECK_MS, ClientMetricsManager
from kafka_lite.server.client_telemetry.client_metrics_store import ClientMetricsStore
from kafka_lite.server.dynamic.dynamic_broker_config import DynamicBrokerConfig
from kafka_lite.server.fetch_sessions.fetch_manager import FetchManager
from kafka_lite.server.fetch_sessions.fetch_session_cache import FetchSessionCache
from kafka_lite.server.heavy_requests import HeavyRequests
from kafka_lite.server.kafka_apis import ApiHandlers, KafkaApis
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.kafka_healthcheck import KafkaHealthcheck
from kafka_lite.server.kafka_request_handler import KafkaRequestHandlerPool
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.quick_requests import InlineRequestHandler, QuickRequests
from kafka_lite.server.quotas.client_quota_managers import ClientQuotaManagers
from kafka_lite.server.quotas.custom_quotas import DynamicClientQuotaCallback
from kafka_lite.server.quotas.request_handler_helper import RequestHandlerHelper
from kafka_lite.server.replication.controller_requests import ControllerRequests
from kafka_lite.server.responses.down_conversions import DownConversions
from kafka_lite.server.startup.broker_metrics import BrokerMetrics
from kafka_lite.server.startup.group_coordination import GroupCoordination
from kafka_lite.server.startup.held_requests import HeldRequests
from kafka_lite.server.startup.made_when_asked import MadeWhenAsked
from kafka_lite.server.startup.replica_management import ReplicaManagement
from kafka_lite.server.startup.security import BrokerSecurity
from kafka_lite.server.startup.share_groups_when_asked import LateShareCoordination, share_handlers
from kafka_lite.server.startup.transaction_coordination import TransactionCoordination
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

if TYPE_CHECKING:
    from kafka_lite.server.apis.share.share_fetch_apis import ShareFetchApis
    from kafka_lite.server.startup.share_partitions import SharePartitions


@dataclass(frozen=True)
class BrokerParts:
    """The parts of a broker that requests reach."""

    config: KafkaConfig
    cluster_id: str
    dynamic_config: DynamicBrokerConfig
    zk_client: KafkaZkClient
    socket_server: SocketServer
    metadata_cache: MetadataCache
    replicas: ReplicaManagement
    groups: GroupCoordination
    transactions: TransactionCoordination
    share: LateShareCoordination
    producer_ids: ProducerIdManager
    admin_manager: AdminManager
    controller: KafkaController
    features: FeatureControl
    healthcheck: KafkaHealthcheck
    quotas: ClientQuotaManagers
    security: BrokerSecurity
    metrics: BrokerMetrics
    scheduler: Scheduler
    time: Time


class RequestHandling:
    """``apis`` handles any request; until ``start_handlers``, only this broker's own controller calls it."""

    def __init__(self, parts: BrokerParts) -> None:
        self._parts = parts
        channel = parts.socket_server.request_channel
        self._request_helper = RequestHandlerHelper(channel, parts.quotas, parts.time)
        authorizer = parts.security.authorizer
        self._auth = None if authorizer is None else AuthHelper(authorizer, channel.close_connection)
        self._down_conversions = DownConversions()
        self._fetch_sessions = FetchSessionCache(
            parts.config.max_incremental_fetch_session_cache_slots, parts.metrics.registry, parts.time
        )
        self._share_partitions = MadeWhenAsked(self._new_share_partitions)
        self._partition_admin = PartitionAdminApis(
            parts.config.broker_id, parts.controller, parts.metadata_cache, parts.time
        )
        parts.metrics.measure_purgatory(self._partition_admin.elect_leader_purgatory)
        self.held = HeldRequests()
        self._metadata_apis = MetadataApis(
            parts.config,
            parts.cluster_id,
            parts.metadata_cache,
            parts.healthcheck.local_broker,
            parts.admin_manager.auto_create_topic,
            parts.security.versions,
        )
        self.client_metrics = self._new_client_metrics()
        parts.security.versions.wants_telemetry = lambda: self.client_metrics.has_subscriptions
        self.apis = KafkaApis(
            channel, parts.socket_server.unserved_requests, self._new_handlers(), self._request_helper
        )
        if parts.quotas.callback is not None:
            keys = DynamicClientQuotaCallback(parts.quotas.callback, parts.quotas.update_all_quota_metric_configs)
            parts.dynamic_config.add_broker_reconfigurable(keys, created_with=parts.config)
        if self._auth is not None:
            auto_create = parts.config.auto_create_topics_enable
            self.apis.wrap_handlers(authorizing(self._auth, auto_create, parts.metadata_cache))
        self.apis.wrap_handlers(self.held.wrap)
        self.apis.wrap_handlers(switched(parts.security.consumer_groups, parts.security.share_groups))

    def _new_handlers(self) -> ApiHandlers:
        parts = self._parts
        replica_manager, verification = parts.replicas.manager, parts.transactions.verification
        hints = LeaderHints(replica_manager.get_partition, parts.metadata_cache)
        return ApiHandlers(
            produce=ProduceApis(
                replica_manager,
                parts.socket_server.request_channel.close_connection,
                verification,
                hints.current_leader,
                parts.metadata_cache,
            ),
            fetch=FetchApis(
                replica_manager,
                FetchManager(self._fetch_sessions, parts.time),
                self._request_helper,
                None if self._auth is None else fetch_rule(self._auth),
                self._down_conversions.submit,
                parts.metadata_cache.topic_name,
                hints.current_leader,
            ),
            log_offsets=LogOffsetApis(replica_manager),
            metadata=self._metadata_apis,
            admin=self._new_admin_apis(),
            partition_admin=self._partition_admin,
            client_quotas=ClientQuotaApis(parts.zk_client),
            producer_ids=ProducerIdApis(parts.producer_ids, parts.transactions.coordinator, replica_manager),
            groups=parts.groups.group_apis(),
            consumer_groups=parts.groups.consumer_group_apis(None if self._auth is None else visible_rule(self._auth)),
            offsets=parts.groups.offset_apis(parts.metadata_cache, parts.zk_client, verification),
            replication=self._new_replication_apis(),
            log_dirs=LogDirApis(parts.config.log_dirs, replica_manager),
            transactions=parts.transactions.transaction_apis(),
            txn_markers=parts.transactions.marker_apis,
            acls=AclApis(parts.security.authorizer),
            delegation_tokens=self._new_delegation_token_apis(),
            telemetry=TelemetryApis(self.client_metrics),
            share_groups=share_handlers(
                MadeWhenAsked(parts.share.share_state_apis),
                MadeWhenAsked(parts.groups.share_group_apis),
                MadeWhenAsked(parts.groups.share_group_offset_apis),
                MadeWhenAsked(lambda: self._new_share_fetch_apis(hints)),
            ),
            features=FeatureApis(parts.features, lambda: parts.controller.is_active),
            sasl=SaslApis(
                parts.config.values["sasl.enabled.mechanisms"], parts.zk_client, lambda: parts.controller.is_active
            ),
        )

    def _new_share_partitions(self) -> SharePartitions:
        from kafka_lite.server.startup.share_partitions import SharePartitions  # two dozen modules, for share groups

        parts = self._parts
        made = SharePartitions(
            parts.config,
            parts.replicas.manager,
            parts.groups.group_configs,
            parts.share.persister(),
            parts.metrics.registry,
            parts.socket_server.request_channel,
            parts.time,
        )
        parts.metrics.measure_purgatory(made.purgatory)
        return made

    def _new_share_fetch_apis(self, hints: LeaderHints) -> ShareFetchApis:
        return self._share_partitions().apis(
            self._parts.metadata_cache,
            None if self._auth is None else share_fetch_rule(self._auth),
            hints.current_leader,
            self._request_helper,
            self._parts.scheduler,
        )

    def _new_client_metrics(self) -> ClientMetricsManager:
        parts, store = self._parts, ClientMetricsStore()
        manager = ClientMetricsManager(parts.config.values["telemetry.max.bytes"], store, parts.time)
        parts.scheduler.schedule("expire-client-metrics", manager.expire, EXPIRY_CHECK_MS, EXPIRY_CHECK_MS)
        parts.metrics.measure_client_metrics(manager, store)
        return manager

    def _new_admin_apis(self) -> AdminApis:
        parts = self._parts
        configs = ConfigAdminManager(parts.config, parts.metadata_cache, parts.zk_client, parts.dynamic_config)
        return AdminApis(
            parts.config,
            parts.admin_manager,
            configs,
            lambda: parts.controller.is_active,
            self._request_helper,
            parts.metadata_cache.topic_name,
        )

    def _new_delegation_token_apis(self) -> DelegationTokenApis:
        parts, tokens = self._parts, self._parts.security.tokens

        def delete_expired_tokens() -> None:
            if parts.controller.is_active:
                tokens.expire_tokens()

        if tokens.enabled:
            interval_ms = tokens.config.expiry_check_interval_ms
            parts.scheduler.schedule("delete-expired-tokens", delete_expired_tokens, interval_ms, interval_ms)
        return DelegationTokenApis(tokens, None if self._auth is None else token_rule(self._auth))

    def _new_replication_apis(self) -> ReplicationApis:
        parts = self._parts
        apis = ReplicationApis(
            parts.replicas.state_changes,
            parts.metadata_cache,
            {
                GROUP_METADATA_TOPIC_NAME: parts.groups.coordinator,
                TRANSACTION_STATE_TOPIC_NAME: parts.transactions.coordinator,
                SHARE_GROUP_STATE_TOPIC_NAME: parts.share,
            },
            parts.groups.offsets,
            parts.controller,
            self._on_topic_changed,
            self._on_metadata_updated,
            parts.replicas.notify_controller,
            lambda: parts.healthcheck.broker_epoch,
            parts.zk_client.get_broker_epoch,
            parts.share.on_topics_deleted,
        )
        retry_ms = missing_logs.RETRY_MS
        parts.scheduler.schedule("missing-logs", apis.make_missing_logs, retry_ms, retry_ms)
        return apis

    def _on_topic_changed(self, topic: str) -> None:
        """Complete the operations that wait for a change of this topic's metadata."""
        self._parts.admin_manager.try_complete_delayed_topic_operations(topic)
        self._partition_admin.try_complete_delayed_elections(topic)

    def _on_metadata_updated(self, listener_name: str) -> None:
        """Tell a quota callback of the cluster as it is now."""
        parts = self._parts
        name = listener_name or parts.config.inter_broker_listener_name
        parts.quotas.update_cluster_metadata(lambda: parts.metadata_cache.get_cluster_metadata(parts.cluster_id, name))

    def shutdown(self) -> None:
        """Stop waiting for elections that clients have requested, and converting records for old consumers."""
        if self._share_partitions.made is not None:
            self._share_partitions.made.shutdown()
        self._partition_admin.shutdown()
        self._down_conversions.shutdown()

    def start_handlers(self) -> KafkaRequestHandlerPool:
        """Start the threads that handle requests; returns their pool."""
        parts, channel = self._parts, self._parts.socket_server.request_channel
        config = parts.dynamic_config.current_config
        heavy = HeavyRequests(self._fetch_sessions.size_of)
        orders = ControllerRequests(self.apis.refuse, parts.config.inter_broker_listener_name)
        pool = KafkaRequestHandlerPool(config.num_io_threads, channel, self.apis, parts.time, heavy.includes, orders)
        parts.metrics.measure_handlers(pool)
        return pool

    def start_inline_handler(self) -> InlineRequestHandler:
        """Let the network threads handle the requests that are quick, without a hand-over to another thread."""
        parts = self._parts
        quick = QuickRequests(
            parts.replicas.manager,
            parts.metadata_cache,
            parts.dynamic_config.current_config.auto_create_topics_enable,
            parts.groups.group_manager.topic_partition_for,
            self._fetch_sessions.size_of,
        )
        return InlineRequestHandler(parts.socket_server.request_channel, self.apis, quick.includes, parts.time)
