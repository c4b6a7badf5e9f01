"""The mirrored topics beside those of the source."""

from __future__ import annotations

import pytest

from kafka_lite.mirror.ureplicator.controller.source_kafka_cluster_validation_manager import (
    SourceKafkaClusterValidationManager,
    compare_with_source,
)
from tests.support.ureplicator import FakeMirror, FakeTopics, owners

MIRRORED = {"same": 2, "grown": 2, "shrunk": 9, "gone": 1}
SOURCE = {"same": 2, "grown": 5, "shrunk": 8, "other": 1}


@pytest.mark.parametrize(
    ("expand", "mismatched", "to_expand"),
    [(False, {"grown": 3, "shrunk": 1}, {}), (True, {"shrunk": 1}, {"grown": 5})],
)
def test_only_growth_is_followed(expand: bool, mismatched: dict[str, int], to_expand: dict[str, int]) -> None:
    found = compare_with_source(MIRRORED, SOURCE, expand=expand)
    assert (found.missing, found.mismatched, found.to_expand) == (("gone",), mismatched, to_expand)
    assert found.to_json() == {
        "numMissingTopics": 1,
        "numMismatchedTopics": len(mismatched),
        "numMismatchedTopicPartitions": sum(mismatched.values()),
        "mismatchedTopicPartitions": mismatched,
    }


def test_the_leader_validates_every_ten_minutes(mirror: FakeMirror, caplog: pytest.LogCaptureFixture) -> None:
    manager = mirror.start_controller().manager
    mirror.start_worker("w1")
    for topic, number in {"gone": 1, "grown": 1}.items():
        manager.add_topic_to_mirror_maker(topic, number)
    source = mirror.observe(FakeTopics(grown=3))
    SourceKafkaClusterValidationManager(source, manager, mirror.scheduler, expand=True).start()
    mirror.pass_s(120)
    assert "Topic gone is not in source kafka broker!" in caplog.text
    assert owners(manager) == {"gone": "1", "grown": "111"}


def test_a_follower_validates_only_if_it_is_asked(mirror: FakeMirror) -> None:
    mirror.start_controller("leader")
    follower = mirror.start_controller("follower").manager
    follower.add_topic_to_mirror_maker("grown", 1)
    source = mirror.observe(FakeTopics(grown=3))
    validator = SourceKafkaClusterValidationManager(source, follower, mirror.scheduler, expand=True)
    validator.run()
    assert owners(follower) == {"grown": "-"}
    assert validator.validate_source_kafka_cluster()["numMismatchedTopics"] == 0
    assert owners(follower) == {"grown": "---"}
