"""A controller watches what its cluster consists of now, and nothing else."""

from __future__ import annotations

from kafka_lite.mirror.helix.manager.cluster_watches import CHILDREN, DATA, ClusterWatches, wanted_watches
from kafka_lite.mirror.helix.manager.zk_helix_data_accessor import ZKHelixDataAccessor
from kafka_lite.mirror.helix.model.current_state import CurrentState
from kafka_lite.mirror.helix.model.live_instance import LiveInstance
from kafka_lite.mirror.helix.pipeline import ClusterEvent
from kafka_lite.mirror.helix.stages.cluster_data import ClusterData
from kafka_lite.mirror.helix.zn_record import ZNRecord
from tests.support.helix_zookeeper import PATHS, FakeSession, SharedTree

LIVE = ClusterData(
    live_instances={"w1": LiveInstance.of("w1", "s1", "1@here")},
    current_states={"w1": {"t": CurrentState(ZNRecord("t"))}},
)


def test_the_watches_of_a_live_instance_and_their_events() -> None:
    wanted = wanted_watches(LIVE, PATHS)
    assert wanted[CHILDREN, PATHS.messages("w1")] is ClusterEvent.MESSAGE_CHANGE
    assert wanted[CHILDREN, PATHS.current_states("w1", "s1")] is ClusterEvent.CURRENT_STATE_CHANGE
    assert wanted[DATA, PATHS.current_state("w1", "s1", "t")] is ClusterEvent.CURRENT_STATE_CHANGE
    assert wanted[DATA, PATHS.pause] is ClusterEvent.RESUME
    assert len(wanted) - len(wanted_watches(ClusterData(), PATHS)) == 4


def test_watches_follow_the_cluster() -> None:
    tree = SharedTree()
    session: object = FakeSession(tree)
    accessor = ZKHelixDataAccessor(session, PATHS)  # type: ignore[arg-type]
    accessor.zk.ensure_paths([*PATHS.setup_paths, PATHS.messages("w1")])
    events: list[ClusterEvent] = []
    watches = ClusterWatches(accessor, events.append)
    assert watches.update(wanted_watches(LIVE, PATHS))
    assert not watches.update(wanted_watches(LIVE, PATHS)), "nothing is set twice"
    accessor.zk.create_recursive(f"{PATHS.messages('w1')}/m1")
    assert events == [ClusterEvent.MESSAGE_CHANGE]
    accessor.zk.ensure_path(PATHS.current_states("w1", "s1"))
    assert watches.update(wanted_watches(LIVE, PATHS)), "the parent of the current states is there now"
    watches.update(wanted_watches(ClusterData(), PATHS))
    del events[:]
    accessor.zk.create_recursive(f"{PATHS.messages('w1')}/m2")
    assert events == []
    watches.remove_all()
    accessor.zk.create_recursive(PATHS.live_instance("w1"))
    assert events == []
