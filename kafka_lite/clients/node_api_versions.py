"""The API versions that one broker supports.

Kafka 0.10.2: clients/.../clients/NodeApiVersions.java · book 2.1.3
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kafka_lite.clients.client_request import RequestBuilder
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsResponse
from kafka_lite.protocol.schema_error import UnsupportedVersionError

NO_FEATURES: Mapping[str, int] = MappingProxyType({})
UNKNOWN_EPOCH = -1


class NodeApiVersions:
    """The oldest and the newest version of each API, from a broker's ApiVersions response."""

    def __init__(
        self,
        ranges: dict[int, tuple[int, int]],
        finalized_features: Mapping[str, int] = NO_FEATURES,
        features_epoch: int = UNKNOWN_EPOCH,
    ) -> None:
        """``finalized_features``: the levels of the cluster's features, as this broker knows them; ``features_epoch``
        grows with each change of them."""
        self._ranges = ranges
        self.finalized_features = finalized_features
        self.features_epoch = features_epoch

    @classmethod
    def of(cls, response: ApiVersionsResponse) -> NodeApiVersions:
        """From an ApiVersions response."""
        ranges = {each.api_key: (each.min_version, each.max_version) for each in response.api_keys}
        features = {each.name: each.max_version_level for each in response.finalized_features}
        return cls(ranges, features, response.finalized_features_epoch)

    def usable_version(self, builder: RequestBuilder) -> int:
        """The newest version that both sides support. Raises UnsupportedVersionError if there is none."""
        if (found := self._ranges.get(builder.api_key)) is None:
            raise UnsupportedVersionError(f"the broker does not have {builder.api_key.name}")
        oldest, newest = max(found[0], builder.oldest_version), min(found[1], builder.latest_version)
        if newest < oldest:
            raise UnsupportedVersionError(
                f"{builder.api_key.name}: the broker has versions {found[0]} to {found[1]}, "
                f"this request needs one of {builder.oldest_version} to {builder.latest_version}"
            )
        return newest

    def latest(self, api_key: ApiKey) -> int | None:
        """The broker's newest version; None if it does not have the API."""
        found = self._ranges.get(api_key)
        return found[1] if found is not None else None
