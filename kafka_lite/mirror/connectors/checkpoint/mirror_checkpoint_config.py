"""The settings of MirrorCheckpointConnector and its tasks.

Kafka 2.4: connect/mirror/.../connect/mirror/MirrorCheckpointConfig.java, MirrorCheckpointTaskConfig.java · book 8.1.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_lite.common.config_def import Importance, Range, Type
from kafka_lite.mirror.connectors.filters import (
    GROUP_FILTER,
    GROUP_FILTER_KEYS,
    TOPIC_FILTER,
    TOPIC_FILTER_KEYS,
    GroupFilter,
    TopicFilter,
)
from kafka_lite.mirror.connectors.mirror_connector_config import (
    EMIT_OFFSET_SYNCS,
    ENABLED,
    TASK_INDEX,
    MirrorConnectorConfig,
    copying_config_def,
)

LOW = Importance.LOW
TASK_GROUPS = "task.assigned.groups"
REFRESH_GROUPS, EMIT_CHECKPOINTS, SYNC_GROUP_OFFSETS = "refresh.groups", "emit.checkpoints", "sync.group.offsets"
CHECKPOINTS_REPLICATION_FACTOR = "checkpoints.topic.replication.factor"
ONE_MINUTE_S, TEN_MINUTES_S = 60, 600

# fmt: off
CONFIG = (
    copying_config_def()
    .include(GROUP_FILTER_KEYS)
    .include(TOPIC_FILTER_KEYS)
    .define(f"{REFRESH_GROUPS}.enabled", Type.BOOLEAN, True, LOW, "Whether new groups are noticed.")
    .define(f"{REFRESH_GROUPS}.interval.seconds", Type.LONG, TEN_MINUTES_S, LOW,
            "The time between two looks at the groups.", Range.at_least(1))
    .define(f"{EMIT_CHECKPOINTS}.enabled", Type.BOOLEAN, True, LOW, "Whether there are checkpoints.")
    .define(f"{EMIT_CHECKPOINTS}.interval.seconds", Type.LONG, ONE_MINUTE_S, LOW,
            "The time between two looks at the groups' offsets.", Range.at_least(0))
    .define(f"{SYNC_GROUP_OFFSETS}.enabled", Type.BOOLEAN, False, LOW,
            "Whether translated offsets are committed in the target, for groups that have no members there.")
    .define(f"{SYNC_GROUP_OFFSETS}.interval.seconds", Type.LONG, ONE_MINUTE_S, LOW,
            "The time between two such commits.", Range.at_least(1))
    .define(CHECKPOINTS_REPLICATION_FACTOR, Type.SHORT, 3, LOW, "The replicas of the topic of checkpoints.")
)
# fmt: on


class MirrorCheckpointConfig(MirrorConnectorConfig):
    """The checked settings."""

    def __init__(self, props: Mapping[str, str]) -> None:
        """Raises ConfigError."""
        super().__init__(CONFIG, props)
        self.topic_filter: TopicFilter = TOPIC_FILTER.new(self._values, props)
        self.group_filter: GroupFilter = GROUP_FILTER.new(self._values, props)

    def task_config(self, groups: Sequence[str], index: int) -> dict[str, str]:
        """The configuration of a task that translates these groups."""
        return {**self.props, TASK_GROUPS: ",".join(groups), TASK_INDEX: str(index)}

    @property
    def task_groups(self) -> list[str]:
        """The groups of a task."""
        return [each for each in self.props.get(TASK_GROUPS, "").split(",") if each]


def contradictions(props: Mapping[str, str]) -> dict[str, str]:
    """Keys without which the connector would do nothing, with the reason. Kafka: validate."""
    if props.get(ENABLED) == "false":
        return {}
    found = {}
    emit_checkpoints = f"{EMIT_CHECKPOINTS}.enabled"
    if props.get(emit_checkpoints) == "false":
        found[emit_checkpoints] = f"MirrorCheckpointConnector can't run with {emit_checkpoints} set to false"
    if props.get(EMIT_OFFSET_SYNCS) == "false":
        found[EMIT_OFFSET_SYNCS] = "MirrorCheckpointConnector can't run without offset syncs"
    return found
