"""The content of the config topic, up to an offset.

Kafka 0.10.2: connect/runtime/.../connect/runtime/distributed/ClusterConfigState.java · book 8.3.4
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.target_state import TargetState

Config = Mapping[str, str]
NO_OFFSET = -1
"""The offset of an empty config topic, and of a store that has no topic."""


@dataclass(frozen=True)
class ClusterConfigState:
    """An immutable snapshot. All workers that have read up to the same offset have the same one."""

    offset: int = NO_OFFSET
    """The position after the last record that was read. Task configs without their commit may be among the records."""
    task_counts: Mapping[str, int] = field(default_factory=dict)
    connector_configs: Mapping[str, Config] = field(default_factory=dict)
    target_states: Mapping[str, TargetState] = field(default_factory=dict)
    task_configs: Mapping[ConnectorTaskId, Config] = field(default_factory=dict)
    inconsistent_connectors: frozenset[str] = frozenset()
    """Connectors whose last commit lacked some task configs. They have no tasks until a complete set is committed."""

    def __contains__(self, connector: object) -> bool:
        return connector in self.connector_configs

    @property
    def connectors(self) -> list[str]:
        """The names of all connectors, sorted."""
        return sorted(self.connector_configs)

    def connector_config(self, connector: str) -> Config | None:
        """The configuration of a connector."""
        return self.connector_configs.get(connector)

    def target_state(self, connector: str) -> TargetState | None:
        """The state that the user wants for a connector."""
        return self.target_states.get(connector)

    def task_config(self, task: ConnectorTaskId) -> Config | None:
        """The configuration of a task."""
        return self.task_configs.get(task)

    def all_task_configs(self, connector: str) -> list[Config]:
        """The configurations of a connector's tasks, by number. As in Kafka, those of former tasks are among them."""
        return [self.task_configs[task] for task in sorted(self.task_configs) if task.connector == connector]

    def task_count(self, connector: str) -> int:
        """The number of tasks in the last commit, consistent or not."""
        return self.task_counts.get(connector, 0)

    def tasks(self, connector: str) -> list[ConnectorTaskId]:
        """The tasks that are to run, by number."""
        if connector in self.inconsistent_connectors:
            return []
        return [ConnectorTaskId(connector, task) for task in range(self.task_count(connector))]


EMPTY = ClusterConfigState()
