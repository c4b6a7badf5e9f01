"""The controller's part in features: which levels a cluster begins with, and which updates it accepts.

Kafka 4.1: metadata/.../controller/FeatureControlManager.java; 3.9: core/.../controller/KafkaController.scala
(maybeSetupFeatureVersioning, partitionOnFeatureCompatibility, processFeatureUpdates) · book 7.1.2
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from kafka_lite.cluster.features import (
    FEATURES,
    NEW_CLUSTERS_LEVELS,
    SUPPORTED,
    unsupported_features,
)
from kafka_lite.cluster.finalized_features import FinalizedFeatures
from kafka_lite.common.api_version import LATEST, ApiVersion
from kafka_lite.common.errors import Errors
from kafka_lite.zookeeper.data import BrokerRegistration, SupportedLevels
from kafka_lite.zookeeper.feature_znode import FeatureStatus, FeatureStore, FeatureZNode
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.znode_json import ZnodeDataError

logger = logging.getLogger(__name__)

FEATURES_ARE_KNOWN = ApiVersion.KAFKA_2_7_IV0
"""The first ``inter.broker.protocol.version`` with features (KIP-584)."""


class UpgradeType(IntEnum):
    """The direction in which an update may change a feature's level."""

    UNKNOWN = 0
    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    """Nothing is lost."""
    UNSAFE_DOWNGRADE = 3

    @staticmethod
    def of(code: int) -> UpgradeType:
        """The type of a number in a request; UNKNOWN for others."""
        return UpgradeType(code) if code in tuple(UpgradeType) else UpgradeType.UNKNOWN


class FeatureUpdate(NamedTuple):
    """A new level for a feature; 0 turns it off."""

    name: str
    level: int
    upgrade_type: UpgradeType = UpgradeType.UPGRADE


class Support(NamedTuple):
    """The levels that a broker supports."""

    who: str
    """``Broker 1``, or ``Local controller 1``."""
    levels: Mapping[str, SupportedLevels]


def reason_to_refuse(update: FeatureUpdate, current: int, supports: Sequence[Support]) -> str | None:
    """Why a feature cannot have a level, in the words of Kafka 4.1; None if it can.

    ``current`` is its level now. A level must be supported by every broker of the cluster.
    """
    name, level, kind = update
    if kind is UpgradeType.UNKNOWN:
        return "The controller does not support the given upgrade type."
    if level < 0:
        return "A feature version cannot be less than 0."
    for support in supports:
        supported = support.levels.get(name)
        if supported is None and level > 0:
            return f"{support.who} does not support this feature."
        if supported is not None and not supported.contains(level):
            return f"{support.who} only supports versions 0-{supported.max_version}"
    if level < current and kind is UpgradeType.UPGRADE:
        return (
            "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe "
            "downgrade."
        )
    if level > current and kind is not UpgradeType.UPGRADE:
        return "Can't downgrade to a newer version."
    return None if name in FEATURES else f"Feature {name} not found."


def levels_of_a_cluster(
    protocol: ApiVersion, is_new: bool, brokers: Mapping[int, BrokerRegistration]
) -> dict[str, int]:
    """The levels that a controller finalizes if there is no ``/feature`` yet.

    A cluster that has topics was upgraded: it begins with nothing, until all of its brokers are upgraded and its
    operator says so (``kafka-lite features upgrade``). A new cluster begins as one of Kafka 4.1 if it has the default
    ``inter.broker.protocol.version``. With an older one it is to be shared with brokers of Kafka. On ZooKeeper these
    support no feature: from 2.7 to 3.9 they stop when they find one finalized.
    """
    is_supported = all(not unsupported_features(each.features, NEW_CLUSTERS_LEVELS) for each in brokers.values())
    return dict(NEW_CLUSTERS_LEVELS) if is_new and protocol >= LATEST and is_supported else {}


class FeatureControl:
    """Writes ``/feature``. A write is conditional on the version that was read: no other controller's is lost."""

    def __init__(
        self, broker_id: int, protocol: ApiVersion, zk_client: KafkaZkClient, finalized: FinalizedFeatures
    ) -> None:
        """``protocol`` is ``inter.broker.protocol.version``."""
        self._broker_id = broker_id
        self._protocol = protocol
        self._zk_client = zk_client
        self._store = FeatureStore(zk_client.zookeeper)
        self._finalized = finalized

    @property
    def is_enabled(self) -> bool:
        """Whether features can be finalized."""
        return self._protocol >= FEATURES_ARE_KNOWN

    def setup(self) -> None:
        """A controller takes over: create ``/feature``, or give it the status that follows from the configuration.

        With an ``inter.broker.protocol.version`` before 2.7 there are no features: if the node is there, it is emptied.
        """
        try:
            node, version = self._store.read()
        except ZnodeDataError as error:
            logger.error("Leaving the levels of features alone: %s", error)
            return
        if not self.is_enabled:
            wanted = None if node is None else FeatureZNode(FeatureStatus.DISABLED, {}, node.version)
        else:
            levels = self._first_levels() if node is None else node.features
            wanted = FeatureZNode.of(self._protocol, FeatureStatus.ENABLED, levels)
        if wanted is not None and wanted != node:
            logger.info("Features: %s, finalized: %s", wanted.status.name, dict(wanted.features))
            self._store.write(wanted, version)
        self._finalized.refresh()

    def _first_levels(self) -> dict[str, int]:
        is_new = not self._zk_client.get_all_topics()
        return levels_of_a_cluster(self._protocol, is_new, self._zk_client.get_brokers())

    def unsupported_by(self, registration: BrokerRegistration) -> dict[str, int]:
        """The finalized features that a broker does not support. The controller ignores such a broker, as in Kafka."""
        return unsupported_features(registration.features, self._finalized.current.levels)

    def update(self, updates: Sequence[FeatureUpdate], *, validate_only: bool) -> None:
        """Finalize other levels: all of them, or none.

        Raises ApiError: INVALID_REQUEST without features, INVALID_UPDATE_VERSION for a level that cannot be had,
        FEATURE_UPDATE_FAILED if ``/feature`` cannot be written.
        """
        if not self.is_enabled:
            raise Errors.INVALID_REQUEST.exception("Feature versioning system is disabled.")
        try:
            node, version = self._store.read()
        except ZnodeDataError as error:
            raise Errors.FEATURE_UPDATE_FAILED.exception(str(error)) from error
        levels = dict(node.features) if node is not None else {}
        supports = self._supports()
        for update in updates:
            reason = reason_to_refuse(update, levels.get(update.name, 0), supports)
            if reason is not None:
                message = f"Invalid update version {update.level} for feature {update.name}. {reason}"
                raise Errors.INVALID_UPDATE_VERSION.exception(message)
        levels |= {update.name: update.level for update in updates}
        wanted = FeatureZNode.of(self._protocol, FeatureStatus.ENABLED, levels)
        if validate_only or wanted == node:
            return
        if not self._store.write(wanted, version):
            raise Errors.FEATURE_UPDATE_FAILED.exception()
        self._finalized.refresh()

    def _supports(self) -> list[Support]:
        brokers = self._zk_client.get_brokers()
        others = [Support(f"Broker {broker_id}", each.features) for broker_id, each in brokers.items()]
        return [Support(f"Local controller {self._broker_id}", SUPPORTED), *others]
