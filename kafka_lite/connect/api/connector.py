"""The base class of connectors, which divide their work into tasks.

Kafka 0.10.2: connect/api/.../connect/connector/Connector.java, ConnectorContext.java · book 8.3.2
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from kafka_lite.common.config_def import ConfigDef
from kafka_lite.common.config_value import ConfigValue
from kafka_lite.connect.api.task import UNDEFINED_VERSION, Task


class ConnectorContext(ABC):
    """The runtime, as a connector may use it."""

    @abstractmethod
    def request_task_reconfiguration(self) -> None:
        """Ask for ``task_configs`` again, since the other system has changed: tables were added, say."""

    @abstractmethod
    def raise_error(self, error: BaseException) -> None:
        """Make the connector FAILED, since it cannot continue."""


class Connector(ABC):
    """A job: it knows what there is to copy, and divides it among tasks. Extend SourceConnector or SinkConnector.

    ``context`` is set before ``start``.
    """

    context: ConnectorContext

    def version(self) -> str:
        """The version of the connector's code."""
        return UNDEFINED_VERSION

    def config(self) -> ConfigDef:
        """The keys of the connector's own configuration."""
        return ConfigDef()

    def validate(self, connector_configs: Mapping[str, str]) -> Sequence[ConfigValue]:
        """Each key of ``config`` with its value, its errors and recommended values.

        Override it to check more than the keys' own validators can.
        """
        return self.config().validate(connector_configs)

    def initialize(self, context: ConnectorContext) -> None:
        """Take the context. The runtime calls it before ``start``."""
        self.context = context

    @abstractmethod
    def start(self, props: Mapping[str, str]) -> None:
        """Begin, given the connector's configuration. Raises ConnectError if that is not possible."""

    @abstractmethod
    def task_class(self) -> type[Task]:
        """The class of the connector's tasks."""

    @abstractmethod
    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """A configuration for each task; at most ``max_tasks``."""

    def reconfigure(self, props: Mapping[str, str]) -> None:
        """Take a new configuration."""
        self.stop()
        self.start(props)

    def stop(self) -> None:  # noqa: B027  a hook
        """End, and close what ``start`` opened."""
