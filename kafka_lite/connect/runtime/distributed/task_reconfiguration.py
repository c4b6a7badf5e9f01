"""Asks connectors which tasks they want, and has the leader write them if they are other ones.

Kafka 0.10.2: connect/runtime/.../connect/runtime/distributed/DistributedHerder.java (reconfigureConnector,
reconfigureConnectorTasksWithRetry, forwardRequestExecutor) · book 8.3.4
"""

from __future__ import annotations

import logging
import queue
from collections.abc import Callable, Sequence
from typing import Protocol
from urllib.parse import quote

from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.abstract_herder import compute_task_configs
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.rest.request_forwarder import SendRequest
from kafka_lite.connect.runtime.storage.cluster_config_state import ClusterConfigState, Config
from kafka_lite.connect.runtime.storage.config_backing_store import ConfigBackingStore
from kafka_lite.connect.runtime.target_state import TargetState
from kafka_lite.connect.runtime.worker import Worker

logger = logging.getLogger(__name__)

RECONFIGURE_CONNECTOR_TASKS_BACKOFF_MS = 250


class ReconfiguringHerder(Protocol):
    """The part of the herder that this needs."""

    @property
    def config_state(self) -> ClusterConfigState:
        """The current snapshot."""
        ...

    @property
    def is_leader(self) -> bool:
        """Whether this worker may write configurations."""
        ...

    @property
    def leader_url(self) -> str | None:
        """Where the leader is."""
        ...

    def reconfigure_later(self, name: str, delay_ms: float) -> None:
        """Call ``TaskReconfiguration.reconfigure`` again."""
        ...


def has_changed(wanted: Sequence[Config], known: ClusterConfigState, connector: str) -> bool:
    """Whether a connector wants other tasks than the committed ones. If not, nothing is written: each commit makes the
    group rebalance.

    The tasks of an inconsistent connector are written again, or it would never have any. A commit whose response was
    lost is sent twice, and the second one finds no task configurations left.
    """
    if connector in known.inconsistent_connectors:
        return True
    if len(wanted) != known.task_count(connector):
        return True
    tasks = (ConnectorTaskId(connector, number) for number in range(len(wanted)))
    return any(known.task_config(task) != dict(config) for task, config in zip(tasks, wanted, strict=True))


class TaskReconfiguration:
    """Any error is tried again after a while: otherwise the connector would believe that its tasks run."""

    def __init__(
        self, herder: ReconfiguringHerder, worker: Worker, configs: ConfigBackingStore, send: SendRequest
    ) -> None:
        """``send`` makes an HTTP request of the leader."""
        self._herder = herder
        self._worker = worker
        self._configs = configs
        self._send = send
        self._forwarding = ForwardingThread()

    def start(self) -> None:
        """Start the thread that asks the leader."""
        self._forwarding.start()

    def stop(self) -> None:
        """Stop it, without waiting for a leader that does not answer."""
        self._forwarding.initiate_shutdown()

    def reconfigure(self, name: str) -> None:
        """Ask a connector that runs here. Called by the herder's thread, or while that waits."""
        self._with_retry(name, lambda: self._reconfigure(name))

    def _reconfigure(self, name: str) -> None:
        known = self._herder.config_state
        if not self._worker.is_running(name) or known.target_state(name) is TargetState.STOPPED:
            logger.info("Skipping reconfiguration of connector %s since it is not running", name)
            return
        config = known.connector_config(name)
        if config is None:
            return  # deleted meanwhile
        wanted = compute_task_configs(self._worker, name, config)
        if not has_changed(wanted, known, name):
            return
        logger.debug("Connector %s wants %d tasks; writing their configurations", name, len(wanted))
        if self._herder.is_leader:
            self._configs.put_task_configs(name, wanted)
        else:
            # In another thread: the leader's herder may be waiting for this one, to rebalance.
            self._forwarding.run_soon(lambda: self._with_retry(name, lambda: self._ask_leader(name, wanted)))

    def _ask_leader(self, name: str, wanted: Sequence[Config]) -> None:
        leader_url = self._herder.leader_url
        if leader_url is None:
            raise ConnectError("The leader is not known")
        url = f"{leader_url.rstrip('/')}/connectors/{quote(name, safe='')}/tasks"
        self._send(url, "POST", wanted)

    def _with_retry(self, name: str, call: Callable[[], None]) -> None:
        try:
            call()
        except Exception:
            logger.exception("Failed to reconfigure connector %s's tasks, retrying after backoff", name)
            self._herder.reconfigure_later(name, RECONFIGURE_CONNECTOR_TASKS_BACKOFF_MS)


class ForwardingThread(ShutdownableThread):
    """Makes calls that wait for the leader, one after the other."""

    def __init__(self) -> None:
        super().__init__("connect-forwarding")
        self._calls: queue.Queue[Callable[[], None]] = queue.Queue()

    def run_soon(self, call: Callable[[], None]) -> None:
        """Make a call, which must not raise."""
        self._calls.put(call)

    def do_work(self) -> None:
        """Make the next call."""
        call = self._calls.get()
        if self.is_running:
            call()

    def wake_up(self) -> None:
        """End the wait, so that the thread can stop."""
        self._calls.put(lambda: None)
