"""UpdateFeatures: finalize other levels of features.

Kafka 2.7: clients/.../common/requests/UpdateFeaturesRequest.java, UpdateFeaturesResponse.java · book 7.1.2
"""

from __future__ import annotations

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request, Response, Struct, array, boolean, int8, int16, int32, string


class FeatureUpdateKey(Struct):
    """The new level of a feature; 0 turns it off."""

    feature: str = string()
    max_version_level: int = int16()
    allow_downgrade: bool = boolean(versions="0")
    upgrade_type: int = int8(versions="1+", default=1)  # 1 upgrade, 2 safe downgrade, 3 unsafe downgrade


class UpdateFeaturesRequest(Request, api_key=ApiKey.UPDATE_FEATURES, versions="0-2", flexible="0+"):
    """The new levels.

    v1  upgrade_type instead of allow_downgrade, validate_only
    v2  the response has no results of single features
    """

    timeout_ms: int = int32(default=60000)
    feature_updates: list[FeatureUpdateKey] = array(FeatureUpdateKey)
    validate_only: bool = boolean(versions="1+")


class UpdatableFeatureResult(Struct):
    """The result of a feature."""

    feature: str = string(versions="0-1")
    error_code: int = int16(versions="0-1")
    error_message: str | None = string(versions="0-1", nullable="0-1")


class UpdateFeaturesResponse(Response, api_key=ApiKey.UPDATE_FEATURES, versions="0-2", flexible="0+"):
    """All levels are finalized, or none.

    v2  without results
    """

    throttle_time_ms: int = int32()  # how long a quota delays the client
    error_code: int = int16()
    error_message: str | None = string(nullable="0+")
    results: list[UpdatableFeatureResult] = array(UpdatableFeatureResult, versions="0-1", ignorable=True)
