"""The manager: what its operations write, and that a cluster which is there stays as it is."""

from __future__ import annotations

import pytest

from kafka_lite.mirror.helix.helix_errors import HelixError
from kafka_lite.mirror.helix.writes import Put
from kafka_lite.mirror.ureplicator.controller.controller_errors import FewerPartitionsError, UnknownTopicError
from kafka_lite.mirror.ureplicator.controller.helix_mirror_maker_manager import HelixMirrorMakerManager
from tests.support.eventually import eventually
from tests.support.ureplicator import UR, FakeMirror, owners


@pytest.fixture
def manager(mirror: FakeMirror) -> HelixMirrorMakerManager:
    manager = mirror.start_controller().manager
    for name in ("w1", "w2"):
        mirror.start_worker(name)
    return manager


def test_a_new_cluster_lets_workers_join(manager: HelixMirrorMakerManager) -> None:
    config = manager.accessor.get(UR.cluster_config)
    assert config is not None
    assert config.simple_fields == {"STATE_TRANSITION.maxThreads": "100", "allowParticipantAutoJoin": "true"}
    assert "OnlineOffline" in manager.accessor.children(UR.state_models)


def test_a_cluster_that_is_there_keeps_its_configuration(mirror: FakeMirror, manager: HelixMirrorMakerManager) -> None:
    manager.disable_auto_balancing()
    assert not mirror.start_controller("c2").manager.is_auto_balancing_enabled
    manager.enable_auto_balancing()
    assert manager.is_auto_balancing_enabled


def test_topics_come_grow_and_go(manager: HelixMirrorMakerManager) -> None:
    manager.add_topic_to_mirror_maker("t", 4)
    manager.add_topic_to_mirror_maker("u", 2)
    manager.expand_topic_in_mirror_maker("t", 6)
    assert owners(manager) == {"t": "121212", "u": "12"}
    assert manager.accessor.children(UR.configs("RESOURCE")) == ["t", "u"]
    manager.delete_topic_in_mirror_maker("t")
    assert (manager.topics(), manager.is_topic_existed("t"), manager.is_topic_existed("u")) == (["u"], False, True)
    assert manager.accessor.children(UR.configs("RESOURCE")) == ["u"]


def test_a_topic_that_is_added_or_expanded_writes_no_other_one(
    mirror: FakeMirror, manager: HelixMirrorMakerManager
) -> None:
    manager.add_topic_to_mirror_maker("t", 40)
    before = len(mirror.tree.writes)
    manager.add_topic_to_mirror_maker("u", 3)
    manager.expand_topic_in_mirror_maker("u", 5)
    assert not [each for each in mirror.tree.writes[before:] if "/IDEALSTATES/t" in each]


def test_fewer_partitions_are_refused(manager: HelixMirrorMakerManager) -> None:
    manager.add_topic_to_mirror_maker("t", 4)
    with pytest.raises(FewerPartitionsError, match="t is mirrored with 4 partitions, 3 are fewer"):
        manager.expand_topic_in_mirror_maker("t", 3)
    assert owners(manager) == {"t": "1212"}
    with pytest.raises(UnknownTopicError, match="u is not mirrored"):
        manager.expand_topic_in_mirror_maker("u", 3)


def test_an_ideal_state_that_cannot_be_read_hinders_no_other(manager: HelixMirrorMakerManager) -> None:
    manager.add_topic_to_mirror_maker("t", 2)
    manager.accessor.zk.create_recursive(UR.ideal_state("bad"), b'{"color": 1}')
    manager.add_topic_to_mirror_maker("u", 2)
    assert owners(manager) == {"t": "12", "u": "12"}
    with pytest.raises(HelixError, match="unknown properties color"):
        manager.ideal_state("bad")


def test_the_external_view_is_empty_until_helix_writes_one(manager: HelixMirrorMakerManager) -> None:
    assert manager.external_view("t").map_fields == {}
    view = manager.external_view("t").with_map("0", {"w1": "ONLINE"})
    manager.accessor.apply([Put(UR.external_view("t"), view)])
    assert manager.external_views() == {"t": view}


def test_new_partitions_are_asked_of_their_workers_by_helix(
    mirror: FakeMirror, manager: HelixMirrorMakerManager
) -> None:
    manager.accessor.zk.ensure_path(UR.messages("w1"))
    manager.add_topic_to_mirror_maker("t", 1)
    eventually(lambda: manager.accessor.children(UR.messages("w1")))


def test_one_of_two_controllers_leads_and_the_other_follows_it(mirror: FakeMirror) -> None:
    first, second = mirror.start_controller("c1"), mirror.start_controller("c2")
    assert (first.manager.is_leader, second.manager.is_leader) == (True, False)
    first.die()
    eventually(lambda: second.manager.is_leader)
    assert not first.manager.is_leader
