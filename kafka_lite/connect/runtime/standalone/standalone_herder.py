"""The herder of a worker by itself.

Kafka 0.10.2: connect/runtime/.../connect/runtime/standalone/StandaloneHerder.java · book 8.3.4
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import TypeVar

from kafka_lite.connect.api.errors import AlreadyExistsError, ConnectError, NotFoundError
from kafka_lite.connect.runtime.abstract_herder import AbstractHerder, compute_task_configs
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.herder import ConnectorInfo, ConnectorStateInfo, Created, TaskInfo
from kafka_lite.connect.runtime.herder_errors import UnsupportedHerderError
from kafka_lite.connect.runtime.storage.cluster_config_state import EMPTY, ClusterConfigState, Config
from kafka_lite.connect.runtime.storage.config_backing_store import ConfigBackingStore
from kafka_lite.connect.runtime.storage.memory_config_backing_store import MemoryConfigBackingStore
from kafka_lite.connect.runtime.storage.memory_status_backing_store import MemoryStatusBackingStore
from kafka_lite.connect.runtime.storage.restart_request import RestartRequest
from kafka_lite.connect.runtime.storage.status_backing_store import StatusBackingStore
from kafka_lite.connect.runtime.target_state import TargetState
from kafka_lite.connect.runtime.worker import Worker

logger = logging.getLogger(__name__)

T = TypeVar("T")


class StandaloneHerder(AbstractHerder):
    """Everything happens in the caller's thread, under one lock, and is done when the call returns.

    Configurations are kept in memory only. The store tells the herder of each change at once, which takes a new
    snapshot.
    """

    def __init__(
        self, worker: Worker, statuses: StatusBackingStore | None = None, configs: ConfigBackingStore | None = None
    ) -> None:
        super().__init__(worker, statuses or MemoryStatusBackingStore(), configs or MemoryConfigBackingStore())
        self._lock = threading.RLock()
        self._state: ClusterConfigState = EMPTY
        self._configs.set_update_listener(self)

    @property
    def generation(self) -> int:
        """There are no generations."""
        return 0

    def start(self) -> None:
        """Start the worker. Raises ConnectError."""
        with self._lock:
            self._start_services()

    def stop(self) -> None:
        """Stop all connectors and tasks, and the worker."""
        with self._lock:
            for name in self._state.connectors:
                self._remove_connector_tasks(name)
                self._worker.stop_connector(name)
            self._stop_services()

    # ── reading ───────────────────────────────────────────────────────────────────────────────────────────────────

    def connectors(self) -> Future[list[str]]:
        """The names of all connectors."""
        return self._done(lambda: self._state.connectors)

    def connector_info(self, name: str) -> Future[ConnectorInfo]:
        """A connector with its configuration and tasks."""
        return self._done(partial(self._connector_info, name))

    def connector_config(self, name: str) -> Future[Config]:
        """The configuration of a connector."""
        return self._done(lambda: self._connector_info(name).config)

    def task_configs(self, name: str) -> Future[list[TaskInfo]]:
        """The configurations of a connector's tasks."""
        return self._done(
            lambda: [TaskInfo(task, self._state.task_configs[task]) for task in self._connector_info(name).tasks]
        )

    def _connector_info(self, name: str) -> ConnectorInfo:
        config = self._state.connector_config(name)
        if config is None:
            raise NotFoundError(f"Connector {name} not found")
        return ConnectorInfo(name, config, self._state.tasks(name))

    # ── writing ───────────────────────────────────────────────────────────────────────────────────────────────────

    def put_connector_config(self, name: str, config: Config, *, allow_replace: bool) -> Future[Created[ConnectorInfo]]:
        """Create a connector, or change it if ``allow_replace``, and start it with its tasks."""
        return self._done(partial(self._put, name, config, allow_replace))

    def _put(self, name: str, config: Config, allow_replace: bool) -> Created[ConnectorInfo]:
        self._ensure_valid(config)
        created = name not in self._state
        if not created:
            if not allow_replace:
                raise AlreadyExistsError(f"Connector {name} already exists")
            self._worker.stop_connector(name)
        self._configs.put_connector_config(name, config)
        self._start_connector(name)
        self._update_connector_tasks(name)
        return Created(created, self._connector_info(name))

    def delete_connector_config(self, name: str) -> Future[Created[ConnectorInfo]]:
        """Stop a connector and its tasks, and forget it."""
        return self._done(partial(self._delete, name))

    def _delete(self, name: str) -> Created[ConnectorInfo]:
        self._connector_info(name)
        self._remove_connector_tasks(name)
        self._worker.stop_connector(name)
        self._configs.remove_connector_config(name)
        self._on_deletion(name)
        return Created(False, None)

    def put_task_configs(self, name: str, configs: Sequence[Config]) -> Future[None]:  # noqa: ARG002
        """Not supported: the only worker computes them itself."""
        failed: Future[None] = Future()
        failed.set_exception(
            UnsupportedHerderError(
                "Kafka Connect in standalone mode does not support externally setting task configurations."
            )
        )
        return failed

    def restart_connector(self, name: str) -> Future[None]:
        """Restart a connector, not its tasks."""
        return self._done(partial(self._restart_connector, name))

    def _restart_connector(self, name: str) -> None:
        self._connector_info(name)
        self._worker.stop_connector(name)
        self._start_connector(name)

    def restart_task(self, task: ConnectorTaskId) -> Future[None]:
        """Restart a task."""
        return self._done(partial(self._restart_task, task))

    def _restart_task(self, task: ConnectorTaskId) -> None:
        self._connector_info(task.connector)
        if self._state.task_config(task) is None:
            raise NotFoundError(f"Task {task} not found")
        self._worker.stop_and_await_tasks([task])
        if not self._start_task(task):
            raise ConnectError(f"Failed to start task: {task}")

    def restart_connector_and_tasks(self, request: RestartRequest) -> Future[ConnectorStateInfo]:
        """Restart a connector with its tasks, or what has failed of them."""
        return self._done(partial(self._restart_connector_and_tasks, request))

    def _restart_connector_and_tasks(self, request: RestartRequest) -> ConnectorStateInfo:
        """One that cannot be started does not keep the others from it: its status says why."""
        name = request.connector
        if name not in self._state:
            raise NotFoundError(f"Unknown connector: {name}")
        plan = self.plan_restart(request)
        if plan is None:
            raise NotFoundError(f"Status for connector {name} not found")
        logger.info("Received %s", plan)
        tasks = [task for task in plan.tasks if task in self._state.task_configs]
        if plan.restarts_connector:
            self._worker.stop_connector(name)
            self.on_restart(name)
        self._worker.stop_and_await_tasks(tasks)
        for task in tasks:
            self.on_restart(task)
        if plan.restarts_connector:
            with suppress(ConnectError):
                self._start_connector(name)
        for task in tasks:
            self._start_task(task)
        return plan.info

    def stop_connector(self, name: str) -> Future[None]:
        """End the tasks of a connector, and keep its configuration."""
        return self._done(partial(self._stop_connector, name))

    def _stop_connector(self, name: str) -> None:
        self._ensure_there(name)
        self._remove_connector_tasks(name)
        self._configs.put_target_state(name, TargetState.STOPPED)
        self._remove_task_statuses(name)

    def _stopped_connector(self, name: str) -> Future[Config]:
        """The configuration of a connector of which no task runs."""
        return self._done(lambda: self._ensure_stopped(name, self._state))

    def request_task_reconfiguration(self, name: str) -> None:
        """Ask a connector for the configurations of its tasks again."""
        with self._lock:
            if name not in self._worker.connector_names:
                logger.error("Connector that requested task reconfiguration does not exist: %s", name)
                return
            self._update_connector_tasks(name)

    # ── the worker ────────────────────────────────────────────────────────────────────────────────────────────────

    def _target_state(self, name: str) -> TargetState:
        return self._state.target_state(name) or TargetState.STARTED

    def _start_connector(self, name: str) -> None:
        """Raises ConnectError if the connector cannot be created."""
        reconfigure = partial(self.request_task_reconfiguration, name)
        config = self._connector_info(name).config
        if not self._worker.start_connector(name, config, reconfigure, self, self._target_state(name)):
            raise ConnectError(f"Failed to start connector: {name}")

    def _start_task(self, task: ConnectorTaskId) -> bool:
        """False, and a FAILED status, if the task cannot be created."""
        name, config = task.connector, self._state.task_configs[task]
        connector_config = self._connector_info(name).config
        return self._worker.start_task(task, connector_config, config, self, self._target_state(name))

    def _update_connector_tasks(self, name: str) -> None:
        """If the connector wants other tasks than there are: stop those, and start the new ones."""
        if not self._worker.is_running(name):
            logger.info("Skipping reconfiguration of connector %s since it is not running", name)
            return
        configs = compute_task_configs(self._worker, name, self._connector_info(name).config)
        if configs == [dict(config) for config in self._state.all_task_configs(name)]:
            return
        self._remove_connector_tasks(name)
        self._configs.put_task_configs(name, configs)
        for task in self._state.tasks(name):
            self._start_task(task)

    def _remove_connector_tasks(self, name: str) -> None:
        tasks = self._state.tasks(name)
        if tasks:
            self._worker.stop_and_await_tasks(tasks)
            self._configs.remove_task_configs(name)

    def _done(self, call: Callable[[], T]) -> Future[T]:
        """A future of what has been done."""
        future: Future[T] = Future()
        with self._lock:
            try:
                future.set_result(call())
            except Exception as error:  # noqa: BLE001  the caller gets it
                future.set_exception(error)
        return future

    # ── the store tells of changes ────────────────────────────────────────────────────────────────────────────────

    def on_connector_config_remove(self, connector: str) -> None:  # noqa: ARG002
        """A connector was removed."""
        self._take_snapshot()

    def on_connector_config_update(self, connector: str) -> None:  # noqa: ARG002
        """A connector was added or changed."""
        self._take_snapshot()

    def on_task_config_update(self, tasks: Sequence[ConnectorTaskId]) -> None:  # noqa: ARG002
        """Task configurations were written."""
        self._take_snapshot()

    def on_restart_request(self, request: RestartRequest) -> None:
        """Nothing: a restart is done when its call returns."""

    def on_logging_level_update(self, name: str, level: str) -> None:
        """The user sets the level of a logger."""
        self.set_worker_logger_level(name, level)

    def on_connector_target_state_change(self, connector: str) -> None:
        """The user paused, stopped or resumed a connector."""
        with self._lock:
            self._take_snapshot()
            self._worker.set_target_state(connector, self._target_state(connector))
            if self._target_state(connector) is TargetState.STARTED:
                self._update_connector_tasks(connector)

    def _take_snapshot(self) -> None:
        with self._lock:
            self._state = self._configs.snapshot()
