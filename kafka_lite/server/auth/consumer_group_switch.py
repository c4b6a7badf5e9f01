"""Decides whether the broker serves groups that it assigns itself (KIP-848).

Kafka 4.1: core/.../server/KafkaApis.scala (isConsumerGroupProtocolEnabled) · book 7.1.2
"""

from __future__ import annotations

from kafka_lite.cluster.features import GROUP_VERSION
from kafka_lite.cluster.finalized_features import FinalizedFeatures
from kafka_lite.common.errors import Errors
from kafka_lite.protocol.api_key import ApiKey

OF_CONSUMER_GROUPS = frozenset({ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.CONSUMER_GROUP_DESCRIBE})
"""Requests about these groups. (Those that classic groups have, too, are served.)"""


class ConsumerGroupSwitch:
    """Needs ``consumer`` in ``group.coordinator.rebalance.protocols``, and ``group.version`` 1 finalized.

    A new cluster begins with that level; a broker hears of a change while it runs.
    """

    apis = OF_CONSUMER_GROUPS

    def __init__(self, is_enabled: bool, features: FinalizedFeatures) -> None:
        """``is_enabled``: what the configuration says."""
        self._is_enabled = is_enabled
        self._features = features

    @property
    def refusal(self) -> Errors | None:
        """The error of requests about these groups, or None while they are served.

        COORDINATOR_NOT_AVAILABLE until the first controller of a new cluster has said which features it begins with:
        members ask again then. UNSUPPORTED_VERSION, as in Kafka, would end them.
        """
        if not self._is_enabled:
            return Errors.UNSUPPORTED_VERSION
        if not self._features.are_decided:
            return Errors.COORDINATOR_NOT_AVAILABLE
        return None if self._features.level(GROUP_VERSION) >= 1 else Errors.UNSUPPORTED_VERSION
