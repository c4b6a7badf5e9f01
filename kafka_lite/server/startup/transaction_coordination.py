"""Creates the broker's transaction coordinator with its configuration, log, markers and request handlers.

Kafka 0.11: core/.../coordinator/transaction/TransactionCoordinator.scala (object TransactionCoordinator) · book 10.3
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.cluster.features import TRANSACTION_VERSION
from kafka_lite.cluster.finalized_features import FinalizedFeatures
from kafka_lite.common.scheduler import KafkaScheduler, Scheduler
from kafka_lite.common.time import Time
from kafka_lite.common.topic_names import TRANSACTION_STATE_TOPIC_NAME
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.transaction.transaction_config import TransactionConfig
from kafka_lite.coordinator.transaction.transaction_coordinator import TransactionCoordinator
from kafka_lite.coordinator.transaction.transaction_marker_channel_manager import (
    NO_LEADER,
    TransactionMarkerChannelManager,
)
from kafka_lite.coordinator.transaction.transaction_state_manager import TransactionStateManager
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_27_write_txn_markers import WriteTxnMarkersRequest, WriteTxnMarkersResponse
from kafka_lite.server.apis.transaction_apis import TransactionApis
from kafka_lite.server.apis.txn_marker_apis import TxnMarkerApis
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.replica_manager import ReplicaManager
from kafka_lite.server.replication.broker_channels import BrokerChannels
from kafka_lite.server.replication.inter_broker_versions import inter_broker_version
from kafka_lite.server.startup.group_coordination import GroupCoordination
from kafka_lite.server.transactions.add_partitions_to_txn_manager import AddPartitionsToTxnManager
from kafka_lite.server.transactions.transaction_verification import TransactionVerification
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient


def transaction_config(config: KafkaConfig) -> TransactionConfig:
    """The keys about transactions."""
    return TransactionConfig(
        topic_num_partitions=config.transaction_topic_num_partitions,
        load_buffer_size=config.transactions_load_buffer_size,
        max_timeout_ms=config.transaction_max_timeout_ms,
        transactional_id_expiration_ms=config.transactional_id_expiration_ms,
        remove_expired_interval_ms=config.transaction_remove_expired_interval_ms,
        abort_timed_out_interval_ms=config.transaction_abort_timed_out_interval_ms,
        request_timeout_ms=config.request_timeout_ms,
    )


class TransactionCoordination:
    """The broker's coordinator with the parts that it uses."""

    def __init__(
        self,
        config: KafkaConfig,
        replica_manager: ReplicaManager,
        metadata_cache: MetadataCache,
        groups: GroupCoordination,
        generate_producer_id: Callable[[], int],
        registry: MetricsRegistry,
        scheduler: Scheduler,
        features: FinalizedFeatures,
        time: Time,
    ) -> None:
        """``scheduler`` is the broker's; the coordinator has one of its own."""
        self._config = config
        self._metadata_cache = metadata_cache
        self._groups = groups
        self.config = transaction_config(config)
        of_log = KafkaScheduler(1, "transaction-log-manager-", time)
        self.manager = TransactionStateManager(
            self.config, replica_manager, of_log, time, lambda: features.level(TRANSACTION_VERSION)
        )
        completion = groups.group_manager.handle_txn_completion
        self.marker_apis = TxnMarkerApis(replica_manager, completion, self.config.request_timeout_ms, time)
        self._channels = self._new_channels("txn-marker-sender", time)
        self._verification_channels = self._new_channels("txn-verifier", time)
        self.markers = TransactionMarkerChannelManager(
            config.broker_id,
            self._leader_of,
            self.marker_apis.write,
            self._send,
            self._channels.abort,
            self.manager,
            of_log,
        )
        self.coordinator = TransactionCoordinator(self.manager, self.markers, generate_producer_id, of_log, time)
        self._verifier = self._new_verifier(registry, time)
        self.verification = TransactionVerification(
            replica_manager,
            replica_manager.log_manager.producer_config,
            self._verifier,
            scheduler,
            time,
            config.values["add.partitions.to.txn.retry.backoff.ms"],
            min(config.values["add.partitions.to.txn.retry.backoff.max.ms"], config.request_timeout_ms),
        )

    def _new_verifier(self, registry: MetricsRegistry, time: Time) -> AddPartitionsToTxnManager:
        return AddPartitionsToTxnManager(
            self._config.broker_id,
            self._coordinator_of,
            self.coordinator.verify_partitions,
            partial(self.coordinator.handle_add_partitions, client_version=2),
            self._verification_channels,
            registry,
            time,
        )

    def _new_channels(self, purpose: str, time: Time) -> BrokerChannels:
        client_id = f"broker-{self._config.broker_id}-{purpose}"
        return BrokerChannels(
            client_id, self._end_point_of, self.config.request_timeout_ms, time, self._config.inter_broker_security()
        )

    def startup(self, zk_client: KafkaZkClient) -> None:
        """Start serving ids. An existing topic ``__transaction_state`` determines the number of its partitions."""
        assignment = zk_client.get_topic_assignment(TRANSACTION_STATE_TOPIC_NAME)
        partitions = len(assignment.partitions) if assignment is not None else self.config.topic_num_partitions
        self.coordinator.startup(partitions)

    def shutdown(self) -> None:
        """Stop serving ids."""
        self._verifier.shutdown()
        self.coordinator.shutdown()
        self._verification_channels.close()
        self._channels.close()

    def transaction_apis(self) -> TransactionApis:
        """Handlers of requests about transactions."""
        offsets_partition_of = self._groups.group_manager.topic_partition_for
        return TransactionApis(self.coordinator, self._metadata_cache, offsets_partition_of)

    def _coordinator_of(self, transactional_id: str) -> int | None:
        leader = self._leader_of(self.manager.topic_partition_for(transactional_id))
        return None if leader == NO_LEADER else leader

    # ── markers ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _leader_of(self, topic_partition: TopicPartition) -> int | None:
        info = self._metadata_cache.get_partition_info(topic_partition)
        if info is None:
            return None
        is_alive = self._metadata_cache.get_alive_broker(info.leader) is not None
        return info.leader if is_alive else NO_LEADER

    def _send(self, broker_id: int, request: WriteTxnMarkersRequest) -> WriteTxnMarkersResponse:
        version = inter_broker_version(ApiKey.WRITE_TXN_MARKERS, self._config.inter_broker_protocol_version)
        response = self._channels.exchange(broker_id, request, version)
        assert isinstance(response, WriteTxnMarkersResponse)
        return response

    def _end_point_of(self, broker_id: int) -> BrokerEndPoint | None:
        broker = self._metadata_cache.get_alive_broker(broker_id)
        return broker.get_broker_end_point(self._config.inter_broker_listener_name) if broker is not None else None
