"""Switches share groups on and off: the only place that decides whether the broker serves them.

Kafka 4.1: core/.../server/KafkaApis.scala (isShareGroupProtocolEnabled) · book 7.1.2
"""

from __future__ import annotations

from kafka_lite.cluster.features import SHARE_VERSION
from kafka_lite.cluster.finalized_features import FinalizedFeatures
from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.modern.share_group_config import ShareGroupConfig
from kafka_lite.protocol.api_key import ApiKey

OF_SHARE_GROUPS = frozenset(
    {
        ApiKey.SHARE_GROUP_HEARTBEAT,
        ApiKey.SHARE_GROUP_DESCRIBE,
        ApiKey.SHARE_FETCH,
        ApiKey.SHARE_ACKNOWLEDGE,
        ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS,
        ApiKey.ALTER_SHARE_GROUP_OFFSETS,
        ApiKey.DELETE_SHARE_GROUP_OFFSETS,
    }
)
"""Requests of clients about share groups. Those between brokers are always served, as by Kafka."""


class ShareGroupSwitch:
    """Share groups are on if ``group.coordinator.rebalance.protocols`` has ``share``, or ``group.share.enable``
    says so, or if the cluster has finalized ``share.version`` 1, which a broker learns while it runs."""

    apis = OF_SHARE_GROUPS

    def __init__(self, config: ShareGroupConfig, features: FinalizedFeatures) -> None:
        self._config = config
        self._features = features

    @property
    def is_on(self) -> bool:
        """Whether share groups are served now."""
        return self._config.is_enabled or self._features.level(SHARE_VERSION) >= 1

    @property
    def refusal(self) -> Errors | None:
        """The error of requests about share groups; None while they are served."""
        return None if self.is_on else Errors.UNSUPPORTED_VERSION
