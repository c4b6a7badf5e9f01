"""Keeps the configurations of a standalone worker in memory.

Kafka 0.10.2: connect/runtime/.../connect/storage/MemoryConfigBackingStore.java · book 8.3.6
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.storage.cluster_config_state import NO_OFFSET, ClusterConfigState, Config
from kafka_lite.connect.runtime.storage.config_backing_store import ConfigBackingStore, UpdateListener
from kafka_lite.connect.runtime.storage.restart_request import RestartRequest
from kafka_lite.connect.runtime.target_state import TargetState


@dataclass
class _ConnectorState:
    config: Config
    target_state: TargetState = TargetState.STARTED
    task_configs: dict[ConnectorTaskId, Config] = field(default_factory=dict)


class MemoryConfigBackingStore(ConfigBackingStore):
    """The listener is called in the thread that makes the change."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._connectors: dict[str, _ConnectorState] = {}
        self._listener: UpdateListener | None = None

    def start(self) -> None:
        """Do nothing: there is nothing to read."""

    def stop(self) -> None:
        """Do nothing: nothing is open."""

    def snapshot(self) -> ClusterConfigState:
        """The current state. Its offset is always ``NO_OFFSET``."""
        with self._lock:
            connectors = self._connectors.items()
            return ClusterConfigState(
                NO_OFFSET,
                {name: len(state.task_configs) for name, state in connectors},
                {name: state.config for name, state in connectors},
                {name: state.target_state for name, state in connectors},
                {task: config for _, state in connectors for task, config in state.task_configs.items()},
            )

    def __contains__(self, connector: object) -> bool:
        return connector in self._connectors

    def put_connector_config(self, connector: str, config: Config) -> None:
        """Store the configuration, and tell the listener."""
        with self._lock:
            state = self._connectors.get(connector)
            if state is None:
                self._connectors[connector] = _ConnectorState(config)
            else:
                state.config = config
            if self._listener is not None:
                self._listener.on_connector_config_update(connector)

    def remove_connector_config(self, connector: str) -> None:
        """Remove everything about a connector, and tell the listener if it existed."""
        with self._lock:
            state = self._connectors.pop(connector, None)
            if state is not None and self._listener is not None:
                self._listener.on_connector_config_remove(connector)

    def put_task_configs(self, connector: str, configs: Sequence[Config]) -> None:
        """Replace the configurations of all tasks. Raises KeyError if there is no such connector."""
        tasks = {ConnectorTaskId(connector, number): config for number, config in enumerate(configs)}
        with self._lock:
            self._connectors[connector].task_configs = tasks
            if self._listener is not None:
                self._listener.on_task_config_update(tuple(tasks))

    def remove_task_configs(self, connector: str) -> None:
        """Remove the configurations of all tasks. Raises KeyError if there is no such connector."""
        with self._lock:
            state = self._connectors[connector]
            removed, state.task_configs = tuple(state.task_configs), {}
            if self._listener is not None:
                self._listener.on_task_config_update(removed)

    def refresh(self, timeout_ms: float) -> None:
        """Do nothing: nobody else writes."""

    def put_target_state(self, connector: str, state: TargetState) -> None:
        """Store what the user wants. Raises KeyError if there is no such connector."""
        with self._lock:
            self._connectors[connector].target_state = state
            if self._listener is not None:
                self._listener.on_connector_target_state_change(connector)

    def put_restart_request(self, request: RestartRequest) -> None:
        """Do nothing: the only worker restarts its connectors without a record."""

    def put_logger_level(self, name: str, level: str) -> None:
        """Tell the listener: the only worker sets it."""
        if self._listener is not None:
            self._listener.on_logging_level_update(name, level)

    def set_update_listener(self, listener: UpdateListener) -> None:
        """Set the listener."""
        with self._lock:
            self._listener = listener
