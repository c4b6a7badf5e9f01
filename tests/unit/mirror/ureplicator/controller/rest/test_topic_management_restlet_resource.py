"""Requests about topics."""

from __future__ import annotations

import json

import pytest

from kafka_lite.mirror.helix.helix_errors import HelixError
from kafka_lite.mirror.ureplicator.controller.helix_mirror_maker_manager import HelixMirrorMakerManager
from tests.support.ureplicator import FakeMirror
from tests.support.ureplicator_rest import RestInterface, topic


def test_a_topic_as_it_should_be_and_as_it_is(plain: RestInterface) -> None:
    plain.ask("POST", "/topics", topic("t", "3"))
    plain.online("t", p0="w1", p1="w2")
    status, text = plain.ask("GET", "/topics/t")
    assert (status, json.loads(text)) == (
        200,
        {
            "topic": "t",
            "externalView": {"0": ["w1"], "1": ["w2"]},
            "idealState": {"0": ["w1"], "1": ["w2"], "2": ["w1"]},
            "serverToPartitionMapping": {"w1": ["0"], "w2": ["1"]},
            "serverToNumPartitionsMapping": {"w1": 1, "w2": 1},
        },
    )


def test_a_topic_with_the_partitions_of_the_source(full: RestInterface, mirror: FakeMirror) -> None:
    assert full.ask("POST", "/topics/src") == (200, "Successfully add new topic: {topic: src, partition: 3}")
    assert full.ask("POST", "/topics/none") == (
        200,
        "Failed to add new topic: none, it's not exsited in source kafka cluster!",
    )
    body = topic("other", 1)
    assert full.ask("POST", "/topics/src", body) == (200, "Successfully add new topic: {topic: other, partition: 1}")


def test_without_the_source_a_topic_needs_its_number(plain: RestInterface) -> None:
    status, text = plain.ask("POST", "/topics/src")
    assert status == 400
    assert "-enableSrcKafkaValidation" in text


def test_deleted_topics_are_blacklisted_until_they_are_asked_for(full: RestInterface) -> None:
    assert full.whitelisting is not None
    full.ask("POST", "/topics", topic("t", "2"))
    full.ask("DELETE", "/topics/t")
    full.ask("DELETE", "/topics/never")
    full.ask("DELETE", "/topics/no%2Fname")
    assert full.whitelisting.blacklisted() == ["never", "t"]
    full.ask("POST", "/topics", topic("t", "2"))
    full.ask("PUT", "/topics", topic("never", "2"))
    assert full.whitelisting.blacklisted() == []


@pytest.mark.parametrize(("method", "what"), [("POST", "Failed to add new topic"), ("PUT", "Failed to expand topic")])
def test_a_body_that_says_too_little_is_a_bad_request(plain: RestInterface, method: str, what: str) -> None:
    expected = f"{what}, with exception: Cannot initialize TopicPartitionInfo, missing field: numPartitions"
    assert plain.ask(method, "/topics", '{"topic":"t"}') == (400, expected)
    assert plain.manager.topics() == []


def test_fewer_partitions_are_a_bad_request(plain: RestInterface) -> None:
    plain.ask("POST", "/topics", topic("t", "4"))
    status, text = plain.ask("PUT", "/topics", topic("t", "3"))
    assert status == 400
    assert text.endswith("topic: t is mirrored with 4 partitions, 3 are fewer")


@pytest.mark.parametrize(
    ("method", "operation", "text"),
    [
        ("GET", "ideal_state", "Failed to get ExternalView for topic: t, with exception: broken"),
        ("POST", "is_topic_existed", "Failed to add new topic, with exception: broken"),
        ("PUT", "is_topic_existed", "Failed to expand topic, with exception: broken"),
        ("DELETE", "delete_topic_in_mirror_maker", "Failed to delete topic: t, with exception: broken"),
    ],
)
def test_an_error_of_helix_is_told(
    plain: RestInterface, monkeypatch: pytest.MonkeyPatch, method: str, operation: str, text: str
) -> None:
    plain.ask("POST", "/topics", topic("t", "1"))

    def fail(*_arguments: object) -> None:
        raise HelixError("broken")

    monkeypatch.setattr(HelixMirrorMakerManager, operation, fail)
    assert plain.ask(method, "/topics/t", topic("t", "2")) == (500, text)
