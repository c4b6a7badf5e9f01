"""The levels of Kafka's releases, as ``kafka-features.sh`` of 4.1.0 prints them."""

from __future__ import annotations

import re

import pytest

from kafka_lite.cluster import features
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.tools.server.release_features import FEATURES, VERSIONS, feature_dependencies, level, version_mapping


def mapped(release: str | None) -> list[int]:
    """The levels in the order of the lines."""
    return [int(line.split(" ")[0].partition("=")[2]) for line in version_mapping(release)]


def test_levels_of_metadata_have_no_gap() -> None:
    assert (level("3.3-IV3"), level("3.9-IV0"), level("4.1-IV1"), level("4.2-IV1")) == (7, 21, 27, 29)
    assert [level(each) for each in VERSIONS] == list(range(7, 30))


def test_the_latest_release_is_the_default() -> None:
    assert version_mapping(None) == [
        "metadata.version=27 (4.1-IV1)",
        "kraft.version=1",
        "transaction.version=2",
        "group.version=1",
        "eligible.leader.replicas.version=1",
        "share.version=0",
        "streams.version=0",
    ]


@pytest.mark.parametrize(
    ("release", "levels"),
    [
        ("3.3-IV3", [7, 0, 0, 0, 0, 0, 0]),
        ("3.7", [19, 0, 0, 0, 0, 0, 0]),
        ("3.9-IV0", [21, 1, 0, 0, 0, 0, 0]),
        ("3.7.1", [19, 0, 0, 0, 0, 0, 0]),
        ("4.0-IV1", [23, 1, 0, 1, 0, 0, 0]),
        ("4.0", [25, 1, 2, 1, 0, 0, 0]),
        ("4.1-IV0", [26, 1, 2, 1, 1, 0, 0]),
        ("4.2-IV0", [28, 1, 2, 1, 1, 1, 0]),
        ("4.2-IV1", [29, 1, 2, 1, 1, 1, 1]),
    ],
)
def test_each_release_has_its_levels(release: str, levels: list[int]) -> None:
    assert mapped(release) == levels
    assert version_mapping(release)[0] == f"metadata.version={levels[0]} ({release})"


@pytest.mark.parametrize("release", ["2.8", "4.2", "4", "x", "3.9-IV1", ""])
def test_an_unknown_release_is_refused(release: str) -> None:
    message = f"Unknown release version '{release}'. Supported versions are: 3.3-IV3 to 4.1-IV1"
    with pytest.raises(ToolError, match=re.escape(message)):
        version_mapping(release)


def test_dependencies() -> None:
    assert feature_dependencies("transaction.version", 2) == ["transaction.version=2 has no dependencies."]
    assert feature_dependencies("metadata.version", 29) == ["metadata.version=29 (4.2-IV1) has no dependencies."]
    assert feature_dependencies("eligible.leader.replicas.version", 0)[0].endswith("=0 has no dependencies.")
    assert feature_dependencies("eligible.leader.replicas.version", 1) == [
        "eligible.leader.replicas.version=1 requires:",
        "    metadata.version=23 (4.0-IV1)",
    ]
    assert feature_dependencies("kraft.version", 1) == [
        "kraft.version=1 requires:",
        "    metadata.version=21 (3.9-IV0)",
    ]


@pytest.mark.parametrize(
    ("name", "wanted", "message"),
    [
        ("metadata.version", 6, "Unknown metadata.version 6"),
        ("metadata.version", 30, "Unknown metadata.version 30"),
        ("no.version", 1, "Unknown feature: no.version"),
        ("transaction.version", 3, "No feature:transaction.version with feature level 3"),
        ("group.version", -1, "No feature:group.version with feature level -1"),
    ],
)
def test_what_a_release_does_not_have(name: str, wanted: int, message: str) -> None:
    with pytest.raises(ToolError, match=re.escape(message)):
        feature_dependencies(name, wanted)


def test_the_features_of_our_brokers_are_features_of_kafka_with_as_many_levels() -> None:
    levels = {feature.name: len(feature.begins) for feature in FEATURES}
    assert {name: each.max_level for name, each in features.FEATURES.items()}.items() <= levels.items()
