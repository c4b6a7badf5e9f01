"""The meaning of the records of the config topic.

Kafka 0.10.2: connect/runtime/.../connect/storage/KafkaConfigBackingStore.java (ConsumeCallback) · book 8.3.6
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum, auto

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.storage.cluster_config_state import NO_OFFSET, ClusterConfigState, Config
from kafka_lite.connect.runtime.storage.restart_request import RESTART_PREFIX, RestartRequest, restart_request_of
from kafka_lite.connect.runtime.target_state import TargetState

logger = logging.getLogger(__name__)

TARGET_STATE_PREFIX, CONNECTOR_PREFIX = "target-state-", "connector-"
TASK_PREFIX, COMMIT_TASKS_PREFIX = "task-", "commit-"
LOGGER_CLUSTER_PREFIX = "logger-cluster-"
MAX_TASKS = 0x7FFFFFFF


def target_state_key(connector: str) -> str:
    """The key of a connector's target state."""
    return TARGET_STATE_PREFIX + connector


def connector_key(connector: str) -> str:
    """The key of a connector's configuration."""
    return CONNECTOR_PREFIX + connector


def task_key(task: ConnectorTaskId) -> str:
    """The key of a task's configuration."""
    return f"{TASK_PREFIX}{task}"


def commit_tasks_key(connector: str) -> str:
    """The key of the record that makes a connector's task configurations valid."""
    return COMMIT_TASKS_PREFIX + connector


def logger_cluster_key(name: str) -> str:
    """The key of the level of a logger on all workers."""
    return LOGGER_CLUSTER_PREFIX + name


class ChangeKind(Enum):
    """The kind of thing that a record has changed."""

    CONNECTOR_UPDATED = auto()
    CONNECTOR_REMOVED = auto()
    TASKS_UPDATED = auto()
    TARGET_STATE_CHANGED = auto()
    RESTART_REQUESTED = auto()
    LOGGER_LEVEL_SET = auto()


@dataclass(frozen=True)
class Change:
    """The effect of a record, for listeners."""

    kind: ChangeKind
    connector: str
    """Or the logger."""
    tasks: tuple[ConnectorTaskId, ...] = ()
    restart: RestartRequest | None = None
    level: str = ""
    """Of the logger."""


def is_complete(numbers: Collection[int], count: int) -> bool:
    """Whether configurations of the tasks 0 to ``count - 1`` are all there.

    More may be there. Say that a connector went from two tasks to one, and that the topic was compacted: the first
    commit is gone, but the configuration of task 1, which it made valid, still precedes the second one.
    """
    return len(numbers) >= count and all(number in numbers for number in range(count))


