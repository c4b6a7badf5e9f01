"""The interface of herders, for the REST interface and the commands.

Kafka 0.10.2: connect/runtime/.../connect/runtime/Herder.java (Herder, Created),
runtime/rest/entities/ConnectorInfo.java, TaskInfo.java, ConnectorStateInfo.java; restartConnectorAndTasks: Kafka 3.0 ·
book 8.3.4
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Generic, TypeVar

from kafka_lite.connect.runtime.config_infos import ConfigInfos
from kafka_lite.connect.runtime.connector_offsets import ConnectorOffset
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.offset_modification import Offsets
from kafka_lite.connect.runtime.status import ConnectorStatus, TaskStatus
from kafka_lite.connect.runtime.storage.cluster_config_state import Config
from kafka_lite.connect.runtime.storage.restart_request import RestartRequest

T = TypeVar("T")


@dataclass(frozen=True)
class ConnectorInfo:
    """A connector, its configuration, and its tasks."""

    name: str
    config: Config
    tasks: Sequence[ConnectorTaskId]


@dataclass(frozen=True)
class TaskInfo:
    """A task and its configuration."""

    id: ConnectorTaskId
    config: Config


@dataclass(frozen=True)
class ConnectorStateInfo:
    """The statuses of a connector and of its tasks, by number."""

    name: str
    connector: ConnectorStatus
    tasks: Sequence[TaskStatus]
    kind: str | None = None
    """``source`` or ``sink``, in answers that 0.10.2 does not have."""


@dataclass(frozen=True)
class Created(Generic[T]):
    """The result of a write, and whether it is new."""

    created: bool
    result: T | None


class Herder(ABC):
    """Keeps track of connectors and tasks, and makes a worker run them.

    Calls that may have to wait for other workers return futures. Those that only read what every worker knows return at
    once. Errors are ConnectErrors, some of which have a meaning of their own: NotFoundError, AlreadyExistsError,
    BadRequestError, and in a group NotLeaderError, NotAssignedError, RebalanceNeededError.
    """

    @abstractmethod
    def start(self) -> None:
        """Start the worker and the stores. Raises ConnectError."""

    @abstractmethod
    def stop(self) -> None:
        """Stop all connectors and tasks, then the worker and the stores."""

    @property
    def failure(self) -> Exception | None:
        """The error that has ended the herder, if one has."""
        return None

    @abstractmethod
    def connectors(self) -> Future[list[str]]:
        """The names of all connectors."""

    @abstractmethod
    def connector_info(self, name: str) -> Future[ConnectorInfo]:
        """A connector with its configuration and tasks."""

    @abstractmethod
    def connector_config(self, name: str) -> Future[Config]:
        """The configuration of a connector."""

    @abstractmethod
    def put_connector_config(self, name: str, config: Config, *, allow_replace: bool) -> Future[Created[ConnectorInfo]]:
        """Create a connector, or change it if ``allow_replace``."""

    @abstractmethod
    def delete_connector_config(self, name: str) -> Future[Created[ConnectorInfo]]:
        """Delete a connector."""

    @abstractmethod
    def request_task_reconfiguration(self, name: str) -> None:
        """A connector wants to be asked for the configurations of its tasks again."""

    @abstractmethod
    def task_configs(self, name: str) -> Future[list[TaskInfo]]:
        """The configurations of a connector's tasks."""

    @abstractmethod
    def put_task_configs(self, name: str, configs: Sequence[Config]) -> Future[None]:
        """Write the configurations of a connector's tasks: a request of the worker that runs the connector."""

    @abstractmethod
    def restart_connector(self, name: str) -> Future[None]:
        """Restart a connector, not its tasks."""

    @abstractmethod
    def restart_connector_and_tasks(self, request: RestartRequest) -> Future[ConnectorStateInfo]:
        """Restart a connector with its tasks, or what has failed of them. The result says what is being restarted."""

    @abstractmethod
    def restart_task(self, task: ConnectorTaskId) -> Future[None]:
        """Restart a task."""

    @abstractmethod
    def connector_status(self, name: str) -> ConnectorStateInfo:
        """The statuses of a connector and of its tasks. Raises NotFoundError."""

    @abstractmethod
    def task_status(self, task: ConnectorTaskId) -> TaskStatus:
        """The status of a task. Raises NotFoundError."""

    @abstractmethod
    def connector_active_topics(self, name: str) -> list[str]:
        """The topics that a connector uses, by name (KIP-558). Raises ForbiddenError."""

    @abstractmethod
    def reset_connector_active_topics(self, name: str) -> None:
        """Forget which topics a connector uses. Raises ForbiddenError."""

    @abstractmethod
    def connector_offsets(self, name: str) -> list[ConnectorOffset]:
        """How far a connector has read. Raises NotFoundError, ConnectError, KafkaError."""

    @abstractmethod
    def alter_connector_offsets(self, name: str, offsets: Offsets) -> Future[str]:
        """Set how far a stopped connector has read. The result is a message for the user."""

    @abstractmethod
    def reset_connector_offsets(self, name: str) -> Future[str]:
        """Forget how far a stopped connector has read. The result is a message for the user."""

    @abstractmethod
    def pause_connector(self, name: str) -> None:
        """Pause a connector and its tasks, soon. Raises NotFoundError."""

    @abstractmethod
    def stop_connector(self, name: str) -> Future[None]:
        """End the tasks of a connector, and keep its configuration."""

    @abstractmethod
    def resume_connector(self, name: str) -> None:
        """Resume a connector and its tasks, soon, or start a stopped one. Raises NotFoundError."""

    @property
    @abstractmethod
    def kafka_cluster_id(self) -> str | None:
        """The id of the cluster of brokers; None if they have not said."""

    @abstractmethod
    def logger_levels(self) -> dict[str, tuple[str, int | None]]:
        """The levels of this worker's loggers, and when they were changed, ms since 1970; None if they were not."""

    @abstractmethod
    def set_worker_logger_level(self, name: str, level: str) -> list[str]:
        """Set the level of a logger and of all below it, on this worker. Returns their names."""

    @abstractmethod
    def set_cluster_logger_level(self, name: str, level: str) -> None:
        """Set the level of a logger and of all below it, on all workers, soon. Raises ConnectError."""

    @abstractmethod
    def validate_connector_config(self, config: Config) -> ConfigInfos:
        """Check a configuration: what a form needs to know. Raises BadRequestError, ConnectError."""
