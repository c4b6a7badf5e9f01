"""Creates the broker's controller with its configuration and its connections to the brokers.

Kafka 0.10.2: core/.../server/KafkaServer.scala (startup), core/.../controller/KafkaController.scala · book 7.1
"""

from __future__ import annotations

from collections.abc import Callable

from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.cluster.finalized_features import FinalizedFeatures
from kafka_lite.common.scheduler import Scheduler
from kafka_lite.common.time import Time
from kafka_lite.controller.controller_config import ControllerConfig, TopicDefaults
from kafka_lite.controller.controller_stats import ControllerStats
from kafka_lite.controller.feature_control import FEATURES_ARE_KNOWN, FeatureControl
from kafka_lite.controller.kafka_controller import KafkaController
from kafka_lite.protocol.schema import Request, Response
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.replication.broker_channels import BrokerChannels
from kafka_lite.server.replication.inter_broker_versions import inter_broker_version, topic_ids_are_known
from kafka_lite.zookeeper.feature_znode import FeatureStore
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient


def controller_config(config: KafkaConfig, topic_defaults: TopicDefaults) -> ControllerConfig:
    """The keys about the controller."""
    protocol = config.inter_broker_protocol_version
    return ControllerConfig(
        broker_id=config.broker_id,
        delete_topic_enable=config.delete_topic_enable,
        uses_topic_ids=topic_ids_are_known(protocol),
        request_version=lambda api_key: inter_broker_version(api_key, protocol),
        inter_broker_listener_name=config.inter_broker_listener_name,
        topic_defaults=topic_defaults,
        auto_leader_rebalance_enable=config.auto_leader_rebalance_enable,
        leader_imbalance_per_broker_percentage=config.leader_imbalance_per_broker_percentage,
        leader_imbalance_check_interval_ms=config.leader_imbalance_check_interval_seconds * 1000,
    )


def start_features(
    config: KafkaConfig, zk_client: KafkaZkClient, on_unsupported: Callable[[], object]
) -> FinalizedFeatures:
    """Follow the features that the cluster has finalized. Raises UnsupportedFeaturesError if this broker lacks one."""
    are_known = config.inter_broker_protocol_version >= FEATURES_ARE_KNOWN
    features = FinalizedFeatures(FeatureStore(zk_client.zookeeper) if are_known else None, on_unsupported)
    features.startup()
    return features


class ClusterControl:
    """The broker's controller with the connections that it uses.

    ``handle_own(request, version)`` handles a request of the controller to its own broker, which needs no socket.
    """

    def __init__(
        self,
        config: KafkaConfig,
        topic_defaults: TopicDefaults,
        zk_client: KafkaZkClient,
        handle_own: Callable[[Request, int], Response],
        on_topic_deleted: Callable[[str], None],
        stats: ControllerStats,
        scheduler: Scheduler,
        time: Time,
        features: FinalizedFeatures,
    ) -> None:
        self.config = config
        self._handle_own = handle_own
        client_id = f"broker-{config.broker_id}-controller"
        self._channels = BrokerChannels(
            client_id, self._end_point_of, config.controller_socket_timeout_ms, time, config.inter_broker_security()
        )
        protocol = config.inter_broker_protocol_version
        self.features = FeatureControl(config.broker_id, protocol, zk_client, features)
        self.controller = KafkaController(
            controller_config(config, topic_defaults),
            zk_client,
            self.send_to_broker,
            on_topic_deleted,
            stats,
            self._channels.abort,
            scheduler,
            self.features,
        )

    def shutdown(self) -> None:
        """Stop the controller, then close its connections."""
        try:
            self.controller.shutdown()
        finally:
            self._channels.close()

    def send_to_broker(self, broker_id: int, request: Request) -> Response:
        """Send a request of the controller to a broker and return the response. Raises ConnectionError."""
        version = inter_broker_version(request.API_KEY, self.config.inter_broker_protocol_version)
        if broker_id == self.config.broker_id:
            return self._handle_own(request, version)
        return self._channels.exchange(broker_id, request, version)

    def _end_point_of(self, broker_id: int) -> BrokerEndPoint | None:
        """Where a live broker listens for other brokers; None if the broker is not alive."""
        broker = self.controller.context.live_brokers.get(broker_id)
        return broker.get_broker_end_point(self.config.inter_broker_listener_name) if broker is not None else None
