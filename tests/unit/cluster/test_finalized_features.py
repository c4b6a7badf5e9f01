"""What a broker knows of the levels that the cluster has finalized."""

from __future__ import annotations

import pytest

from kafka_lite.cluster.finalized_features import NO_FEATURES, FinalizedFeatures, UnsupportedFeaturesError
from kafka_lite.zookeeper import paths
from kafka_lite.zookeeper.data import SupportedLevels
from kafka_lite.zookeeper.feature_znode import FeatureStatus, FeatureStore, FeatureZNode
from tests.support.fake_zookeeper import Tree, fake_zk

SUPPORTED = {"a": SupportedLevels(1, 2)}


@pytest.fixture
def store() -> FeatureStore:
    return FeatureStore(fake_zk(Tree()).zookeeper)


def write(store: FeatureStore, version: int, status: FeatureStatus = FeatureStatus.ENABLED, **levels: int) -> None:
    assert store.write(FeatureZNode(status, levels), version)


def test_the_levels_follow_the_node(store: FeatureStore) -> None:
    features = FinalizedFeatures(store, supported=SUPPORTED)
    features.startup()
    assert features.current is NO_FEATURES
    assert features.level("a") == 0
    write(store, -1, a=1)
    assert (features.level("a"), features.current.epoch) == (1, 0)
    write(store, 0, a=2)
    assert (features.level("a"), features.current.epoch) == (2, 1)
    write(store, 1, FeatureStatus.DISABLED)
    assert features.current is NO_FEATURES
    features.shutdown()
    write(store, 2, a=2)
    assert features.level("a") == 0, "no longer watched"


def test_an_unreadable_node_turns_all_features_off(store: FeatureStore) -> None:
    write(store, -1, a=1)
    features = FinalizedFeatures(store, supported=SUPPORTED)
    features.startup()
    store._zookeeper.set(paths.FEATURE, b"rubbish")
    assert features.current is NO_FEATURES


def test_an_older_epoch_does_not_replace_a_newer_one(store: FeatureStore) -> None:
    features = FinalizedFeatures(store, supported=SUPPORTED)
    write(store, -1, a=1)
    write(store, 0, a=2)
    features.refresh()
    older = FeatureZNode(FeatureStatus.ENABLED, {"a": 1})
    store.read = lambda: (older, 0)  # type: ignore[method-assign]
    features.refresh()
    assert features.level("a") == 2


def test_a_broker_that_lacks_a_feature_does_not_start(store: FeatureStore) -> None:
    write(store, -1, b=1)
    with pytest.raises(UnsupportedFeaturesError, match=r"does not support the finalized features \{'b': 1\}"):
        FinalizedFeatures(store, supported=SUPPORTED).startup()


def test_a_broker_that_lacks_a_feature_stops_when_it_is_finalized(store: FeatureStore) -> None:
    stopped: list[bool] = []
    features = FinalizedFeatures(store, lambda: stopped.append(True), SUPPORTED)
    features.startup()
    write(store, -1, a=3)
    assert stopped
    assert features.level("a") == 0


def test_there_are_no_features_before_2_7() -> None:
    features = FinalizedFeatures(None)
    features.startup()
    features.refresh()
    features.shutdown()
    assert not features.are_enabled
    assert not features.supported
    assert features.level("share.version") == 0
