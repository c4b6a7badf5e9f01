"""Switches share groups on and off: the only place that decides whether the broker serves them.

Kafka 4.1: core/.../server/KafkaApis.scala (isShareGroupProtocolEnabled) · book 7.1.2
"""

from __future__ import annotations

from typing import Any

from kafka_lite.cluster.features import SHARE_VERSION
from kafka_lite.cluster.finalized_features import FinalizedFeatures
from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.modern.share_group_config import ShareGroupConfig
from kafka_lite.network.request import Request
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.server.apis.api_handler import Handler, Respond
from kafka_lite.server.auth.refusals import refused

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

    def __init__(self, config: ShareGroupConfig, features: FinalizedFeatures) -> None:
        self._config = config
        self._features = features

    @property
    def is_on(self) -> bool:
        """Whether share groups are served now."""
        return self._config.is_enabled or self._features.level(SHARE_VERSION) >= 1

    def guard(self, api_key: ApiKey, handler: Handler) -> Handler:
        """The handler, in front of which requests are refused with UNSUPPORTED_VERSION while share groups are off:
        before the rights of the client are looked at."""
        if api_key not in OF_SHARE_GROUPS:
            return handler

        def handle(request: Request, body: Any, respond: Respond) -> None:
            if self.is_on:
                handler(request, body, respond)
            else:
                respond(refused(request, body, Errors.UNSUPPORTED_VERSION))

        return handle
