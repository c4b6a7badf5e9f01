"""Runs one connector.

Kafka 0.10.2: connect/runtime/.../connect/runtime/WorkerConnector.java; PAUSED: Kafka 3.5 · book 8.3.7
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from enum import Enum

from kafka_lite.connect.api.connector import Connector, ConnectorContext
from kafka_lite.connect.api.sink_connector import SinkConnector
from kafka_lite.connect.runtime.metrics.connect_metrics import ConnectMetrics, MetricGroup
from kafka_lite.connect.runtime.plugin_discovery import class_name
from kafka_lite.connect.runtime.status_listener import StatusListener
from kafka_lite.connect.runtime.target_state import TargetState

logger = logging.getLogger(__name__)


class WorkerConnectorState(Enum):
    """One row per state: what the worker does in it (action), and what leads out of it (transition)."""

    INIT = "init"
    """action: none · transition: STARTED, PAUSED or STOPPED by the first target state, FAILED by an error"""
    STARTED = "started"
    """action: the connector watches its system · transition: PAUSED or STOPPED by the user, FAILED by an error"""
    PAUSED = "paused"
    """action: none; its tasks wait · transition: STARTED by a resume, STOPPED; FAILED if that does not succeed"""
    STOPPED = "stopped"
    """action: none; it has no tasks · transition: STARTED by a resume, PAUSED; FAILED if that does not succeed"""
    FAILED = "failed"
    """action: none · transition: STOPPED by the user; otherwise none, and a restart creates a new connector"""


_S = WorkerConnectorState
VALID_PREVIOUS_STATES: dict[WorkerConnectorState, frozenset[WorkerConnectorState]] = {
    _S.INIT: frozenset(),
    _S.STARTED: frozenset({_S.INIT, _S.PAUSED, _S.STOPPED}),
    _S.PAUSED: frozenset({_S.INIT, _S.STARTED, _S.STOPPED}),
    _S.STOPPED: frozenset(_S),  # by a shutdown from any state
    _S.FAILED: frozenset(_S),
}
"""The states that may come before a state. Any other change is a bug, and raises RuntimeError."""


class WorkerConnector:
    """Brings a connector into the state that the user wants, and reports what becomes of it.

    What the connector raises makes it FAILED. Its calls may come from several threads: the herder's, and those of the
    connector itself.
    """

    def __init__(
        self,
        name: str,
        connector: Connector,
        request_task_reconfiguration: Callable[[], None],
        listener: StatusListener,
    ) -> None:
        self.name = name
        self.connector = connector
        self._request_task_reconfiguration = request_task_reconfiguration
        self._listener = listener
        self._lock = threading.RLock()
        self._config: Mapping[str, str] = {}
        self._state = WorkerConnectorState.INIT

    @property
    def state(self) -> WorkerConnectorState:
        """The current state."""
        return self._state

    @property
    def is_running(self) -> bool:
        """Whether the connector can be asked for the configurations of its tasks."""
        return self._state is WorkerConnectorState.STARTED

    @property
    def is_sink_connector(self) -> bool:
        """Whether its tasks read topics."""
        return isinstance(self.connector, SinkConnector)

    def initialize(self, config: Mapping[str, str]) -> None:
        """Give the connector its context; ``config`` is for its start."""
        self._config = config
        try:
            self.connector.initialize(_Context(self, self._request_task_reconfiguration))
        except Exception as error:
            logger.exception("Error initializing connector %s", self.name)
            self.fail(error)

    def transition_to(self, target: TargetState) -> None:
        """Start, pause, stop or resume. A connector that has failed can only be stopped."""
        with self._lock:
            if target is TargetState.STOPPED:
                self._stop()
            elif self._state is WorkerConnectorState.FAILED:
                logger.warning("Cannot transition connector %s to %s since it has failed", self.name, target.name)
            elif target is TargetState.PAUSED:
                self._pause()
            else:
                self._start()

    def _start(self) -> None:
        before = self._state
        if before is WorkerConnectorState.STARTED:
            return
        try:
            self.connector.start(dict(self._config))
        except Exception as error:
            logger.exception("Error while starting connector %s", self.name)
            self.fail(error)
            return
        self._set_state(WorkerConnectorState.STARTED)
        if before is WorkerConnectorState.INIT:
            self._listener.on_startup(self.name)
        else:
            self._listener.on_resume(self.name)

    def _pause(self) -> None:
        if self._state is WorkerConnectorState.PAUSED:
            return
        try:
            if self._state is WorkerConnectorState.STARTED:
                self.connector.stop()
        except Exception as error:
            logger.exception("Error while shutting down connector %s", self.name)
            self.fail(error)
            return
        self._set_state(WorkerConnectorState.PAUSED)
        self._listener.on_pause(self.name)

    def _stop(self) -> None:
        """An error of the connector does not matter: it is stopped all the same."""
        if self._state is WorkerConnectorState.STOPPED:
            return
        try:
            if self._state is WorkerConnectorState.STARTED:
                self.connector.stop()
        except Exception:
            logger.exception("Error while shutting down connector %s", self.name)
        self._set_state(WorkerConnectorState.STOPPED)
        self._listener.on_stop(self.name)

    def shutdown(self) -> None:
        """Stop for good."""
        with self._lock:
            try:
                if self._state is WorkerConnectorState.STARTED:
                    self.connector.stop()
                self._set_state(WorkerConnectorState.STOPPED)
            except Exception:
                logger.exception("Error while shutting down connector %s", self.name)
                self._set_state(WorkerConnectorState.FAILED)
            finally:
                self._listener.on_shutdown(self.name)

    def fail(self, error: BaseException) -> None:
        """An error has ended the connector."""
        with self._lock:
            self._listener.on_failure(self.name, error)
            self._set_state(WorkerConnectorState.FAILED)

    def _set_state(self, state: WorkerConnectorState) -> None:
        if self._state not in VALID_PREVIOUS_STATES[state]:
            raise RuntimeError(f"connector {self.name}: from {self._state.name} to {state.name}")
        self._state = state


class _Context(ConnectorContext):
    """The runtime, as the connector may use it."""

    def __init__(self, connector: WorkerConnector, request_task_reconfiguration: Callable[[], None]) -> None:
        self._connector = connector
        self._request_task_reconfiguration = request_task_reconfiguration

    def request_task_reconfiguration(self) -> None:
        """Ask the herder to call ``task_configs`` again."""
        self._request_task_reconfiguration()

    def raise_error(self, error: BaseException) -> None:
        """Make the connector FAILED."""
        logger.error("Connector %s raised an error", self._connector.name, exc_info=error)
        self._connector.fail(error)


_STATUSES = {
    _S.INIT: "unassigned", _S.STARTED: "running", _S.PAUSED: "paused", _S.STOPPED: "stopped", _S.FAILED: "failed",
}  # fmt: skip


def connector_metrics(metrics: ConnectMetrics, name: str, connector: WorkerConnector) -> MetricGroup:
    """``connector-metrics`` of a connector: texts. Kafka 1.0: ConnectorMetricsGroup."""
    plugin = connector.connector
    group = metrics.group("connector-metrics", connector=name)
    group.gauge("connector-class", lambda: class_name(type(plugin)))
    group.gauge("connector-version", plugin.version)
    group.gauge("connector-type", lambda: "sink" if connector.is_sink_connector else "source")
    group.gauge("status", lambda: _STATUSES[connector.state])
    return group
