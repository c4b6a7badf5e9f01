"""What is mirrored without being told."""

from __future__ import annotations

import logging

import pytest

from kafka_lite.mirror.ureplicator.controller.auto_topic_whitelisting_manager import (
    AutoTopicWhitelistingManager,
    Whitelisting,
    candidate_topics,
)
from tests.support.ureplicator import UR, FakeMirror, FakeTopics, owners

SOURCE = {"both": 2, "only-source": 1, "grown": 8, "shrunk": 1, "same": 4, "black": 3, "test.a": 1}
MIRRORED = {"grown": 4, "shrunk": 2, "same": 4, "gone": 1}


@pytest.mark.parametrize(
    ("blacklist", "pattern", "expected"),
    [
        ([], "", {"black": 3, "both": 2, "grown": 8, "shrunk": 1, "test.a": 1}),
        (["black", "grown"], "", {"both": 2, "shrunk": 1, "test.a": 1}),
        (["black"], "test.*|shr", {"both": 2, "grown": 8, "shrunk": 1}),
    ],
)
def test_candidates(blacklist: list[str], pattern: str, expected: dict[str, int]) -> None:
    destination = {"both", "black", "test.a", "only-destination"}
    assert candidate_topics(SOURCE, destination, MIRRORED, blacklist, pattern) == expected


def whitelisting(
    mirror: FakeMirror, source: FakeTopics, destination: FakeTopics, **options: str
) -> AutoTopicWhitelistingManager:
    controller = mirror.start_controller()
    mirror.start_worker("w1")
    white = AutoTopicWhitelistingManager(
        mirror.observe(source),
        mirror.observe(destination),
        controller.manager,
        mirror.scheduler,
        Whitelisting(**options, refresh_time_s=600, init_wait_time_s=120),
    )
    white.start()
    return white


def test_topics_of_both_clusters_are_mirrored_after_the_wait(mirror: FakeMirror) -> None:
    source, destination = FakeTopics(t=2, u=1), FakeTopics(t=9)
    whitelisting(mirror, source, destination)
    manager = mirror.controllers[0].manager
    mirror.pass_s(119)
    assert manager.topics() == []
    mirror.pass_s(1)
    assert owners(manager) == {"t": "11"}
    destination.create("u", 1)
    mirror.pass_s(600)
    assert owners(manager) == {"t": "11", "u": "1"}


def test_a_grown_topic_is_expanded_and_a_shrunk_one_is_left(
    mirror: FakeMirror, caplog: pytest.LogCaptureFixture
) -> None:
    whitelisting(mirror, FakeTopics(grown=3, shrunk=1), FakeTopics())
    manager = mirror.controllers[0].manager
    manager.add_topic_to_mirror_maker("grown", 2)
    manager.add_topic_to_mirror_maker("shrunk", 2)
    with caplog.at_level(logging.WARNING):
        mirror.pass_s(120)
    assert owners(manager) == {"grown": "111", "shrunk": "11"}
    assert "shrunk has 1 partitions in the source, but is mirrored with 2" in caplog.text


def test_the_blacklist_outlives_a_controller(mirror: FakeMirror) -> None:
    white = whitelisting(mirror, FakeTopics(t=1), FakeTopics(t=1))
    white.add_into_blacklist("t")
    white.add_into_blacklist("t")
    mirror.pass_s(120)
    manager = mirror.controllers[0].manager
    assert manager.topics() == []
    assert manager.accessor.children(f"{UR.root}/BLACKLISTED_TOPICS") == ["t"]
    white.remove_from_blacklist("t")
    white.remove_from_blacklist("t")
    mirror.pass_s(600)
    assert manager.topics() == ["t"]


def test_a_topic_that_is_deleted_meanwhile_hinders_no_other(
    mirror: FakeMirror, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    whitelisting(mirror, FakeTopics(a=3, b=1), FakeTopics(b=1))
    manager = mirror.controllers[0].manager
    manager.add_topic_to_mirror_maker("a", 2)
    states = manager.ideal_states()
    manager.delete_topic_in_mirror_maker("a")
    monkeypatch.setattr(manager, "ideal_states", lambda: states)  # read before the deletion
    mirror.pass_s(120)
    assert manager.topics() == ["b"]
    assert "a is not mirrored now" in caplog.text


def test_a_follower_mirrors_nothing(mirror: FakeMirror) -> None:
    mirror.start_controller("leader")
    follower = mirror.start_controller("follower")
    both = FakeTopics(t=1)
    AutoTopicWhitelistingManager(
        mirror.observe(both), mirror.observe(both), follower.manager, mirror.scheduler, Whitelisting()
    ).run()
    assert follower.manager.topics() == []
