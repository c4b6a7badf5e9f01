"""The common part of both herders: statuses, target states, validation.

Kafka 0.10.2: connect/runtime/.../connect/runtime/AbstractHerder.java · book 8.3.4
"""

from __future__ import annotations

import logging
import traceback
from abc import abstractmethod
from concurrent.futures import Future
from itertools import chain

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.process.log_levels import LEVELS, Loggers
from kafka_lite.connect.api.connector import Connector
from kafka_lite.connect.api.data.java_text import java_text
from kafka_lite.connect.api.errors import ConnectError, NotFoundError
from kafka_lite.connect.api.source_connector import SourceConnector
from kafka_lite.connect.runtime.config_infos import ConfigInfos, config_infos
from kafka_lite.connect.runtime.connector_config import (
    CONNECTOR_CLASS,
    TASKS_MAX,
    TOPICS,
    ConnectorConfig,
    enriched,
    sink_config_def,
    source_config_def,
    topic_errors,
)
from kafka_lite.connect.runtime.connector_offsets import ConnectorOffset
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.herder import ConnectorStateInfo, Herder
from kafka_lite.connect.runtime.herder_errors import BadRequestError, ForbiddenError
from kafka_lite.connect.runtime.offset_modification import Offsets
from kafka_lite.connect.runtime.plugin_discovery import connector_class, new_connector
from kafka_lite.connect.runtime.restart_plan import RestartPlan, plan_restart
from kafka_lite.connect.runtime.status import ConnectorStatus, State, TaskStatus, TopicStatus
from kafka_lite.connect.runtime.storage.cluster_config_state import ClusterConfigState, Config
from kafka_lite.connect.runtime.storage.config_backing_store import ConfigBackingStore
from kafka_lite.connect.runtime.storage.restart_request import RestartRequest
from kafka_lite.connect.runtime.storage.status_backing_store import StatusBackingStore
from kafka_lite.connect.runtime.target_state import TargetState
from kafka_lite.connect.runtime.worker import Worker
from kafka_lite.connect.runtime.worker_config import TOPIC_TRACKING_ALLOW_RESET, TOPIC_TRACKING_ENABLE

logger = logging.getLogger(__name__)

CHECK_TIMEOUT_S = 90.0
"""How long a request may wait for the herder, as in ``request_forwarder``."""


