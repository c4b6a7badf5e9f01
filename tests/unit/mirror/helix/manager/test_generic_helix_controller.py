"""Controllers and participants on a ZooKeeper in memory: the course of the samples, and two controllers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_lite.mirror.helix.helix_errors import HelixError
from kafka_lite.mirror.helix.model.ideal_state import IdealState, RebalanceMode
from tests.support.eventually import eventually
from tests.support.helix_samples import record as sample
from tests.support.helix_zookeeper import PATHS, HelixOnZooKeeper, helix_in_memory

ONLINE, OFFLINE, ERROR = "ONLINE", "OFFLINE", "ERROR"


def plan(*instances: str, resource: str = "t") -> IdealState:
    """Partitions 0, 1, … on these instances."""
    assignment = {str(number): {instance: ONLINE} for number, instance in enumerate(instances)}
    return IdealState.customized(resource, "OnlineOffline", assignment)


def on(*instances: str) -> dict[str, dict[str, str]]:
    return {str(number): {instance: ONLINE} for number, instance in enumerate(instances)}


@pytest.fixture
def helix() -> Iterator[HelixOnZooKeeper]:
    with helix_in_memory() as cluster:
        cluster.start_controller("controller1")
        for name in ("w1", "w2"):
            cluster.start_participant(name)
        yield cluster


def test_the_course_of_the_samples_ends_in_the_same_views(helix: HelixOnZooKeeper) -> None:
    helix.admin.add_resource(plan("w1", "w2", "w1", "w2"))
    helix.await_view(on("w1", "w2", "w1", "w2"))
    found = helix.record(PATHS.external_view("t"))
    assert found is not None
    assert found.simple_fields == sample("resource t, 4 partitions CUSTOMIZED", "EXTERNALVIEW/t", -1).simple_fields
    helix.admin.add_resource(plan("w1", "w2", "w1", "w2", "w1"))
    helix.await_view(on("w1", "w2", "w1", "w2", "w1"))
    helix.admin.add_resource(plan("w1", "w2", "w1", "w2", "w2"))
    helix.await_view(on("w1", "w2", "w1", "w2", "w2"))


def test_the_partitions_of_a_dead_participant_wait_for_the_plan(helix: HelixOnZooKeeper) -> None:
    helix.admin.add_resource(plan("w1", "w2"))
    helix.await_view(on("w1", "w2"))
    helix.sessions["w2"].end_session()
    helix.await_view({"0": {"w1": ONLINE}})
    helix.admin.add_resource(plan("w1", "w1"))
    helix.await_view(on("w1", "w1"))


def test_a_participant_with_a_new_session_gets_its_partitions_again(helix: HelixOnZooKeeper) -> None:
    helix.admin.add_resource(plan("w1", "w2"))
    helix.await_view(on("w1", "w2"))
    old = f"{helix.sessions['w2'].session_id:x}"
    helix.sessions["w2"].expire()
    new = f"{helix.sessions['w2'].session_id:x}"
    eventually(lambda: helix.accessor.children(PATHS.instance("w2", "CURRENTSTATES")) == [new])
    helix.await_view(on("w1", "w2"))
    assert old != new


def test_a_disabled_instance_goes_off_line_and_comes_back(helix: HelixOnZooKeeper) -> None:
    helix.admin.add_resource(plan("w1", "w2"))
    helix.await_view(on("w1", "w2"))
    helix.admin.enable_instance("w1", enabled=False)
    helix.await_view({"0": {"w1": OFFLINE}, "1": {"w2": ONLINE}})
    helix.admin.enable_instance("w1", enabled=True)
    helix.await_view(on("w1", "w2"))
    with pytest.raises(HelixError, match="w9 is not an instance"):
        helix.admin.enable_instance("w9", enabled=True)


def test_nothing_is_sent_during_a_pause(helix: HelixOnZooKeeper) -> None:
    helix.admin.pause()
    helix.admin.add_resource(plan("w1", "w2"))
    helix.admin.add_resource(plan("w1", resource="other"))
    assert helix.accessor.children(PATHS.messages("w1")) == []
    assert helix.view() == {}
    helix.admin.resume()
    helix.await_view(on("w1", "w2"))
    helix.await_view(on("w1"), "other")


def test_a_failed_transition_stays_in_error_until_it_is_reset(helix: HelixOnZooKeeper) -> None:
    helix.failing["w1"].add("0")
    helix.admin.add_resource(plan("w1", "w2"))
    helix.await_view({"0": {"w1": ERROR}, "1": {"w2": ONLINE}})
    with pytest.raises(HelixError, match="it is not in ERROR"):
        helix.admin.reset_partition("w2", "t", "1")
    helix.failing["w1"].clear()
    helix.admin.reset_partition("w1", "t", "0")
    helix.await_view(on("w1", "w2"))


def test_a_dropped_resource_leaves_no_state_and_no_view(helix: HelixOnZooKeeper) -> None:
    helix.admin.add_resource(plan("w1", "w2"))
    helix.await_view(on("w1", "w2"))
    helix.admin.drop_resource("t")
    session = f"{helix.sessions['w1'].session_id:x}"
    eventually(lambda: helix.accessor.children(PATHS.current_states("w1", session)) == [])
    eventually(lambda: helix.record(PATHS.external_view("t")) is None)


def test_a_standby_is_promoted_when_the_master_dies(helix: HelixOnZooKeeper) -> None:
    lists = {"t_0": ["w1", "w2"], "t_1": ["w2", "w1"]}
    helix.admin.add_resource(IdealState.automatic(RebalanceMode.SEMI_AUTO, "t", "MasterSlave", lists, replicas=2))
    helix.await_view({"t_0": {"w1": "MASTER", "w2": "SLAVE"}, "t_1": {"w1": "SLAVE", "w2": "MASTER"}})
    helix.sessions["w2"].end_session()
    helix.await_view({"t_0": {"w1": "MASTER"}, "t_1": {"w1": "MASTER"}})


def test_another_controller_takes_over_and_touches_nothing_that_runs(helix: HelixOnZooKeeper) -> None:
    second = helix.start_controller("controller2")
    helix.admin.add_resource(plan("w1", "w2"))
    helix.await_view(on("w1", "w2"))
    assert not second.is_leader
    helix.sessions["controller1"].expire()
    eventually(lambda: _leader(helix) is not None)
    helix.admin.add_resource(plan("w1", "w2", "w2"))
    helix.await_view(on("w1", "w2", "w2"))
    history = helix.record(PATHS.controller_history)
    assert history is not None
    assert history.list_fields["C"][0] == "controller1"
    assert len(history.list_fields["C"]) == 2


def _leader(helix: HelixOnZooKeeper) -> str | None:
    record = helix.record(PATHS.leader)
    return None if record is None else record.id
