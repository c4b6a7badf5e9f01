"""The interface of stores of configurations.

Kafka 0.10.2: connect/runtime/.../connect/storage/ConfigBackingStore.java (ConfigBackingStore, UpdateListener) · book
8.3.6
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.storage.cluster_config_state import ClusterConfigState, Config
from kafka_lite.connect.runtime.storage.restart_request import RestartRequest
from kafka_lite.connect.runtime.target_state import TargetState


class UpdateListener(Protocol):
    """Is told of changes, in the thread that has read or made them. It must not block."""

    def on_connector_config_remove(self, connector: str) -> None:
        """A connector was removed."""
        ...

    def on_connector_config_update(self, connector: str) -> None:
        """A connector was added, or its configuration was written again."""
        ...

    def on_task_config_update(self, tasks: Sequence[ConnectorTaskId]) -> None:
        """The task configurations of a connector were committed."""
        ...

    def on_connector_target_state_change(self, connector: str) -> None:
        """The user paused or resumed a connector."""
        ...

    def on_restart_request(self, request: RestartRequest) -> None:
        """The user wants a connector and its tasks, or what has failed of them, restarted."""
        ...

    def on_logging_level_update(self, name: str, level: str) -> None:
        """The user sets the level of a logger on all workers."""
        ...


class ConfigBackingStore(ABC):
    """Has the configurations of connectors and tasks. Only the leader of a group of workers writes them."""

    @abstractmethod
    def start(self) -> None:
        """Read everything. The listener is told only of later changes. Raises ConnectError."""

    @abstractmethod
    def stop(self) -> None:
        """Close what the store holds open."""

    @abstractmethod
    def snapshot(self) -> ClusterConfigState:
        """The current state."""

    @abstractmethod
    def __contains__(self, connector: object) -> bool:
        """Whether there is a connector of this name."""

    @abstractmethod
    def put_connector_config(self, connector: str, config: Config) -> None:
        """Store the configuration of a connector."""

    @abstractmethod
    def remove_connector_config(self, connector: str) -> None:
        """Remove a connector and its target state."""

    @abstractmethod
    def put_task_configs(self, connector: str, configs: Sequence[Config]) -> None:
        """Store the configurations of all tasks of a connector, by number."""

    @abstractmethod
    def remove_task_configs(self, connector: str) -> None:
        """Remove the configurations of all tasks of a connector."""

    @abstractmethod
    def refresh(self, timeout_ms: float) -> None:
        """Read what others have written. Raises TimeoutError."""

    @abstractmethod
    def put_target_state(self, connector: str, state: TargetState) -> None:
        """Store what the user wants. Any worker may call this."""

    @abstractmethod
    def put_restart_request(self, request: RestartRequest) -> None:
        """Tell all workers to restart what they run of a connector."""

    @abstractmethod
    def put_logger_level(self, name: str, level: str) -> None:
        """Tell all workers to set the level of a logger. Any worker may call this."""

    @abstractmethod
    def set_update_listener(self, listener: UpdateListener) -> None:
        """Set the listener, before ``start``."""