class AbstractHerder(Herder):
    """Also the status listener of the worker's connectors and tasks: it stores what they report."""

    def __init__(self, worker: Worker, statuses: StatusBackingStore, configs: ConfigBackingStore) -> None:
        self._worker = worker
        self._statuses = statuses
        self._configs = configs
        self._loggers = Loggers(worker.time)

    @property
    @abstractmethod
    def generation(self) -> int:
        """Of the group, for statuses."""

    @property
    def kafka_cluster_id(self) -> str | None:
        """The id of the cluster of brokers; None if they have not said when the worker was started."""
        return self._worker.kafka_cluster_id

    def _start_services(self) -> None:
        self._worker.start()
        self._statuses.start()
        self._configs.start()

    def _stop_services(self) -> None:
        self._statuses.stop()
        self._configs.stop()
        self._worker.stop()

    # ── statuses ──────────────────────────────────────────────────────────────────────────────────────────────────

    def on_startup(self, of: str | ConnectorTaskId) -> None:
        """A connector or task has started."""
        self._statuses.put(self._status(of, State.RUNNING))

    def on_pause(self, of: str | ConnectorTaskId) -> None:
        """A connector or task is paused."""
        self._statuses.put(self._status(of, State.PAUSED))

    def on_stop(self, of: str) -> None:
        """The user has stopped a connector."""
        self._statuses.put(self._status(of, State.STOPPED))

    def on_resume(self, of: str | ConnectorTaskId) -> None:
        """A connector or task continues."""
        self._statuses.put(self._status(of, State.RUNNING))

    def on_restart(self, of: str | ConnectorTaskId) -> None:
        """A connector or task was stopped, and is about to be started again."""
        self._statuses.put(self._status(of, State.RESTARTING))

    def on_shutdown(self, of: str | ConnectorTaskId) -> None:
        """A connector or task was stopped. Another worker may run it already, so the write is a safe one."""
        self._statuses.put_safe(self._status(of, State.UNASSIGNED))

    def on_failure(self, of: str | ConnectorTaskId, error: BaseException) -> None:
        """An error has ended a connector or task."""
        trace = "".join(traceback.format_exception(error))
        self._statuses.put_safe(self._status(of, State.FAILED, trace))

    def on_topic(self, task: ConnectorTaskId, topic: str) -> None:
        """A task uses a topic: store that, unless it is known of the connector."""
        if self._statuses.topic(task.connector, topic) is None and self._worker.config[TOPIC_TRACKING_ENABLE]:
            self._statuses.put_topic(TopicStatus(topic, task, self._worker.time.milliseconds()))

    def _on_deletion(self, connector: str) -> None:
        self._remove_topics(connector)
        self._remove_task_statuses(connector)
        self._statuses.put(self._status(connector, State.DESTROYED))

    def _remove_topics(self, connector: str) -> None:
        for status in self._statuses.topics(connector):
            self._statuses.remove_topic(connector, status.topic)

    def _remove_task_statuses(self, connector: str) -> None:
        """The connector is deleted or stopped: it has no tasks any more."""
        for status in self._statuses.tasks(connector):
            self._statuses.put(self._status(status.id, State.DESTROYED))

    def _status(
        self, of: str | ConnectorTaskId, state: State, trace: str | None = None
    ) -> ConnectorStatus | TaskStatus:
        if isinstance(of, ConnectorTaskId):
            return TaskStatus(of, state, self._worker.id, self.generation, trace)
        return ConnectorStatus(of, state, self._worker.id, self.generation, trace)

    def connector_status(self, name: str) -> ConnectorStateInfo:
        """The statuses of a connector and of its tasks. Raises NotFoundError."""
        status = self._statuses.connector(name)
        if status is None:
            raise NotFoundError(f"No status found for connector {name}")
        return ConnectorStateInfo(name, status, self._statuses.tasks(name))

    def plan_restart(self, request: RestartRequest) -> RestartPlan | None:
        """The plan for a request by the statuses that are known; None if there is none of the connector."""
        name = request.connector
        status = self._statuses.connector(name)
        if status is None:
            return None
        return plan_restart(request, ConnectorStateInfo(name, status, self._statuses.tasks(name), self._kind(name)))

    def _kind(self, name: str) -> str:
        """Whether a connector is a ``source`` or a ``sink``; ``unknown`` if this worker does not find its class."""
        config = self._configs.snapshot().connector_config(name) or {}
        try:
            kind = connector_class(config.get(CONNECTOR_CLASS) or "")
        except ConnectError:
            return "unknown"
        return "source" if issubclass(kind, SourceConnector) else "sink"

    def task_status(self, task: ConnectorTaskId) -> TaskStatus:
        """The status of a task. Raises NotFoundError."""
        status = self._statuses.task(task)
        if status is None:
            raise NotFoundError(f"No status found for task {task}")
        return status

    def connector_active_topics(self, name: str) -> list[str]:
        """The topics that a connector uses; none if it is unknown. Raises ForbiddenError."""
        self._ensure_topics_are_tracked()
        return [status.topic for status in self._statuses.topics(name)]

    def reset_connector_active_topics(self, name: str) -> None:
        """Forget which topics a connector uses. What it still uses comes back with the next record.

        Raises ForbiddenError.
        """
        self._ensure_topics_are_tracked()
        if not self._worker.config[TOPIC_TRACKING_ALLOW_RESET]:
            raise ForbiddenError("Topic tracking reset is disabled.")
        self._remove_topics(name)

    def _ensure_topics_are_tracked(self) -> None:
        if not self._worker.config[TOPIC_TRACKING_ENABLE]:
            raise ForbiddenError("Topic tracking is disabled.")

    def connector_offsets(self, name: str) -> list[ConnectorOffset]:
        """How far a connector has read, whichever worker runs it. Raises NotFoundError, ConnectError, KafkaError."""
        config = self._configs.snapshot().connector_config(name)
        if config is None:
            raise NotFoundError(f"Connector {name} not found")
        return self._worker.connector_offsets(name, config)

    def alter_connector_offsets(self, name: str, offsets: Offsets) -> Future[str]:
        """Set how far a stopped connector has read. The result is a message for the user."""
        return self._modify_offsets(name, offsets)

    def reset_connector_offsets(self, name: str) -> Future[str]:
        """Forget how far a stopped connector has read. The result is a message for the user."""
        return self._modify_offsets(name, None)

    def _modify_offsets(self, name: str, offsets: Offsets | None) -> Future[str]:
        """In the caller's thread: it takes a while, and a group would remove a worker whose herder waits."""
        modified: Future[str] = Future()
        try:
            config = self._stopped_connector(name).result(CHECK_TIMEOUT_S)
            modified.set_result(self._worker.modify_connector_offsets(name, config, offsets))
        except Exception as error:  # noqa: BLE001  the caller gets it
            modified.set_exception(error)
        return modified

    @abstractmethod
    def _stopped_connector(self, name: str) -> Future[Config]:
        """The configuration of a connector of which no task runs."""

    def _ensure_stopped(self, name: str, configs: ClusterConfigState) -> Config:
        """Raises NotFoundError, BadRequestError."""
        config = configs.connector_config(name)
        if config is None:
            raise NotFoundError(f"Connector {name} not found")
        if configs.target_state(name) is not TargetState.STOPPED or configs.task_count(name):
            raise BadRequestError(
                "Connectors must be in the STOPPED state before their offsets can be modified. This can be done for "
                f"the specified connector by issuing a 'PUT' request to the '/connectors/{name}/stop' endpoint"
            )
        return config

    # ── target states ─────────────────────────────────────────────────────────────────────────────────────────────

    def pause_connector(self, name: str) -> None:
        """Write that the user wants the connector paused. Raises NotFoundError."""
        self._put_target_state(name, TargetState.PAUSED)

    def resume_connector(self, name: str) -> None:
        """Write that the user wants the connector to run. Raises NotFoundError.

        One that was stopped is then asked for its tasks.
        """
        self._put_target_state(name, TargetState.STARTED)

    def _put_target_state(self, name: str, state: TargetState) -> None:
        self._ensure_there(name)
        self._configs.put_target_state(name, state)

    def _ensure_there(self, name: str) -> None:
        if name not in self._configs:
            raise NotFoundError(f"Unknown connector {name}")

    # ── loggers ───────────────────────────────────────────────────────────────────────────────────────────────────

    def logger_levels(self) -> dict[str, tuple[str, int | None]]:
        """The levels of this worker's loggers, and when they were changed, ms since 1970; None if they were not."""
        return self._loggers.levels()

    def set_worker_logger_level(self, name: str, level: str) -> list[str]:
        """Set the level of a logger and of all below it, on this worker. Returns their names: none, logged, for a level
        that does not exist, which another worker may have written."""
        if level.upper() not in LEVELS:
            logger.warning("Ignoring request to set invalid level '%s' for namespace %s", level, name)
            return []
        return self._loggers.set_level(name, level.upper())

    def set_cluster_logger_level(self, name: str, level: str) -> None:
        """Set the level of a logger and of all below it, on all workers, soon. Raises ConnectError."""
        self._configs.put_logger_level(name, level)

    # ── validation ────────────────────────────────────────────────────────────────────────────────────────────────

    def validate_connector_config(self, config: Config) -> ConfigInfos:
        """Check the keys that all connectors have, those of transformations, and the connector's own.

        Values that come from config providers are not in the result.
        """
        transformer = self._worker.config.transformer
        stored = config
        try:
            config = transformer.transform(stored)
        except ConfigError as error:
            raise BadRequestError(str(error)) from error
        class_or_alias = config.get(CONNECTOR_CLASS)
        if class_or_alias is None:
            raise BadRequestError(f"Connector config {java_text(stored)} contains no connector type")
        connector = new_connector(class_or_alias)
        base = source_config_def() if isinstance(connector, SourceConnector) else sink_config_def()
        common, own = enriched(base, config, require_full_config=False), connector.config()
        values = [*common.validate(config), *connector.validate(config)]
        for value in values:
            value.error_messages += self._more_errors(connector, config, value.name)
            value.error_messages += topic_errors(config) if value.name == TOPICS else []
        transformer.hide(stored, values)
        keys = {key.name: key for key in chain(common, own)}
        return config_infos(class_or_alias, keys, values, [*common.groups(), *own.groups()])

    def _more_errors(self, connector: Connector, config: Config, key: str) -> list[str]:  # noqa: ARG002  a hook
        """More errors of the value of a key."""
        return []

    def _ensure_valid(self, config: Config) -> None:
        """Raise BadRequestError with all errors, one per line."""
        infos = self.validate_connector_config(config)
        if infos.error_count:
            raise BadRequestError("\n".join([
                f"Connector configuration is invalid and contains the following {infos.error_count} error(s):",
                *infos.errors,
                "You can also find the above list of errors at the endpoint `/{connectorType}/config/validate`",
            ]))  # fmt: skip


def compute_task_configs(worker: Worker, name: str, config: Config) -> list[dict[str, str]]:
    """The configurations that a running connector wants for its tasks.

    Raises ConnectError, and any error of the connector.
    """
    if worker.is_sink_connector(name):
        values = ConnectorConfig(config, sink_config_def())
        return worker.connector_task_configs(name, values[TASKS_MAX], values.subscription())
    return worker.connector_task_configs(name, ConnectorConfig(config)[TASKS_MAX])
