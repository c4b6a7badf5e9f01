"""The features of Kafka's releases: which levels belong to a release, and which level needs which other.

Known to the tool, whatever a cluster has: no broker is asked.

Kafka 4.1: server-common/.../server/common/MetadataVersion.java, Feature.java, FeatureVersion.java,
tools/.../tools/FeatureCommand.java (handleVersionMapping, handleFeatureDependencies) · book 7.1.2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from kafka_lite.cluster.features import GROUP_VERSION, SHARE_VERSION, TRANSACTION_VERSION
from kafka_lite.tools.common.tool_errors import ToolError

METADATA_VERSION: Final = "metadata.version"
FIRST_LEVEL: Final = 7
"""The level of the first version below."""
VERSIONS: Final = (
    "3.3-IV3", "3.4-IV0", "3.5-IV0", "3.5-IV1", "3.5-IV2", "3.6-IV0", "3.6-IV1", "3.6-IV2",
    "3.7-IV0", "3.7-IV1", "3.7-IV2", "3.7-IV3", "3.7-IV4", "3.8-IV0", "3.9-IV0",
    "4.0-IV0", "4.0-IV1", "4.0-IV2", "4.0-IV3", "4.1-IV0", "4.1-IV1", "4.2-IV0", "4.2-IV1",
)  # fmt: skip
"""The versions of metadata that 4.1 knows, level by level."""
LATEST_PRODUCTION: Final = "4.1-IV1"
"""Later versions are for tests."""


class ReleaseFeature(NamedTuple):
    """A feature of Kafka 4.1."""

    name: str
    begins: Sequence[str]
    """For level 1, 2, …: the first version of metadata to whose release the level belongs."""
    dependencies: Mapping[int, Mapping[str, int]] = {}
    """By level: the other features that it needs, and their levels."""

    def default_level(self, level_of_metadata: int) -> int:
        """The level that belongs to a release."""
        return sum(level(version) <= level_of_metadata for version in self.begins)


def level(version: str) -> int:
    """The level of a version of metadata, by its full name."""
    return FIRST_LEVEL + VERSIONS.index(version)


FEATURES: Final = (
    ReleaseFeature("kraft.version", ("3.9-IV0",), {1: {METADATA_VERSION: level("3.9-IV0")}}),
    ReleaseFeature(TRANSACTION_VERSION, ("4.0-IV2", "4.0-IV2")),
    ReleaseFeature(GROUP_VERSION, ("4.0-IV0",)),
    ReleaseFeature("eligible.leader.replicas.version", ("4.1-IV0",), {1: {METADATA_VERSION: level("4.0-IV1")}}),
    ReleaseFeature(SHARE_VERSION, ("4.2-IV0",)),
    ReleaseFeature("streams.version", ("4.2-IV1",)),
)
"""In the order in which Kafka's tool prints them."""


def version_mapping(release: str | None) -> list[str]:
    """The levels that belong to a release such as ``4.0`` or ``3.9-IV0``, by default the latest. Raises ToolError."""
    release = LATEST_PRODUCTION if release is None else release
    version = _version(release)
    if version is None:
        raise ToolError(
            f"Unknown release version '{release}'. Supported versions are: {VERSIONS[0]} to {LATEST_PRODUCTION}"
        )
    metadata = level(version)
    levels = [f"{feature.name}={feature.default_level(metadata)}" for feature in FEATURES]
    return [f"{METADATA_VERSION}={metadata} ({release})", *levels]


def _version(release: str) -> str | None:
    """A release without ``-IV…`` is its last version for production. Of three numbers only two count."""
    key = ".".join(release.split(".")[:2])
    if key in VERSIONS:
        return key
    production = VERSIONS[: VERSIONS.index(LATEST_PRODUCTION) + 1]
    return next((each for each in reversed(production) if each.partition("-")[0] == key), None)


def feature_dependencies(name: str, wanted: int) -> list[str]:
    """The features that a level of a feature needs. Raises ToolError for a feature or level that 4.1 does not have."""
    if name == METADATA_VERSION:
        version = _version_of_level(wanted)
        if version is None:
            raise ToolError(f"Unknown {METADATA_VERSION} {wanted}")
        return [f"{name}={wanted} ({version}) has no dependencies."]
    feature = next((each for each in FEATURES if each.name == name), None)
    if feature is None:
        raise ToolError(f"Unknown feature: {name}")
    if not 0 <= wanted <= len(feature.begins):
        raise ToolError(f"No feature:{name} with feature level {wanted}")
    needed = feature.dependencies.get(wanted)
    if not needed:
        return [f"{name}={wanted} has no dependencies."]
    return [f"{name}={wanted} requires:", *(f"    {_named(*each)}" for each in needed.items())]


def _named(name: str, wanted: int) -> str:
    return f"{name}={wanted}" + (f" ({_version_of_level(wanted)})" if name == METADATA_VERSION else "")


def _version_of_level(wanted: int) -> str | None:
    index = wanted - FIRST_LEVEL
    return VERSIONS[index] if 0 <= index < len(VERSIONS) else None
