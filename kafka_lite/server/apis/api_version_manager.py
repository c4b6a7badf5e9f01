"""The versions of requests that this broker serves, as it tells them to clients, even before they authenticate.

Kafka 2.8: core/.../server/ApiVersionManager.scala; 0.10.2 has core/.../server/KafkaApis.scala
(handleApiVersionsRequest) · book 2.3.5
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from kafka_lite.cluster.finalized_features import NO_FEATURES, FeaturesAndEpoch, FinalizedFeatures
from kafka_lite.common.errors import Errors
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_18_api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.server.apis.api_handler import ApiRange
from kafka_lite.server.apis.share.share_group_switch import OF_SHARE_GROUPS
from kafka_lite.zookeeper.data import SupportedLevels

SOFTWARE_NAME = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
"""Valid names and versions of client software."""

OF_TELEMETRY = frozenset({ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY})
"""Offered only while there is a subscription: a client that sees them asks at once, and librdkafka logs the answer.
(Kafka offers them if it has a plugin that receives metrics.)"""


FIRST_VERSION_WITH_LEVEL_0 = 4
"""Older clients cannot read a supported feature that begins with level 0 (KAFKA-17492): they are told of none."""


class ApiVersionManager:
    """Answers ApiVersions requests from the table of served versions."""

    def __init__(
        self,
        api_ranges: Mapping[ApiKey, ApiRange],
        wants_telemetry: Callable[[], bool] = lambda: True,
        features: FinalizedFeatures | None = None,
        has_share_groups: Callable[[], bool] = lambda: True,
    ) -> None:
        """``wants_telemetry``: whether anybody has subscribed to metrics of clients. ``features``: None for none.
        ``has_share_groups``: whether those are on, which may change with the features."""
        self._api_ranges = api_ranges
        self._has_share_groups = has_share_groups
        self.wants_telemetry = wants_telemetry
        self._features = features or FinalizedFeatures(None)
        self._made: tuple[FeaturesAndEpoch, dict[tuple[bool, bool], ApiVersionsResponse]] = (NO_FEATURES, {})
        """The features, and the responses made with them: by whether telemetry is offered, and level 0 is listed."""

    def response(self, header: RequestHeader, request: ApiVersionsRequest) -> ApiVersionsResponse:
        """The versions that this broker serves.

        From version 3 on, clients send their software name; one that is not valid as a metric's tag is rejected
        (KIP-511).
        """
        if header.api_version >= 3 and not (
            SOFTWARE_NAME.fullmatch(request.client_software_name)
            and SOFTWARE_NAME.fullmatch(request.client_software_version)
        ):
            return ApiVersionsResponse(error_code=Errors.INVALID_REQUEST.code)
        return self._response(self.wants_telemetry(), header.api_version >= FIRST_VERSION_WITH_LEVEL_0)

    def _response(self, telemetry: bool, with_level_0: bool) -> ApiVersionsResponse:
        """Made once, until the cluster finalizes other features: every connection begins with it."""
        made_with, responses = self._made
        finalized = self._features.current
        if finalized is not made_with:
            responses = {}
            self._made = (finalized, responses)
        response = responses.get((telemetry, with_level_0))
        if response is None:
            ranges = self._offered(telemetry, self._has_share_groups())
            supported = self._features.supported if with_level_0 else {}
            response = responses[telemetry, with_level_0] = _response_of(ranges, supported, finalized)
        return response

    def _offered(self, telemetry: bool, share_groups: bool) -> dict[ApiKey, ApiRange]:
        hidden = (frozenset() if telemetry else OF_TELEMETRY) | (frozenset() if share_groups else OF_SHARE_GROUPS)
        return {key: served for key, served in self._api_ranges.items() if key not in hidden}

    def unsupported(self) -> ApiVersionsResponse:
        """The response, in the layout of version 0, to an ApiVersions request of a later version.

        It includes the range of ApiVersions itself, so that the client can retry with the highest common version.
        """
        served = self._api_ranges[ApiKey.API_VERSIONS]
        own = ApiVersion(api_key=ApiKey.API_VERSIONS, min_version=served.min_version, max_version=served.max_version)
        return ApiVersionsResponse(error_code=Errors.UNSUPPORTED_VERSION.code, api_keys=[own])


def _response_of(
    api_ranges: Mapping[ApiKey, ApiRange], supported: Mapping[str, SupportedLevels], finalized: FeaturesAndEpoch
) -> ApiVersionsResponse:
    keys = [
        ApiVersion(api_key=key, min_version=served.min_version, max_version=served.max_version)
        for key, served in sorted(api_ranges.items())
    ]
    response = ApiVersionsResponse(
        api_keys=keys,
        supported_features=[
            SupportedFeatureKey(name=name, min_version=0, max_version=levels.max_version)
            for name, levels in supported.items()
        ],
        finalized_features_epoch=finalized.epoch,
        finalized_features=[
            FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level)
            for name, level in finalized.levels.items()
        ],
    )
    return response.keep_encoded()
