"""The API versions of all connected brokers, shared by the network client and the code that builds records.

Kafka 0.11: clients/.../clients/ApiVersions.java · book 2.1.3
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.clients.node_api_versions import NO_FEATURES, UNKNOWN_EPOCH, NodeApiVersions
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.record.record import CURRENT_MAGIC, MAGIC_V0, MAGIC_V1


class ApiVersions:
    """The API versions of each connected broker. They are forgotten when the connection is lost.

    Written by the network client's thread, readable by any thread.
    """

    def __init__(self) -> None:
        self._nodes: dict[str, NodeApiVersions] = {}
        self._max_usable_produce_magic = CURRENT_MAGIC
        self._features: tuple[int, Mapping[str, int]] = (UNKNOWN_EPOCH, NO_FEATURES)
        """Epoch and levels of the features, from the broker that knows the latest."""

    def update(self, node: str, versions: NodeApiVersions) -> None:
        """A broker has reported its versions."""
        self._nodes[node] = versions
        if versions.features_epoch > self._features[0]:
            self._features = (versions.features_epoch, versions.finalized_features)
        self._recompute()

    def remove(self, node: str) -> None:
        """A connection was lost. The broker may come back with another version."""
        if self._nodes.pop(node, None) is not None:
            self._recompute()

    def get(self, node: str) -> NodeApiVersions | None:
        """The broker's versions; None if it is not connected."""
        return self._nodes.get(node)

    def finalized_level(self, feature: str) -> int:
        """The level of a feature that the cluster has finalized, as the latest broker knows it; 0 if it is off."""
        return self._features[1].get(feature, 0)

    @property
    def max_usable_produce_magic(self) -> int:
        """The newest message format that all connected brokers accept; the current one if none is connected."""
        return self._max_usable_produce_magic

    def _recompute(self) -> None:
        known = [produce_magic(versions) for versions in self._nodes.values()]
        self._max_usable_produce_magic = min(known, default=CURRENT_MAGIC)


def produce_magic(versions: NodeApiVersions) -> int:
    """The newest message format that a broker accepts: Produce accepts v1 since version 2, and v2 since version 3."""
    latest = versions.latest(ApiKey.PRODUCE) or 0
    return MAGIC_V0 if latest < 2 else MAGIC_V1 if latest < 3 else CURRENT_MAGIC
