"""A controller without a broker around it."""

from __future__ import annotations

from collections.abc import Callable

from kafka_lite.cluster.finalized_features import FinalizedFeatures
from kafka_lite.common.api_version import ApiVersion
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.controller.controller_channel_manager import SendRequest
from kafka_lite.controller.controller_config import ControllerConfig
from kafka_lite.controller.controller_stats import ControllerStats
from kafka_lite.controller.feature_control import FeatureControl
from kafka_lite.controller.kafka_controller import KafkaController
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient


def new_controller(
    config: ControllerConfig,
    zk_client: KafkaZkClient,
    send_request: SendRequest,
    on_topic_deleted: Callable[[str], None] = lambda _topic: None,
) -> KafkaController:
    """A controller whose clock stands still, so that leaders are not rebalanced; no request can be interrupted."""
    time = MockTime()
    stats = ControllerStats(MetricsRegistry(), time)
    features = FeatureControl(config.broker_id, ApiVersion.KAFKA_0_10_2_IV0, zk_client, FinalizedFeatures(None))
    return KafkaController(
        config, zk_client, send_request, on_topic_deleted, stats, lambda _broker_id: None, MockScheduler(time), features
    )
