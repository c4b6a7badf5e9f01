"""The controller: stands for election, and as the leader runs the pipeline after each change of its cluster.

Helix 0.6.9: helix-core/.../controller/GenericHelixController.java,
helix-core/.../manager/zk/DistributedLeaderElection.java (DistributedLeaderElection) · book 8.2.2
"""

from __future__ import annotations

import logging
import uuid
from enum import Enum

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.mirror.helix.manager.cluster_watches import ClusterWatches, wanted_watches
from kafka_lite.mirror.helix.manager.event_thread import EventThread
from kafka_lite.mirror.helix.manager.history import controller_history
from kafka_lite.mirror.helix.manager.zk_helix_data_accessor import ZKHelixDataAccessor
from kafka_lite.mirror.helix.model.built_in_state_models import BUILT_IN_STATE_MODELS
from kafka_lite.mirror.helix.model.live_instance import LiveInstance
from kafka_lite.mirror.helix.pipeline import ClusterEvent, run_pipeline
from kafka_lite.mirror.helix.stages.cluster_data import ClusterData
from kafka_lite.mirror.helix.stages.message_generation import MessageSource
from kafka_lite.mirror.helix.writes import Put

logger = logging.getLogger(__name__)


class Election(Enum):
    """Events that concern the leadership rather than the cluster."""

    LEADER_CHANGE = "leaderChange"
    NEW_SESSION = "newSession"


class GenericHelixController:
    """One controller of a cluster. Several may run; one of them is the leader, and the others wait for its end.

    All work is done in one thread: the election, reading, the pipeline, and its writes. Watches only enter events.
    """

    def __init__(self, accessor: ZKHelixDataAccessor, name: str, process: str = "", time: Time = SYSTEM_TIME) -> None:
        self._accessor = accessor
        self._paths = accessor.paths
        self._name = name
        self._process = process
        self._time = time
        self._thread: EventThread[ClusterEvent | Election] = EventThread(f"HelixController-{name}", self._handle)
        self._watches = ClusterWatches(accessor, self._thread.put)
        self.is_leader = False

    def start(self) -> None:
        """Stand for election, and go to work once elected."""
        zk = self._accessor.zk
        zk.add_session_listener(lambda: self._thread.put(Election.NEW_SESSION))
        zk.watch_data(self._paths.leader, lambda: self._thread.put(Election.LEADER_CHANGE))
        self._thread.put(Election.LEADER_CHANGE)
        self._thread.start()

    def shutdown(self) -> None:
        """Stop. Closing the session then ends the leadership."""
        self._thread.shutdown()

    def _handle(self, event: ClusterEvent | Election) -> None:
        if isinstance(event, ClusterEvent):
            if self.is_leader:
                self._run_pipeline(event)
            return
        if event is Election.NEW_SESSION:
            self._resign()
        if not self.is_leader:
            self._stand_for_election()

    def _stand_for_election(self) -> None:
        record = LiveInstance.of(self._name, self._accessor.session, self._process).record
        if not self._accessor.create_ephemeral(self._paths.leader, record):
            return
        logger.info("%s is the leader of %s", self._name, self._paths.cluster)
        self.is_leader = True
        history = self._accessor.get(self._paths.controller_history)
        entered = controller_history(history, self._paths.cluster, self._name, self._time.milliseconds())
        self._accessor.apply(
            [
                Put(self._paths.controller_history, entered),
                # A real controller overwrites the state models of these names, too.
                *(Put(self._paths.state_model(each.name), each.to_record()) for each in BUILT_IN_STATE_MODELS.values()),
            ]
        )
        self._run_pipeline(ClusterEvent.LIVE_INSTANCE_CHANGE)

    def _resign(self) -> None:
        """The session has gone, and with it the leadership."""
        self.is_leader = False
        self._watches.remove_all()

    def _run_pipeline(self, event: ClusterEvent) -> None:
        """Read the cluster, watch it, and make the writes that follow.

        Watches come before the writes that follow from what was read. Whatever changes in between enters an event.
        """
        data = ClusterData.read(self._accessor, self._paths)
        while self._watches.update(wanted_watches(data, self._paths)):
            data = ClusterData.read(self._accessor, self._paths)
        now_ms, session = self._time.milliseconds(), self._accessor.session
        source = MessageSource(self._name, session, event.value, now_ms, lambda: str(uuid.uuid4()))
        paused = self._accessor.zk.exists(self._paths.pause) is not None
        self._accessor.apply(run_pipeline(event, data, source, self._paths, paused=paused))
