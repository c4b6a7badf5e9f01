"""The turns of a herder's thread: be in the group, serve requests, react to changed configurations.

Kafka 0.10.2: connect/runtime/.../connect/runtime/distributed/DistributedHerder.java (tick, handleRebalanceCompleted,
RebalanceListener) · book 8.3.4
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.distributed.assigned_work import AssignedWork
from kafka_lite.connect.runtime.distributed.assignment_resolution import may_start, must_read_to_end
from kafka_lite.connect.runtime.distributed.config_changes import ConfigChangeCollector, react
from kafka_lite.connect.runtime.distributed.connect_protocol import Assignment
from kafka_lite.connect.runtime.distributed.connector_restarts import ConnectorRestarts, Plan
from kafka_lite.connect.runtime.distributed.distributed_config import DistributedConfig
from kafka_lite.connect.runtime.distributed.herder_requests import HerderRequests
from kafka_lite.connect.runtime.distributed.membership import VALID_PREVIOUS_STATES, Membership
from kafka_lite.connect.runtime.distributed.task_reconfiguration import TaskReconfiguration
from kafka_lite.connect.runtime.distributed.worker_group_member import WorkerGroupMember
from kafka_lite.connect.runtime.distributed.worker_rebalance_listener import WorkerRebalanceListener
from kafka_lite.connect.runtime.metrics.worker_metrics import RebalanceMetrics
from kafka_lite.connect.runtime.rest.request_forwarder import SendRequest
from kafka_lite.connect.runtime.status_listener import StatusListener
from kafka_lite.connect.runtime.storage.cluster_config_state import EMPTY, ClusterConfigState
from kafka_lite.connect.runtime.storage.config_backing_store import ConfigBackingStore
from kafka_lite.connect.runtime.storage.status_backing_store import StatusBackingStore
from kafka_lite.connect.runtime.target_state import TargetState
from kafka_lite.connect.runtime.worker import Worker
from kafka_lite.consumer.consumer_errors import WakeupError

logger = logging.getLogger(__name__)

T = TypeVar("T")

NewMember = Callable[[WorkerRebalanceListener], WorkerGroupMember]
"""Makes the membership in the group. It gets the listener of rebalances."""


class HerderLoop:
    """One turn (``tick``)::

        in the group, and the work of the assignment started?  ─ no ─▶ join, catch up, start
        requests whose time has come                           ─▶ herder_requests
        restarts that were asked for in the config topic       ─▶ connector_restarts
        changes of the config topic                            ─▶ config_changes: rebalance, restart, pause, stop
        poll the group until the next request, or a wake-up

    Only the herder's thread calls this, but for ``submit``, ``wake_up`` and the properties.

    ``membership`` has the states. A rebalance stops everything on all workers, and starts it again where it then
    belongs. So no task runs twice, and all of them run with the same state of the config topic.
    """

    def __init__(
        self,
        config: DistributedConfig,
        worker: Worker,
        statuses: StatusBackingStore,
        configs: ConfigBackingStore,
        new_member: NewMember,
        listener: StatusListener,
        *,
        remove_statuses: Callable[[str], None],
        remove_task_statuses: Callable[[str], None],
        plan_restart: Plan,
        set_logger_level: Callable[[str, str], object],
        send: SendRequest,
        time: Time = SYSTEM_TIME,
    ) -> None:
        """``remove_statuses`` is for a connector that was deleted, ``remove_task_statuses`` for one that was stopped.
        ``send`` makes HTTP requests of the leader."""
        self._config = config
        self._worker = worker
        self._statuses = statuses
        self._configs = configs
        self._remove_statuses = remove_statuses
        self._remove_task_statuses = remove_task_statuses
        self._time = time
        self._member = new_member(self)
        self._requests = HerderRequests(self._member.wakeup)
        self._changes = ConfigChangeCollector(lambda: self.config_state, self._member.wakeup, set_logger_level)
        configs.set_update_listener(self._changes)
        self._reconfiguration = TaskReconfiguration(self, worker, configs, send)
        self.work = AssignedWork(
            worker, lambda: self.config_state, listener, self._reconfiguration.reconfigure, self.reconfigure_later
        )
        self._restarts = ConnectorRestarts(self.work, listener, plan_restart)
        self._stopping = threading.Condition()
        self._is_stopping = False
        self._membership = Membership.JOINING
        self._rebalances = RebalanceMetrics(worker.metrics, lambda: self.leader_url or "", lambda: self.generation)
        self.assignment: Assignment | None = None
        """The newest assignment, which the group may be about to replace."""
        self.generation = -1
        """Of the group, when ``assignment`` was made."""
        self.config_state: ClusterConfigState = EMPTY
        """The snapshot of the config topic with which everything runs here."""

    # ── what requests need to know ────────────────────────────────────────────────────────────────────────────────

    @property
    def membership(self) -> Membership:
        """The state of the worker in its group."""
        return self._membership

    @property
    def is_leader(self) -> bool:
        """Whether this worker may write configurations."""
        return self.assignment is not None and self._member.member_id == self.assignment.leader

    @property
    def leader_url(self) -> str | None:
        """Where the leader is; None before the first assignment."""
        return None if self.assignment is None else self.assignment.leader_url

    @property
    def needs_rebalance(self) -> bool:
        """Whether a rebalance is to be expected, so that leader and owners may soon be other ones."""
        return self._changes.needs_rebalance

    def owner_url(self, owned: str | ConnectorTaskId) -> str | None:
        """As the leader: the worker that runs a connector or task."""
        return self._member.owner_url(owned)

    def submit(self, action: Callable[[], T], delay_ms: float = 0) -> Future[T]:
        """Have the herder's thread make a call. Any thread may ask for it."""
        return self._requests.add(action, self._time.hi_res_ms() + delay_ms)

    def reconfigure_later(self, name: str, delay_ms: float = 0) -> None:
        """Ask a connector for its tasks."""
        self.submit(lambda: self._reconfiguration.reconfigure(name), delay_ms)

    # ── life ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def start(self) -> None:
        """Begin, with the stores started."""
        self._reconfiguration.start()
        self._take_snapshot()

    def stop(self) -> None:
        """Stop all connectors and tasks, leave the group, and refuse all requests."""
        logger.info("Stopping connectors and tasks that are still assigned to this worker.")
        try:
            self._reconfiguration.stop()
            self.work.stop(self._worker.connector_names, self._worker.task_ids)
            self._member.stop()
        finally:
            self._transition_to(Membership.STOPPED)
            self._requests.close()

    def abandon(self) -> None:
        """Leave everything as it is, like a killed process, and refuse all requests: for tests."""
        self._requests.close()
        self._reconfiguration.stop()
        self._member.abandon()

    def wake_up(self) -> None:
        """End the waits of the current turn and of those to come, since the thread is to stop."""
        with self._stopping:
            self._is_stopping = True
            self._stopping.notify_all()
        self._member.wakeup()

    # ── one turn ──────────────────────────────────────────────────────────────────────────────────────────────────

    def tick(self) -> None:
        """One turn. Raises errors after which the worker cannot continue."""
        try:
            if not self._be_active():
                return
        except WakeupError:
            return  # to stop; or a request has come, which has to wait until the worker is in the group
        self._run_requests()
        self._carry_out_restarts()
        if not self._apply_changes():
            return
        try:
            self._member.poll(self._requests.time_to_next_ms(self._time.hi_res_ms()))
            self._resolve_assignment()
        except WakeupError:
            pass  # there is something to do

    def _be_active(self) -> bool:
        """Join the group and start the work, if needed. False if that has to be tried again."""
        if self._membership is Membership.UNSYNCED:
            # To join, and to leave again at once, would cost all others two rebalances.
            if not self._read_config_to_end():
                return False
            self._transition_to(Membership.JOINING)
        self._member.ensure_active()
        return self._resolve_assignment()

    def _run_requests(self) -> None:
        now_ms = self._time.hi_res_ms()
        while (request := self._requests.take_due(now_ms)) is not None:
            request.run()

    def _carry_out_restarts(self) -> None:
        for request in self._changes.take_restarts():
            if self.assignment is not None:
                self._restarts.carry_out(request, self.assignment)

    def _apply_changes(self) -> bool:
        """Act on what was read from the config topic. False if the worker has to join again first."""
        changes = self._changes.take()
        if not changes:
            return True
        before, self.config_state = self.config_state, self._configs.snapshot()
        own = () if self.assignment is None else self.assignment.connectors
        reaction = react(changes, before, self.config_state, own)
        if reaction.rebalance:
            self._member.request_rejoin("connectors or tasks have changed")
            return False
        for name in (*reaction.stop, *reaction.restart):
            logger.info("Handling connector-only config update of connector %s", name)
            self._worker.stop_connector(name)
        for name in reaction.restart:
            self.work.start_or_report(name)
        for name, state in reaction.target_states.items():
            self._worker.set_target_state(name, state)
            if state is TargetState.STARTED:  # its configuration may have changed while it was paused
                self._reconfiguration.reconfigure(name)
        return True

    # ── rebalances ────────────────────────────────────────────────────────────────────────────────────────────────

    def on_revoked(self, assignment: Assignment) -> None:
        """A rebalance begins: stop everything, unless it was not started. The leader remains the one that writes."""
        logger.info("Rebalance started")
        self._rebalances.begin()
        was_active = self._membership is Membership.ACTIVE
        self._transition_to(Membership.JOINING)
        if was_active:
            self.work.stop(assignment.connectors, assignment.tasks)
            self._statuses.flush()  # or they might overwrite what the next owners write
            logger.info("Finished stopping tasks in preparation for rebalance")

    def on_assigned(self, assignment: Assignment, generation: int) -> None:
        """A rebalance has ended. The rest is done once the poll has returned: it may take long, or fail."""
        logger.info("Joined group and got assignment: %s", assignment)
        self._transition_to(Membership.ASSIGNED)
        self.assignment, self.generation = assignment, generation
        if self.is_leader:
            self._remove_outdated_statuses()

    def _remove_outdated_statuses(self) -> None:
        """Now, because the former generation has written UNASSIGNED as it stopped their tasks."""
        configs = self._configs.snapshot()
        for connector in sorted(self._statuses.connectors()):
            if connector not in configs:
                logger.debug("Cleaning status information for connector %s", connector)
                self._remove_statuses(connector)
            elif configs.target_state(connector) is TargetState.STOPPED:
                self._remove_task_statuses(connector)

    def _resolve_assignment(self) -> bool:
        """Catch up with the config topic, and start the work. False if the worker has to join again."""
        if self._membership is not Membership.ASSIGNED or self.assignment is None:
            return True
        assignment = self.assignment
        if self.config_state.offset < assignment.offset:
            self._take_snapshot()  # this may be sufficient
        if must_read_to_end(assignment, self.config_state.offset, self.is_leader) and not self._read_config_to_end():
            self._transition_to(Membership.UNSYNCED)
            return False
        if not may_start(assignment, self.config_state.offset):
            self._member.request_rejoin(
                f"its config offset is {self.config_state.offset}, that of the assignment {assignment.offset}"
            )
            self._transition_to(Membership.JOINING)
            return False
        self.work.start(assignment)
        self._transition_to(Membership.ACTIVE)
        self._rebalances.end()
        return True

    def _take_snapshot(self) -> None:
        """Changes that were reported before are in the snapshot, and so in what is started with it."""
        self._changes.take()
        self.config_state = self._configs.snapshot()

    def _read_config_to_end(self) -> bool:
        """Read the config topic. If that takes too long, leave the group for a while and return False."""
        try:
            self._configs.refresh(self._config["worker.sync.timeout.ms"])
        except TimeoutError as error:
            logger.warning("Didn't reach end of config log quickly enough: %s", error)
            self._member.maybe_leave_group("it cannot read the config topic")
            self._back_off(self._config["worker.unsync.backoff.ms"])
            return False
        self._take_snapshot()
        logger.info("Finished reading to end of log, new config log offset: %d", self.config_state.offset)
        return True

    def _back_off(self, ms: float) -> None:
        with self._stopping:
            if not self._is_stopping:
                self._time.wait(self._stopping, ms)

    def _transition_to(self, new: Membership) -> None:
        if self._membership not in VALID_PREVIOUS_STATES[new]:
            raise RuntimeError(f"worker {self._worker.id}: from {self._membership.name} to {new.name}")
        self._membership = new
