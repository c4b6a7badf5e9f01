"""The worker's side of the group protocol: joins with its config offset, and as the leader deals out the work.

Kafka 0.10.2: connect/runtime/.../connect/runtime/distributed/WorkerCoordinator.java · book 8.3.4
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.distributed.connect_protocol import (
    Assignment,
    WorkerState,
    deserialize_assignment,
    deserialize_metadata,
    serialize_assignment,
    serialize_metadata,
)
from kafka_lite.connect.runtime.distributed.worker_assignment import GroupAssignment, assign, max_config_offset
from kafka_lite.connect.runtime.distributed.worker_rebalance_listener import WorkerRebalanceListener
from kafka_lite.connect.runtime.storage.cluster_config_state import EMPTY
from kafka_lite.connect.runtime.storage.config_backing_store import ConfigBackingStore
from kafka_lite.consumer.consumer_network_client import ConsumerNetworkClient
from kafka_lite.consumer.generation import Generation
from kafka_lite.consumer.group.abstract_coordinator import AbstractCoordinator
from kafka_lite.consumer.group.consumer_coordinator_metrics import GroupCoordinatorMetrics
from kafka_lite.consumer.group.group_rebalance_config import GroupRebalanceConfig
from kafka_lite.consumer.timer import Timer, unlimited
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.sensor import Measurable
from kafka_lite.protocol.messages.api_11_join_group import JoinGroupRequestProtocol, JoinGroupResponseMember

logger = logging.getLogger(__name__)

PROTOCOL_TYPE = "connect"
DEFAULT_SUBPROTOCOL = "default"
METRICS_GROUP = "connect-coordinator-metrics"


class WorkerCoordinator(AbstractCoordinator):
    """A member of the group of workers.

    ::

        every member   JoinGroup   default: URL, offset of the config topic
        leader         SyncGroup   connectors and tasks of each member   (worker_assignment)
        every member   on_revoked before a join, on_assigned after it    (the herder)

    A worker whose snapshot is older than the assignment is a member all the same. It is the herder that catches up,
    or leaves.
    """

    def __init__(
        self,
        config: GroupRebalanceConfig,
        client: ConsumerNetworkClient,
        metrics: Metrics,
        rest_url: str,
        configs: ConfigBackingStore,
        listener: WorkerRebalanceListener,
        *,
        time: Time = SYSTEM_TIME,
    ) -> None:
        self._rest_url = rest_url
        self._configs = configs
        self._listener = listener
        self._assignment: Assignment | None = None
        self._config_snapshot = EMPTY
        self._group: GroupAssignment | None = None
        """As the leader: which worker runs what."""
        super().__init__(config, client, metrics, time=time)
        self._add_gauges(metrics)

    def _add_gauges(self, metrics: Metrics) -> None:
        for kind, read in (("connectors", self._connector_count), ("tasks", self._task_count)):
            description = f"The number of {kind} that this worker is to run"
            metrics.add_metric(
                metrics.metric_name(f"assigned-{kind}", METRICS_GROUP, description),
                _gauge(read),
            )

    def _connector_count(self) -> int:
        return 0 if self._assignment is None else len(self._assignment.connectors)

    def _task_count(self) -> int:
        return 0 if self._assignment is None else len(self._assignment.tasks)

    def poll(self, timeout_ms: float) -> None:
        """Join if needed, however long that takes, then serve the network until ``timeout_ms`` have passed.

        Returns at once after a join, for the herder to act. Raises WakeupError after ``wakeup``, and fatal errors.
        """
        timer = Timer(self._time, timeout_ms)
        while True:
            if self.finder.is_unknown:
                self.finder.ensure_ready(unlimited(self._time))
            if self.rejoin_needed_or_pending():
                self.ensure_active_group(unlimited(self._time))
                return
            self.poll_heartbeat(timer.update())
            self._client.poll(timer.part(self.time_to_next_heartbeat_ms(timer.now_ms)))
            timer.update()
            if timer.is_expired:
                return

    # ── AbstractCoordinator ───────────────────────────────────────────────────────────────────────────────────────

    @property
    def protocol_type(self) -> str:
        """The protocol type of workers."""
        return PROTOCOL_TYPE

    def assigned_partition_count(self) -> int:
        """The number of assigned connectors and tasks."""
        return self._connector_count() + self._task_count()

    def new_sensors(self, metrics: Metrics, last_heartbeat_ms: Callable[[], float]) -> GroupCoordinatorMetrics:
        """Create the metrics of the membership."""
        return GroupCoordinatorMetrics(metrics, METRICS_GROUP, last_heartbeat_ms)

    def protocols(self) -> list[JoinGroupRequestProtocol]:
        """One protocol, with the worker's URL and how far it has read the config topic."""
        self._config_snapshot = self._configs.snapshot()
        metadata = serialize_metadata(WorkerState(self._rest_url, self._config_snapshot.offset))
        return [JoinGroupRequestProtocol(name=DEFAULT_SUBPROTOCOL, metadata=metadata)]

    def is_ready_to_join(self, timer: Timer) -> bool:  # noqa: ARG002
        """There is nothing to prepare: tasks commit their offsets as they are stopped."""
        return True

    def on_join_prepare(self, generation: Generation) -> None:  # noqa: ARG002
        """Have the herder stop what the last assignment has started."""
        self._group = None
        if self._assignment is not None and not self._assignment.failed:
            logger.debug("Revoking previous assignment %s", self._assignment)
            self._listener.on_revoked(self._assignment)

    def perform_assignment(
        self, leader_id: str, protocol_name: str, members: Sequence[JoinGroupResponseMember]
    ) -> Mapping[str, bytes]:
        """As the leader: deal out all connectors and tasks."""
        logger.debug("Performing task assignment with protocol %s", protocol_name)
        states = {member.member_id: deserialize_metadata(member.metadata) for member in members}
        if self._config_snapshot.offset < max_config_offset(states):
            # Perhaps the missing records have arrived since JoinGroup was sent, which saves a round.
            self._config_snapshot = self._configs.snapshot()
        self._group = assign(leader_id, states, self._config_snapshot)
        return {member: serialize_assignment(each) for member, each in self._group.by_member.items()}

    def on_join_complete(self, generation: Generation, assignment: bytes) -> None:
        """Tell the herder, which decides whether the assignment can be used."""
        self._assignment = deserialize_assignment(assignment)
        self._listener.on_assigned(self._assignment, generation.generation_id)

    def on_leave_prepare(self) -> None:
        """There is nothing to give up: the herder has stopped everything."""

    # ── for the herder ────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def member_id(self) -> str:
        """The id in the group; empty if the worker is no member."""
        return self.generation.member_id

    def owner_url(self, owned: str | ConnectorTaskId) -> str | None:
        """The URL of the worker that runs a connector (by name) or a task. Known to the leader only, while the group is
        stable."""
        if self._group is None or self.rejoin_needed():
            return None
        return self._group.owner_url(owned)


def _gauge(read: Callable[[], int]) -> Measurable:
    return lambda _config, _now_ms: float(read())
