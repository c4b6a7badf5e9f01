"""``/feature``: the levels of the features that the cluster has finalized.

Kafka 2.7 to 3.9: core/.../zk/ZkData.scala (FeatureZNode, FeatureZNodeStatus) · book 7.1.2
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from kafka_lite.common.api_version import ApiVersion
from kafka_lite.zookeeper import paths
from kafka_lite.zookeeper.zk_errors import BadVersionError, NodeExistsError, NoNodeError
from kafka_lite.zookeeper.znode_json import ZnodeDataError, checked, decode_json, encode_json
from kafka_lite.zookeeper.zookeeper_client import ZooKeeperClient

MAX_LEVEL = 2**15 - 1
NOT_THERE = -1
"""The version of a node that does not exist."""


class FeatureStatus(IntEnum):
    """Whether the levels count."""

    DISABLED = 0
    """``inter.broker.protocol.version`` is before 2.7: there are no levels."""
    ENABLED = 1


@dataclass(frozen=True)
class FeatureZNode:
    """The data of the node.

    ::

        v1 (inter.broker.protocol.version 2.7 to 3.2)
        {"features":{"transaction.version":{"max_version_level":2,"min_version_level":2}},"version":1,"status":1}
        v2 (from 3.3 on)
        {"features":{"transaction.version":{"max_version_level":2}},"version":2,"status":1}

    Levels are at least 1: a feature that is off is not in the node.
    """

    status: FeatureStatus
    features: Mapping[str, int] = field(default_factory=dict)
    version: int = 2

    @staticmethod
    def of(protocol: ApiVersion, status: FeatureStatus, features: Mapping[str, int]) -> FeatureZNode:
        """In the version that all brokers with this ``inter.broker.protocol.version`` can read."""
        levels = {name: level for name, level in features.items() if level > 0}
        return FeatureZNode(status, levels, 2 if protocol >= ApiVersion.KAFKA_3_3_IV0 else 1)

    def encode(self) -> bytes:
        """Encode to bytes."""
        features = {
            name: {"max_version_level": level} | ({"min_version_level": level} if self.version == 1 else {})
            for name, level in self.features.items()
        }
        return encode_json({"features": features, "version": self.version, "status": int(self.status)})

    @staticmethod
    def decode(data: bytes | None) -> FeatureZNode:
        """Decode from bytes, version 1 or 2. Raises ZnodeDataError."""
        what = paths.FEATURE
        value = decode_json(data, what)
        version, status = (checked(value, key, int, what) for key in ("version", "status"))
        if version not in (1, 2) or status not in tuple(FeatureStatus):
            raise ZnodeDataError(f"{what}: unknown version {version} or status {status}")
        features = checked(value, "features", dict, what)
        return FeatureZNode(FeatureStatus(status), {name: _level(features, name) for name in features}, version)


def _level(features: Mapping[str, Any], name: str) -> int:
    level: int = checked(checked(features, name, dict, paths.FEATURE), "max_version_level", int, paths.FEATURE)
    if not 1 <= level <= MAX_LEVEL:
        raise ZnodeDataError(f"{paths.FEATURE}: {name} has level {level}")
    return level


class FeatureStore:
    """Reads, writes and watches the node."""

    def __init__(self, zookeeper: ZooKeeperClient) -> None:
        self._zookeeper = zookeeper

    def read(self) -> tuple[FeatureZNode | None, int]:
        """The node and its version, which is the epoch of the finalized features; None and -1 if there is none.

        Raises ZnodeDataError.
        """
        try:
            data, stat = self._zookeeper.get(paths.FEATURE)
        except NoNodeError:
            return None, NOT_THERE
        return FeatureZNode.decode(data), stat.version

    def write(self, node: FeatureZNode, expected_version: int) -> bool:
        """Write the node if nobody has since ``expected_version`` (-1: if nobody has created it). Returns whether it
        was written."""
        try:
            if expected_version == NOT_THERE:
                self._zookeeper.create(paths.FEATURE, node.encode())
            else:
                self._zookeeper.set(paths.FEATURE, node.encode(), expected_version)
        except (NodeExistsError, BadVersionError, NoNodeError):
            return False
        return True

    def watch(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` when the node is created, changed or deleted."""
        self._zookeeper.watch_data(paths.FEATURE, callback)

    def unwatch(self) -> None:
        """Stop calling."""
        self._zookeeper.unwatch(paths.FEATURE)
