"""UpdateFeatures.

Kafka 4.1: core/.../server/ControllerApis.scala (handleUpdateFeatures); 3.9: core/.../server/KafkaApis.scala
· book 7.1.2
"""

from __future__ import annotations

from collections.abc import Callable

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.controller.feature_control import FeatureControl, FeatureUpdate, UpgradeType
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages.api_57_update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from kafka_lite.server.apis.api_handler import Respond

LAST_VERSION_WITH_RESULTS = 1
FAILED = "The update failed for all features since the following feature had an error: "


class FeatureApis:
    """The controller finalizes features; other brokers respond NOT_CONTROLLER."""

    def __init__(self, features: FeatureControl, is_controller: Callable[[], bool]) -> None:
        self._features = features
        self._is_controller = is_controller

    def handle_update_features(self, request: Request, body: UpdateFeaturesRequest, respond: Respond) -> None:
        """Respond once ``/feature`` is written. The other brokers follow it."""
        version = request.header.api_version
        try:
            if not self._is_controller():
                raise Errors.NOT_CONTROLLER.exception()
            updates = [_update(each, version) for each in body.feature_updates]
            self._features.update(updates, validate_only=body.validate_only)
        except ApiError as failure:
            is_of_feature = failure.error is Errors.INVALID_UPDATE_VERSION
            message = f"{FAILED}{failure}" if is_of_feature else str(failure)
            respond(UpdateFeaturesResponse(error_code=failure.error.code, error_message=message))
            return
        features = body.feature_updates if version <= LAST_VERSION_WITH_RESULTS else []
        results = [UpdatableFeatureResult(feature=each.feature, error_message=None) for each in features]
        respond(UpdateFeaturesResponse(error_message=None, results=results))


def _update(key: FeatureUpdateKey, version: int) -> FeatureUpdate:
    if version == 0:
        kind = UpgradeType.SAFE_DOWNGRADE if key.allow_downgrade else UpgradeType.UPGRADE
    else:
        kind = UpgradeType.of(key.upgrade_type)
    return FeatureUpdate(key.feature, key.max_version_level, kind)
