"""Counts of what should be mirrored, and what is."""

from __future__ import annotations

import pytest

from kafka_lite.mirror.helix.writes import Put
from kafka_lite.mirror.helix.zn_record import ZNRecord
from kafka_lite.mirror.ureplicator.controller.ideal_state_builder import ideal_state_of
from kafka_lite.mirror.ureplicator.controller.validation_manager import ValidationManager, validation
from tests.support.ureplicator import UR, FakeMirror

T = ideal_state_of("t", {"0": {"w1": "ONLINE"}, "1": {"w2": "ONLINE"}, "2": {"w1": "ONLINE"}}, 3)
U = ideal_state_of("u", {"0": {"w2": "ONLINE"}}, 2)
T_VIEW = ZNRecord("t", map_fields={"0": {"w1": "ONLINE"}, "1": {"w2": "ERROR", "w1": "OFFLINE"}, "2": {"w1": "online"}})


def test_the_counts_of_two_topics() -> None:
    assert validation({"t": T, "u": U}, {"t": T_VIEW, "gone": T_VIEW}) == {
        "numTopics": 2,
        "numTopicPartitions": 5,
        "numOnlineTopicPartitions": 2,
        "numOfflineTopicPartitions": 1,
        "numErrorTopicPartitions": 1,
        "numErrorTopics": 1,
        "IdealState": {"w1": 2, "w2": 2},
        "ExternalView": {"w1": 3, "w2": 1},
    }


def test_nothing_is_mirrored() -> None:
    counts = validation({}, {})
    assert (counts["numTopics"], counts["IdealState"], counts["ExternalView"]) == (0, {}, {})


def test_the_leader_logs_topics_that_are_not_as_they_should_be(
    mirror: FakeMirror, caplog: pytest.LogCaptureFixture
) -> None:
    manager = mirror.start_controller().manager
    mirror.start_worker("w1")
    manager.add_topic_to_mirror_maker("t", 2)
    validator = ValidationManager(manager, mirror.scheduler)
    validator.start()
    mirror.pass_s(119)
    assert not caplog.records
    mirror.pass_s(1)
    assert "For topic:t, number of partitions for IdealState doesn't match ExternalView" in caplog.text
    view = ZNRecord("t", map_fields={str(number): {"w1": "ONLINE"} for number in range(2)})
    manager.accessor.apply([Put(UR.external_view("t"), view)])
    caplog.clear()
    mirror.pass_s(60)
    assert not caplog.records
    assert validator.validate_external_view()["numOnlineTopicPartitions"] == 2


def test_a_follower_logs_nothing(mirror: FakeMirror, caplog: pytest.LogCaptureFixture) -> None:
    mirror.start_controller("leader")
    follower = mirror.start_controller("follower").manager
    follower.add_topic_to_mirror_maker("t", 2)
    ValidationManager(follower, mirror.scheduler).run()
    assert not caplog.records
