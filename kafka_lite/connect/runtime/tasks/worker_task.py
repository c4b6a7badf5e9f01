"""Runs one task in a thread of its own.

Kafka 0.10.2: connect/runtime/.../connect/runtime/WorkerTask.java · book 8.3.7
"""

from __future__ import annotations

import logging
import threading
from abc import abstractmethod
from enum import Enum

from kafka_lite.common.shutdownable_thread import ProcessKilledError, ShutdownableThread
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.errors.error_handling_metrics import ErrorHandlingMetrics
from kafka_lite.connect.runtime.metrics.connect_metrics import ConnectMetrics
from kafka_lite.connect.runtime.metrics.task_metrics import TaskMetrics
from kafka_lite.connect.runtime.status_listener import StatusListener
from kafka_lite.connect.runtime.target_state import TargetState

logger = logging.getLogger(__name__)


class WorkerTaskState(Enum):
    """One row per state: what the thread does in it (action), and what leads out of it (transition)."""

    INIT = "init"
    """action: none, or create the clients · transition: RUNNING or PAUSED when the thread starts"""
    RUNNING = "running"
    """action: copy records · transition: PAUSED by the user, STOPPED by the herder, FAILED by an error"""
    PAUSED = "paused"
    """action: wait, keep the place in the consumer group · transition: RUNNING, STOPPED, FAILED"""
    STOPPED = "stopped"
    """action: none · transition: none"""
    FAILED = "failed"
    """action: none · transition: none; a restart creates a new task"""


_S = WorkerTaskState
_ALIVE = frozenset({_S.INIT, _S.RUNNING, _S.PAUSED})
VALID_PREVIOUS_STATES: dict[WorkerTaskState, frozenset[WorkerTaskState]] = {
    _S.INIT: frozenset(),
    _S.RUNNING: _ALIVE,  # from itself, too: a sink task reports again if the user resumes what is running
    _S.PAUSED: _ALIVE,
    _S.STOPPED: _ALIVE,
    _S.FAILED: _ALIVE,
}
"""The states that may come before a state. Any other change is a bug, and raises RuntimeError."""
_STATUSES = {
    _S.INIT: "unassigned", _S.RUNNING: "running", _S.PAUSED: "paused", _S.STOPPED: "unassigned", _S.FAILED: "failed",
}  # fmt: skip


class WorkerTask(ShutdownableThread):
    """The thread's body::

        paused? ─▶ PAUSED, wait
        RUNNING ─▶ start_task ─▶ do_work, again and again ─▶ finish ─▶ close ─▶ STOPPED
                        └────────────┴── an error ──────────────────────▶ FAILED

    The herder stops it (``initiate_shutdown``), waits a while (``await_stop``), and then abandons it (``cancel``): from
    then on it reports nothing, since another worker may run the task already.
    """

    def __init__(
        self,
        task_id: ConnectorTaskId,
        listener: StatusListener,
        target: TargetState,
        metrics: TaskMetrics | None = None,
    ) -> None:
        """By default nobody sees the ``metrics``."""
        super().__init__(f"task-thread-{task_id}")
        self.id = task_id
        self.metrics = metrics or TaskMetrics(ConnectMetrics(), task_id, ErrorHandlingMetrics())
        self.lock = threading.Condition(threading.RLock())
        self._listener = listener
        self._target_state = target
        self._state = WorkerTaskState.INIT
        self._cancelled = False

    # ── what subclasses provide; do_work is one turn ──────────────────────────────────────────────────────────────

    @abstractmethod
    def start_task(self) -> None:
        """Initialize and start the task."""

    @abstractmethod
    def finish(self) -> None:
        """After the last turn, or the error that ended it: commit what can be committed."""

    @abstractmethod
    def close(self) -> None:
        """Stop the task, and close the clients. Must not raise."""

    # ── the herder's calls ────────────────────────────────────────────────────────────────────────────────────────

    @property
    def state(self) -> WorkerTaskState:
        """The current state."""
        return self._state

    @property
    def should_pause(self) -> bool:
        """Whether the user has paused the connector."""
        return self._target_state is TargetState.PAUSED

    def transition_to(self, target: TargetState) -> None:
        """Pause or resume, soon. Ignored by a task that is to stop.

        A stopped connector has no tasks. One that another worker has committed at the wrong moment ends.
        """
        with self.lock:
            if self.is_running:
                self._target_state = target
                self.lock.notify_all()
        if target is TargetState.STOPPED:
            logger.warning("Received unexpected request to transition task %s to STOPPED; it will end", self.id)
            self.initiate_shutdown()

    def wake_up(self) -> None:
        """Make a paused task notice that it is to stop."""
        with self.lock:
            self.lock.notify_all()

    def await_stop(self, timeout_ms: float) -> bool:
        """Wait until the thread has ended; false if that takes longer."""
        self.await_shutdown(timeout_ms / 1000)
        return not self.is_alive()

    def cancel(self) -> None:
        """Abandon the task: it may still run, but it reports nothing."""
        with self.lock:
            self._cancelled = True

    # ── the thread ────────────────────────────────────────────────────────────────────────────────────────────────

    def run(self) -> None:
        """The thread's body. Whatever the task raises is reported, and nothing starts it again by itself."""
        try:
            self._run_and_close()
            self._end(WorkerTaskState.STOPPED)
        except ProcessKilledError:
            pass
        except (Exception, SystemExit) as error:
            logger.exception(
                "Task %s threw an uncaught and unrecoverable exception. "
                "Task is being killed and will not recover until manually restarted", self.id,
            )  # fmt: skip
            self.fail(error)
        finally:
            self._stopping.set()

    def _run_and_close(self) -> None:
        try:
            if not self._begin():
                return
            self.start_task()
            try:
                while self.is_running:
                    self.do_work()
            finally:
                self.finish()
        finally:
            self.close()

    def _begin(self) -> bool:
        """Wait until the task may start; false if it is to stop before."""
        with self.lock:
            if not self.is_running or self._target_state is TargetState.STOPPED:
                return False
            if self.should_pause:
                self.report_paused()
                if not self.await_unpause():
                    return False
            self._set_state(WorkerTaskState.RUNNING)
            self._listener.on_startup(self.id)
            return True

    def await_unpause(self) -> bool:
        """Wait until the user resumes the connector; false if the task is to stop before."""
        with self.lock:
            while self.should_pause and self.is_running:
                self.lock.wait()
            return self.is_running

    def report_paused(self) -> None:
        """The task has noticed that it is paused."""
        with self.lock:
            self._set_state(WorkerTaskState.PAUSED)
            self._listener.on_pause(self.id)

    def report_resumed(self) -> None:
        """The task has noticed that it may continue."""
        with self.lock:
            self._set_state(WorkerTaskState.RUNNING)
            self._listener.on_resume(self.id)

    def fail(self, error: BaseException) -> None:
        """An error has ended the task, or keeps it from starting."""
        self._end(WorkerTaskState.FAILED, error)

    def _end(self, state: WorkerTaskState, error: BaseException | None = None) -> None:
        self._stopping.set()
        with self.lock:
            self._set_state(state)
            if self._cancelled:
                return
            if error is None:
                self._listener.on_shutdown(self.id)
            else:
                self._listener.on_failure(self.id, error)

    def _set_state(self, state: WorkerTaskState) -> None:
        if self._state not in VALID_PREVIOUS_STATES[state]:
            raise RuntimeError(f"task {self.id}: from {self._state.name} to {state.name}")
        self._state = state
        self.metrics.states.change_to(_STATUSES[state])
