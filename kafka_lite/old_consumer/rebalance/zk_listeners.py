"""ZooKeeper events besides changes of the group's members: new sessions, changed topics.

Kafka 0.10.2: core/.../consumer/ZookeeperConsumerConnector.scala (ZKSessionExpireListener,
ZKTopicPartitionChangeListener) · book 3.1.3
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from kafka_lite.old_consumer.rebalance.zk_rebalancer_listener import ZKRebalancerListener

logger = logging.getLogger(__name__)


class ZKSessionExpireListener:
    """Handles a new session after an expired one, with which all ephemeral nodes of this consumer are lost."""

    def __init__(
        self, consumer_id: str, register_consumer: Callable[[], None], load_balancer_listener: ZKRebalancerListener
    ) -> None:
        self._consumer_id = consumer_id
        self._register_consumer = register_consumer
        self._load_balancer_listener = load_balancer_listener

    def handle_new_session(self) -> None:
        """Forget owned partitions, register again, and rebalance. Raises NodeExistsError if the id is taken."""
        logger.info("ZK expired; release old partition ownership; re-register consumer %s", self._consumer_id)
        self._load_balancer_listener.reset_state()
        self._register_consumer()
        self._load_balancer_listener.rebalance_event_triggered()


class ZKTopicPartitionChangeListener:
    """Handles a change of a consumed topic, which may have more partitions."""

    def __init__(self, load_balancer_listener: ZKRebalancerListener) -> None:
        self._load_balancer_listener = load_balancer_listener

    def handle_data_change(self, topic: str) -> None:
        """Rebalance. A deleted topic has no partitions, so no member will own any."""
        logger.info("Topic info of %s changed, triggering rebalance", topic)
        self._load_balancer_listener.rebalance_event_triggered()
