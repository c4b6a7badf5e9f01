"""Starts and stops what a worker was assigned, several connectors and tasks at a time.

Kafka 0.10.2: connect/runtime/.../connect/runtime/distributed/DistributedHerder.java (startWork, startAndStop,
startConnector, startTask) · book 8.3.4
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.distributed.connect_protocol import Assignment
from kafka_lite.connect.runtime.status_listener import StatusListener
from kafka_lite.connect.runtime.storage.cluster_config_state import ClusterConfigState
from kafka_lite.connect.runtime.target_state import TargetState
from kafka_lite.connect.runtime.worker import Worker

logger = logging.getLogger(__name__)

START_STOP_THREAD_POOL_SIZE = 8


class AssignedWork:
    """Connectors and tasks run with the herder's current snapshot of the configurations.

    A connector or task that cannot be started does not stop the others: it is reported as failed.
    """

    def __init__(
        self,
        worker: Worker,
        snapshot: Callable[[], ClusterConfigState],
        listener: StatusListener,
        reconfigure: Callable[[str], None],
        request_reconfiguration: Callable[[str], None],
    ) -> None:
        """``reconfigure`` asks a connector for its tasks. ``request_reconfiguration`` is what the connector itself may
        call, from any thread, to be asked."""
        self._worker = worker
        self._snapshot = snapshot
        self._listener = listener
        self._reconfigure = reconfigure
        self._request_reconfiguration = request_reconfiguration

    # ── all of an assignment; returns when everything is done ─────────────────────────────────────────────────────

    def start(self, assignment: Assignment) -> None:
        """Start all connectors and tasks of an assignment."""
        logger.info("Starting connectors and tasks using config offset %d", assignment.offset)
        connectors = [partial(self.start_or_report, name) for name in assignment.connectors]
        _run_all([*connectors, *(partial(self.start_or_report, task) for task in assignment.tasks)])
        logger.info("Finished starting connectors and tasks")

    def stop(self, connectors: Iterable[str], tasks: Sequence[ConnectorTaskId]) -> None:
        """Stop connectors and tasks. Tasks that do not end in time are abandoned."""
        stops = [partial(self._stop_connector, name) for name in connectors]
        if tasks:
            stops.append(partial(self._worker.stop_and_await_tasks, tasks))
        _run_all(stops)

    def _stop_connector(self, name: str) -> None:
        try:
            self._worker.stop_connector(name)
        except Exception:
            logger.exception("Failed to shut down connector %s", name)

    # ── one of them ───────────────────────────────────────────────────────────────────────────────────────────────

    def start_or_report(self, each: str | ConnectorTaskId) -> None:
        """Start a connector (by name) or a task. Report it as failed if that raises."""
        try:
            if isinstance(each, ConnectorTaskId):
                self.start_task(each)
            else:
                self.start_connector(each)
        except Exception as error:
            logger.exception("Couldn't start %s. It will not run until it is reconfigured.", each)
            self._listener.on_failure(each, error)

    def start_connector(self, name: str) -> bool:
        """Start a connector, and ask it for its tasks. False if it cannot be created. Raises ConnectError."""
        logger.info("Starting connector %s", name)
        config, state = self._snapshot().connector_config(name), self._target_state(name)
        if config is None:
            raise ConnectError(f"Connector {name} has no configuration")
        request = partial(self._request_reconfiguration, name)
        started = self._worker.start_connector(name, config, request, self._listener, state)
        if started and state is TargetState.STARTED:
            self._reconfigure(name)
        return started

    def start_task(self, task: ConnectorTaskId) -> bool:
        """Start a task. False if it cannot be created. Raises ConnectError."""
        logger.info("Starting task %s", task)
        snapshot = self._snapshot()
        connector_config, config = snapshot.connector_config(task.connector), snapshot.task_config(task)
        if connector_config is None or config is None:
            raise ConnectError(f"Task {task} has no configuration")
        return self._worker.start_task(
            task, connector_config, config, self._listener, self._target_state(task.connector)
        )

    def _target_state(self, name: str) -> TargetState:
        return self._snapshot().target_state(name) or TargetState.STARTED


def _run_all(calls: Sequence[Callable[[], object]]) -> None:
    """Make all calls, each in some thread of a pool, and wait for them."""
    if not calls:
        return
    threads = min(len(calls), START_STOP_THREAD_POOL_SIZE)
    with ThreadPoolExecutor(threads, "connect-start-stop") as pool:
        for future in [pool.submit(call) for call in calls]:
            future.result()