class ConfigTopic:
    """Applies the records in the order of their offsets.

    ======================  ==========================================  ==================================
    key                     value                                       meaning
    ======================  ==========================================  ==================================
    connector-NAME          {"properties": {key: value, …}}             configuration of a connector
    connector-NAME          null                                        the connector was deleted
    task-NAME-N             {"properties": {key: value, …}}             configuration of a task, *deferred*
    commit-NAME             {"tasks": count}                            makes deferred ones valid
    target-state-NAME       {"state": "STARTED"} or "PAUSED"            what the user wants
    target-state-NAME       {"state": "PAUSED", "state.v2": "STOPPED"}  the same, for workers that know more states
    target-state-NAME       null                                        STARTED again
    restart-connector-NAME  {"include-tasks": …, "only-failed": …}      changes nothing: a request of the moment
    logger-cluster-NAME     {"level": "DEBUG"}                          changes nothing here: a level for all workers
    ======================  ==========================================  ==================================

    The tasks of a connector divide its work. If some ran with a new configuration and others with the old one, part of
    the work would be done twice, or not at all. So task configurations wait for the commit, which says how many there
    are. If some are missing, because compaction removed them or their writer died, the connector is *inconsistent*.
    """

    def __init__(self) -> None:
        self.offset = NO_OFFSET
        """The position after the last record."""
        self._task_counts: dict[str, int] = {}
        self._connector_configs: dict[str, Config] = {}
        self._target_states: dict[str, TargetState] = {}
        self._task_configs: dict[ConnectorTaskId, Config] = {}
        self._inconsistent: set[str] = set()
        self._deferred: dict[str, dict[ConnectorTaskId, Config]] = {}

    def snapshot(self) -> ClusterConfigState:
        """A copy of the current state. Configurations themselves are never changed, only replaced."""
        return ClusterConfigState(
            self.offset,
            dict(self._task_counts),
            dict(self._connector_configs),
            dict(self._target_states),
            dict(self._task_configs),
            frozenset(self._inconsistent),
        )

    def __contains__(self, connector: object) -> bool:
        return connector in self._connector_configs

    def apply(self, key: str | None, value: object, offset: int) -> Change | None:
        """Apply the record at an offset. ``value`` is what its JSON contains.

        Returns what has changed. A record that is not understood is logged and otherwise ignored: later versions of
        Kafka write kinds of their own.
        """
        self.offset = offset + 1
        key = key or ""
        if key.startswith(TARGET_STATE_PREFIX):
            return self._apply_target_state(key.removeprefix(TARGET_STATE_PREFIX), value)
        if key.startswith(CONNECTOR_PREFIX):
            return self._apply_connector(key.removeprefix(CONNECTOR_PREFIX), value)
        if key.startswith(TASK_PREFIX):
            self._apply_task(key, value)
            return None  # the commit tells listeners
        if key.startswith(COMMIT_TASKS_PREFIX):
            return self._apply_commit(key.removeprefix(COMMIT_TASKS_PREFIX), value)
        if key.startswith(RESTART_PREFIX):
            return _restart_requested(key.removeprefix(RESTART_PREFIX), value)
        if key.startswith(LOGGER_CLUSTER_PREFIX):
            return _logger_level_set(key.removeprefix(LOGGER_CLUSTER_PREFIX), value)
        logger.error("Discarding config update record with invalid key: %s", key)
        return None

    def _apply_target_state(self, connector: str, value: object) -> Change | None:
        """Note the state in ``value``, or with None forget it: a connector that is there is STARTED again.

        Returns the change; None for a tombstone, and for a state that does not exist, which is logged.
        """
        if value is None:
            self._target_states.pop(connector, None)
            if connector in self._connector_configs:
                self._target_states[connector] = TargetState.STARTED
            return None  # the removal of the connector tells listeners
        try:
            self._target_states[connector] = TargetState(_stated(value))
        except ValueError:
            logger.error("Invalid target state for connector (%s): %r", connector, value)
            return None
        return Change(ChangeKind.TARGET_STATE_CHANGED, connector)

    def _apply_connector(self, connector: str, value: object) -> Change | None:
        """Note a configuration, or with None remove the connector; one that is new is STARTED.

        Returns the change; None for a wrong format, which is logged.
        """
        if value is None:
            logger.info("Removed connector %s", connector)
            self._connector_configs.pop(connector, None)
            return Change(ChangeKind.CONNECTOR_REMOVED, connector)
        properties = _properties(value)
        if properties is None:
            logger.error("Found configuration of connector %s in wrong format", connector)
            return None
        self._connector_configs[connector] = properties
        self._target_states.setdefault(connector, TargetState.STARTED)
        return Change(ChangeKind.CONNECTOR_UPDATED, connector)

    def _apply_task(self, key: str, value: object) -> None:
        """Defer a configuration. A key or a value in a wrong format is logged and ignored."""
        task = ConnectorTaskId.parse(key.removeprefix(TASK_PREFIX))
        if task is None:
            logger.error("Ignoring task configuration because %s couldn't be parsed as a task config key", key)
            return
        properties = _properties(value)
        if properties is None:
            logger.error("Ignoring configuration of task %s because it is in the wrong format", task)
            return
        self._deferred.setdefault(task.connector, {})[task] = properties

    def _apply_commit(self, connector: str, value: object) -> Change | None:
        """Make the deferred configurations valid if they are complete, else the connector inconsistent.

        Deferred ones are used up, and the count is noted, in either case. Returns the change, with the tasks that
        became valid; None for a wrong format, which is logged and changes nothing.
        """
        count = value.get("tasks") if isinstance(value, dict) else None
        if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= MAX_TASKS:
            logger.error("Ignoring commit of tasks of connector %s: wrong format %r", connector, value)
            return None
        # Deferred configurations go even if they are incomplete: only a fresh complete set is valid.
        deferred = self._deferred.pop(connector, {})
        self._task_counts[connector] = count
        if not is_complete({task.task for task in deferred}, count):
            logger.debug("Incomplete set of task configs of connector %s, probably due to compaction", connector)
            self._inconsistent.add(connector)
            return Change(ChangeKind.TASKS_UPDATED, connector)
        self._inconsistent.discard(connector)
        self._task_configs.update(deferred)
        return Change(ChangeKind.TASKS_UPDATED, connector, tuple(sorted(deferred)))


def _restart_requested(connector: str, value: object) -> Change | None:
    """A request to restart a connector (KIP-745). It matters to the workers that run now, and leaves no state."""
    request = restart_request_of(connector, value)
    return None if request is None else Change(ChangeKind.RESTART_REQUESTED, connector, restart=request)


def _logger_level_set(name: str, value: object) -> Change | None:
    """The level of a logger (KIP-976). It matters to the workers that run now, and leaves no state."""
    level = value.get("level") if isinstance(value, dict) else None
    if not isinstance(level, str):
        logger.error("Ignoring logging level for namespace %s: wrong format %r", name, value)
        return None
    return Change(ChangeKind.LOGGER_LEVEL_SET, name, level=level)


def _stated(value: object) -> object:
    """The state in the value of a target state: ``state.v2``, or that of an older worker. None if it has neither."""
    if not isinstance(value, dict):
        return None
    newer = value.get("state.v2")
    return newer if isinstance(newer, str) else value.get("state")


def _properties(value: object) -> Config | None:
    """The configuration in a record's value; None unless it maps texts to texts or nulls."""
    properties = value.get("properties") if isinstance(value, dict) else None
    if not isinstance(properties, dict):
        return None
    if not all(isinstance(text, str | None) for text in properties.values()):
        return None
    return properties
