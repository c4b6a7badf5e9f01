"""The table of features."""

from __future__ import annotations

from kafka_lite.cluster.features import FEATURES, NEW_CLUSTERS_LEVELS, SUPPORTED, unsupported_features
from kafka_lite.zookeeper.data import SupportedLevels


def test_the_features_and_levels_are_those_of_kafka_4_1() -> None:
    assert {name: feature.max_level for name, feature in FEATURES.items()} == {
        "transaction.version": 2,
        "group.version": 1,
        "share.version": 1,
    }
    assert NEW_CLUSTERS_LEVELS == {"transaction.version": 2, "group.version": 1}


def test_a_broker_supports_what_it_knows_at_the_levels_that_it_has() -> None:
    assert not unsupported_features(SUPPORTED, NEW_CLUSTERS_LEVELS)
    assert not unsupported_features({}, {"later.version": 0}), "off, which every broker is able to do"
    assert unsupported_features({"a": SupportedLevels(1, 2)}, {"a": 3, "b": 1}) == {"a": 3, "b": 1}
    assert unsupported_features({"a": SupportedLevels(2, 2)}, {"a": 1}) == {"a": 1}, "a level that was given up"
