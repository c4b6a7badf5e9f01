"""The herder of a worker that shares connectors and tasks with other workers.

Kafka 0.10.2: connect/runtime/.../connect/runtime/distributed/DistributedHerder.java · book 8.3.4
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import TypeVar

from kafka_lite.common.shutdownable_thread import ProcessKilledError, ShutdownableThread
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.connect.api.connector import Connector
from kafka_lite.connect.api.errors import AlreadyExistsError, ConnectError, NotFoundError
from kafka_lite.connect.api.sink_connector import SinkConnector
from kafka_lite.connect.runtime.abstract_herder import AbstractHerder
from kafka_lite.connect.runtime.connector_config import NAME
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.distributed.distributed_config import DistributedConfig
from kafka_lite.connect.runtime.distributed.herder_loop import HerderLoop, NewMember
from kafka_lite.connect.runtime.herder import ConnectorInfo, ConnectorStateInfo, Created, TaskInfo
from kafka_lite.connect.runtime.herder_errors import (
    BadRequestError,
    NotAssignedError,
    NotLeaderError,
    RebalanceNeededError,
)
from kafka_lite.connect.runtime.rest.request_forwarder import SendRequest, http_request
from kafka_lite.connect.runtime.storage.cluster_config_state import Config
from kafka_lite.connect.runtime.storage.config_backing_store import ConfigBackingStore
from kafka_lite.connect.runtime.storage.restart_request import RestartRequest
from kafka_lite.connect.runtime.storage.status_backing_store import StatusBackingStore
from kafka_lite.connect.runtime.target_state import TargetState
from kafka_lite.connect.runtime.worker import Worker
from kafka_lite.connect.runtime.worker_config import sink_group_id

logger = logging.getLogger(__name__)

T = TypeVar("T")

STOP_TIMEOUT_S = 30.0
"""How long a stop waits for what does not end, such as a connector that blocks, apart from the time of its tasks."""


class DistributedHerder(AbstractHerder):
    """Requests are served by the herder's thread, between its other duties (``herder_loop``).

    ===================================  ==========================  ===============================================
    request                              by                          otherwise
    ===================================  ==========================  ===============================================
    create, change, delete, put tasks,   the leader                  NotLeaderError with the leader's URL
    stop, change offsets, restart with
    tasks
    restart                              the owner                   the leader: NotAssignedError with the owner's
                                                                     URL; others: NotLeaderError
    list, configurations, tasks          any worker, its snapshot    RebalanceNeededError while one is expected
    statuses, pause, resume, validate    any worker, at once
    ===================================  ==========================  ===============================================
    """

    def __init__(
        self,
        config: DistributedConfig,
        worker: Worker,
        statuses: StatusBackingStore,
        configs: ConfigBackingStore,
        new_member: NewMember,
        *,
        send: SendRequest = http_request,
        time: Time = SYSTEM_TIME,
    ) -> None:
        """``send`` makes HTTP requests of the leader."""
        super().__init__(worker, statuses, configs)
        self._group_id = config["group.id"]
        self._sync_timeout_ms = config["worker.sync.timeout.ms"]
        self._stop_timeout_s = config["task.shutdown.graceful.timeout.ms"] / 1000 + STOP_TIMEOUT_S
        self.loop = HerderLoop(
            config, worker, statuses, configs, new_member, self,
            remove_statuses=self._on_deletion, remove_task_statuses=self._remove_task_statuses,
            plan_restart=self.plan_restart, set_logger_level=self.set_worker_logger_level, send=send, time=time,
        )  # fmt: skip
        self._thread = _HerderThread(self)

    @property
    def generation(self) -> int:
        """Of the group, when the current assignment was made."""
        return self.loop.generation

    @property
    def failure(self) -> Exception | None:
        """The error that has ended the thread."""
        return self._thread.failure

    def start(self) -> None:
        """Start the thread, which starts everything else. Requests wait until the worker is in its group."""
        self._thread.start()

    def stop(self) -> None:
        """Stop all connectors and tasks, leave the group, and stop the worker and the stores."""
        self._thread.initiate_shutdown()
        if self._thread.ident is None:
            self.run_down()  # it was never started
        self._thread.await_shutdown(self._stop_timeout_s)

    def run_up(self) -> None:
        """The beginning of the thread: read the internal topics. Raises ConnectError."""
        logger.info("Herder starting")
        self._start_services()
        self.loop.start()
        logger.info("Herder started")

    def run_down(self) -> None:
        """Stop the loop, then the services: called as the thread ends, even after a failure."""
        try:
            self.loop.stop()
        finally:
            self._stop_services()
        logger.info("Herder stopped")

    # ── reading ───────────────────────────────────────────────────────────────────────────────────────────────────

    def connectors(self) -> Future[list[str]]:
        """The names of all connectors."""
        return self._when_settled(lambda: self.loop.config_state.connectors)

    def connector_info(self, name: str) -> Future[ConnectorInfo]:
        """A connector with its configuration and tasks."""
        return self._when_settled(partial(self._connector_info, name))

    def connector_config(self, name: str) -> Future[Config]:
        """The configuration of a connector."""
        return self._when_settled(lambda: self._connector_info(name).config)

    def task_configs(self, name: str) -> Future[list[TaskInfo]]:
        """The configurations of a connector's tasks."""
        return self._when_settled(partial(self._task_infos, name))

    def _connector_info(self, name: str) -> ConnectorInfo:
        configs = self.loop.config_state
        config = configs.connector_config(name)
        if config is None:
            raise NotFoundError(f"Connector {name} not found")
        return ConnectorInfo(name, config, configs.tasks(name))

    def _task_infos(self, name: str) -> list[TaskInfo]:
        self._connector_info(name)
        configs = self.loop.config_state
        tasks = [ConnectorTaskId(name, number) for number in range(configs.task_count(name))]
        return [TaskInfo(task, configs.task_config(task) or {}) for task in tasks]

    # ── writing, as the leader ────────────────────────────────────────────────────────────────────────────────────

    def put_connector_config(self, name: str, config: Config, *, allow_replace: bool) -> Future[Created[ConnectorInfo]]:
        """Create a connector, or change it if ``allow_replace``.

        The configuration is checked in the caller's thread: a connector may ask another system for that, and the group
        would remove a worker whose herder waits.
        """
        try:
            self._ensure_valid(config)
        except Exception as error:  # noqa: BLE001  the caller gets it
            failed: Future[Created[ConnectorInfo]] = Future()
            failed.set_exception(error)
            return failed
        return self.loop.submit(partial(self._put_connector_config, name, config, allow_replace))

    def _put_connector_config(self, name: str, config: Config, allow_replace: bool) -> Created[ConnectorInfo]:
        self._ensure_leader("Only the leader can set connector configs.")
        exists = name in self._configs
        if exists and not allow_replace:
            raise AlreadyExistsError(f"Connector {name} already exists")
        self._configs.put_connector_config(name, config)
        # The tasks are those of the last snapshot, which are still right: new ones come by a commit of their own.
        return Created(not exists, ConnectorInfo(name, config, self.loop.config_state.tasks(name)))

    def delete_connector_config(self, name: str) -> Future[Created[ConnectorInfo]]:
        """Delete a connector. Its tasks stop with the rebalance that follows."""
        return self.loop.submit(partial(self._delete_connector_config, name))

    def _delete_connector_config(self, name: str) -> Created[ConnectorInfo]:
        self._ensure_leader("Only the leader can set connector configs.")
        self._ensure_exists(name)
        self._configs.remove_connector_config(name)
        return Created(False, None)

    def put_task_configs(self, name: str, configs: Sequence[Config]) -> Future[None]:
        """Write the configurations of a connector's tasks: a request of the worker that runs the connector."""
        return self.loop.submit(partial(self._put_task_configs, name, configs))

    def _put_task_configs(self, name: str, configs: Sequence[Config]) -> None:
        self._ensure_leader("Only the leader may write task configurations.")
        self._ensure_exists(name)
        if configs and self._configs.snapshot().target_state(name) is TargetState.STOPPED:
            raise BadRequestError(f"Cannot submit non-empty set of task configs for stopped connector {name}")
        self._configs.put_task_configs(name, configs)

    def stop_connector(self, name: str) -> Future[None]:
        """End the tasks of a connector, and keep its configuration."""
        return self.loop.submit(partial(self._stop_connector, name))

    def _stop_connector(self, name: str) -> None:
        """The tasks go first: if this worker dies in between, the connector asks for tasks at the next rebalance. A
        stopped connector with tasks would stay as it is."""
        self._ensure_there(name)
        self._ensure_leader("Only the leader can transition connectors to the STOPPED state.")
        self._configs.put_task_configs(name, [])
        self._configs.put_target_state(name, TargetState.STOPPED)
        try:
            self._configs.refresh(self._sync_timeout_ms)  # so that the rebalance finds the connector stopped
        except TimeoutError as error:
            logger.warning("Could not read the target state of connector %s back: %s", name, error)

    def _stopped_connector(self, name: str) -> Future[Config]:
        """The configuration of a connector of which no task runs: after the last rebalance, none was assigned."""

        def config_if_stopped() -> Config:
            self._ensure_leader("Only the leader can process external offsets modification requests")
            try:
                self._configs.refresh(self._sync_timeout_ms)
            except TimeoutError as error:
                problem = "Failed to read to end of config topic before modifying connector offsets"
                raise ConnectError(problem) from error
            return self._ensure_stopped(name, self._configs.snapshot())

        return self._when_settled(config_if_stopped)

    def _ensure_leader(self, problem: str) -> None:
        if not self.loop.is_leader:
            raise NotLeaderError(problem, self.loop.leader_url or "")

    def _ensure_exists(self, name: str) -> None:
        if name not in self._configs:
            raise NotFoundError(f"Connector {name} not found")

    # ── restarts, by the owner ────────────────────────────────────────────────────────────────────────────────────

    def restart_connector(self, name: str) -> Future[None]:
        """Restart a connector, not its tasks."""
        return self._when_settled(partial(self._restart_connector, name))

    def _restart_connector(self, name: str) -> None:
        self._ensure_known(name)
        self._ensure_owner(name)
        self._worker.stop_connector(name)
        if not self.loop.work.start_connector(name):
            raise ConnectError(f"Failed to start connector: {name}")

    def restart_connector_and_tasks(self, request: RestartRequest) -> Future[ConnectorStateInfo]:
        """Restart a connector with its tasks, or what has failed of them, soon: each worker what it runs."""
        return self._when_settled(partial(self._request_restart, request))

    def _request_restart(self, request: RestartRequest) -> ConnectorStateInfo:
        self._ensure_known(request.connector)
        self._ensure_leader("Only the leader can process restart requests.")
        self._configs.put_restart_request(request)
        plan = self.plan_restart(request)
        if plan is None:
            raise NotFoundError(f"Status for connector {request.connector} not found")
        return plan.info

    def restart_task(self, task: ConnectorTaskId) -> Future[None]:
        """Restart a task."""
        return self._when_settled(partial(self._restart_task, task))

    def _restart_task(self, task: ConnectorTaskId) -> None:
        self._ensure_known(task.connector)
        if self.loop.config_state.task_config(task) is None:
            raise NotFoundError(f"Unknown task: {task}")
        self._ensure_owner(task)
        self._worker.stop_and_await_tasks([task])
        if not self.loop.work.start_task(task):
            raise ConnectError(f"Failed to start task: {task}")

    def _ensure_known(self, name: str) -> None:
        if name not in self.loop.config_state:
            raise NotFoundError(f"Unknown connector: {name}")

    def _ensure_owner(self, of: str | ConnectorTaskId) -> None:
        """The leader knows the owner, and others know the leader."""
        assignment = self.loop.assignment
        if assignment is not None and of in (*assignment.connectors, *assignment.tasks):
            return
        kind = "task" if isinstance(of, ConnectorTaskId) else "connector"
        problem = f"Cannot restart {kind} since it is not assigned to this member"
        if not self.loop.is_leader:
            raise NotLeaderError(problem, self.loop.leader_url or "")
        owner_url = self.loop.owner_url(of)
        if owner_url is None:
            raise RebalanceNeededError(f"{problem}, and no member runs it")
        raise NotAssignedError(problem, owner_url)

    def request_task_reconfiguration(self, name: str) -> None:
        """Ask a connector for the configurations of its tasks again."""
        self.loop.reconfigure_later(name)

    # ── hooks ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _when_settled(self, action: Callable[[], T]) -> Future[T]:
        """Submit what depends on who runs what. It fails while a rebalance is expected."""

        def ensure_settled() -> T:
            if self.loop.needs_rebalance:
                raise RebalanceNeededError("Request cannot be completed because a rebalance is expected")
            return action()

        return self.loop.submit(ensure_settled)

    def _more_errors(self, connector: Connector, config: Config, key: str) -> list[str]:
        """The consumers of a sink must not get into the group of the workers."""
        name = config.get(NAME)
        if key != NAME or name is None or not isinstance(connector, SinkConnector):
            return []
        if sink_group_id(name) != self._group_id:
            return []
        return [f"Consumer group for sink connector named {name} conflicts with Connect worker group {self._group_id}"]


class _HerderThread(ShutdownableThread):
    """Turns, from the start of the stores to their end."""

    def __init__(self, herder: DistributedHerder) -> None:
        super().__init__("DistributedHerder")
        self._herder = herder
        self.failure: Exception | None = None

    def run(self) -> None:
        """The thread's body. An error ends the worker: Kafka's ends the process."""
        try:
            self._herder.run_up()
            while self.is_running:
                self.do_work()
        except ProcessKilledError:
            self._stopping.set()
            return
        except Exception as error:
            logger.exception("Uncaught exception in herder work thread, exiting")
            self.failure = error
        self._stopping.set()
        try:
            self._herder.run_down()
        except Exception:
            logger.exception("The herder could not stop everything")

    def do_work(self) -> None:
        """One turn."""
        self._herder.loop.tick()

    def wake_up(self) -> None:
        """End the waits of the turn."""
        self._herder.loop.wake_up()
