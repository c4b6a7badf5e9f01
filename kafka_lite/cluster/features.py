"""The features whose level a whole cluster agrees on, and the levels that this broker supports (KIP-584).

Kafka 4.1: server-common/.../server/common/Feature.java, TransactionVersion.java, GroupVersion.java, ShareVersion.java;
3.9: core/.../server/BrokerFeatures.scala · book 7.1.2
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from kafka_lite.zookeeper.data import SupportedLevels

TRANSACTION_VERSION = "transaction.version"
"""1: the records of ``__transaction_state`` have tagged fields. 2: every transaction has an epoch of its own (KIP-890).
"""
GROUP_VERSION = "group.version"
"""1: the consumer groups of KIP-848."""
SHARE_VERSION = "share.version"
"""1: share groups (KIP-932)."""


class Feature(NamedTuple):
    """A feature of this broker."""

    max_level: int
    new_clusters_level: int
    """The level that the first controller of a new cluster finalizes: that of a new cluster of Kafka 4.1."""


FEATURES: Mapping[str, Feature] = MappingProxyType(
    {
        TRANSACTION_VERSION: Feature(2, 2),
        GROUP_VERSION: Feature(1, 1),
        SHARE_VERSION: Feature(1, 0),
    }
)
"""All features. None depends on another one. Kafka's levels of metadata and of KRaft are not among them: on ZooKeeper,
``inter.broker.protocol.version`` says what they say."""

SUPPORTED: Mapping[str, SupportedLevels] = MappingProxyType(
    {name: SupportedLevels(1, feature.max_level) for name, feature in FEATURES.items()}
)
"""As in the broker's registration. The least level is 1: Kafka before 3.9 cannot read a registration with 0."""

NEW_CLUSTERS_LEVELS: Mapping[str, int] = MappingProxyType(
    {name: feature.new_clusters_level for name, feature in FEATURES.items() if feature.new_clusters_level}
)
"""The features that a new cluster begins with."""


def unsupported_features(supported: Mapping[str, SupportedLevels], finalized: Mapping[str, int]) -> dict[str, int]:
    """The finalized features that a broker cannot work with: it does not know them, or not at this level."""
    return {
        name: level
        for name, level in finalized.items()
        if level > 0 and (name not in supported or not supported[name].contains(level))
    }
