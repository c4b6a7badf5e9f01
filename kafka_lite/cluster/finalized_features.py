"""The levels of features that the cluster has finalized, as this broker knows them.

Kafka 2.7 to 3.9: core/.../server/FinalizedFeatureChangeListener.scala, core/.../server/metadata/ZkMetadataCache.scala
(ZkFinalizedFeatureCache) · book 7.1.2
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from typing import NamedTuple

from kafka_lite.cluster.features import SUPPORTED, unsupported_features
from kafka_lite.common.errors import KafkaError
from kafka_lite.zookeeper.data import SupportedLevels
from kafka_lite.zookeeper.feature_znode import FeatureStatus, FeatureStore
from kafka_lite.zookeeper.znode_json import ZnodeDataError

logger = logging.getLogger(__name__)

UNKNOWN_EPOCH = -1


class FeaturesAndEpoch(NamedTuple):
    """The levels of the features that are on, and the version of ``/feature`` that they were read from."""

    levels: Mapping[str, int]
    epoch: int


NO_FEATURES = FeaturesAndEpoch({}, UNKNOWN_EPOCH)


class UnsupportedFeaturesError(KafkaError):
    """The cluster has finalized a feature that this broker does not know, or a level that it does not have."""


class FinalizedFeatures:
    """Follows ``/feature``.

    A broker that does not support what is finalized must not serve: ``startup`` raises UnsupportedFeaturesError, and
    later ``on_unsupported`` is called. (The controller finalizes nothing that a live broker does not support.)
    """

    def __init__(
        self,
        store: FeatureStore | None,
        on_unsupported: Callable[[], object] = lambda: None,
        supported: Mapping[str, SupportedLevels] = SUPPORTED,
    ) -> None:
        """``store`` is None if ``inter.broker.protocol.version`` is before 2.7: then nothing is ever finalized."""
        self._store = store
        self._on_unsupported = on_unsupported
        self.supported: Mapping[str, SupportedLevels] = {} if store is None else supported
        """The features of this broker, as it tells clients."""
        self._lock = threading.Lock()
        self.current = NO_FEATURES
        self.are_decided = store is None
        """Whether a controller has said with which features the cluster begins, if with any."""

    @property
    def are_enabled(self) -> bool:
        """Whether features can be finalized at all."""
        return self._store is not None

    def level(self, name: str) -> int:
        """The finalized level of a feature; 0 if it is off."""
        return self.current.levels.get(name, 0)

    def startup(self) -> None:
        """Watch, then read. Raises UnsupportedFeaturesError and ZkError."""
        if self._store is not None:
            self._store.watch(self._changed)
            self.refresh()

    def shutdown(self) -> None:
        """Stop following."""
        if self._store is not None:
            self._store.unwatch()

    def refresh(self) -> None:
        """Read the node now. Raises UnsupportedFeaturesError and ZkError."""
        if self._store is None:
            return
        try:
            node, epoch = self._store.read()
            is_missing = node is None
        except ZnodeDataError as error:
            logger.error("Taking all features for off: %s", error)
            node, epoch = None, UNKNOWN_EPOCH
            is_missing = False
        if node is None or node.status is FeatureStatus.DISABLED:
            read = NO_FEATURES
        else:
            read = FeaturesAndEpoch(dict(node.features), epoch)
        unsupported = unsupported_features(self.supported, read.levels)
        if unsupported:
            raise UnsupportedFeaturesError(f"this broker does not support the finalized features {unsupported}")
        with self._lock:
            # A watch and a write of this broker's controller read at the same time: the newer version stays.
            self.are_decided = not is_missing
            if read is NO_FEATURES or read.epoch > self.current.epoch:
                if read.levels != self.current.levels:
                    logger.info("Finalized features: %s (epoch %d)", dict(read.levels), read.epoch)
                self.current = read

    def _changed(self) -> None:
        try:
            self.refresh()
        except UnsupportedFeaturesError as error:
            logger.critical("Stopping: %s", error)
            self._on_unsupported()
