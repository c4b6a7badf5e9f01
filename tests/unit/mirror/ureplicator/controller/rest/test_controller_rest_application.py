"""Each request of uReplicator's interface, and its answer: status and text as in its source."""

from __future__ import annotations

import json

import pytest

from tests.support.ureplicator_rest import RestInterface, topic

COURSE = [
    ("GET", "/topics", "", 200, "No topic is added in MirrorMaker Controller!"),
    ("GET", "/topics/t", "", 404, "Failed to get ExternalView for topic: t, it is not existed!"),
    ("POST", "/topics", topic("t", "2"), 200, "Successfully add new topic: {topic: t, partition: 2}"),
    ("POST", "/topics", topic("t", "2"), 404, "Failed to add new topic: t, it is already existed!"),
    ("POST", "/topics/", topic("a", 1), 200, "Successfully add new topic: {topic: a, partition: 1}"),
    ("GET", "/topics/", "", 200, "Current serving topics: [a, t]"),
    ("PUT", "/topics", topic("t", "4"), 200, "Successfully expand topic: {topic: t, partition: 4}"),
    ("PUT", "/topics/t/", topic("t", "4"), 200, "Successfully expand topic: {topic: t, partition: 4}"),
    ("PUT", "/topics", topic("u", "4"), 404, "Failed to expand topic, topic: u is not existed!"),
    ("DELETE", "/topics/a", "", 200, "Successfully finished delete topic: a"),
    ("DELETE", "/topics/a", "", 404, "Failed to delete not existed topic: a"),
    ("DELETE", "/topics", "", 404, "Failed to delete not existed topic: null"),
    ("GET", "/topics", "", 200, "Current serving topics: [t]"),
    ("GET", "/validation/srcKafka", "", 200, "SrcKafkaValidationManager is not been initialized!"),
    ("GET", "/admin/disable_autobalancing", "", 200, "Disabled autobalancing!\n"),
    ("GET", "/admin/Enable_AutoBalancing", "", 200, "Enabled autobalancing!\n"),
    ("GET", "/admin/other", "", 200, "No valid input!\n"),
    ("GET", "/admin", "", 200, "No valid input!\n"),
    ("GET", "/health", "", 200, "OK"),
    ("GET", "/health/", "", 200, "OK"),
]


def test_a_course_of_requests(plain: RestInterface) -> None:
    for method, path, body, status, text in COURSE:
        assert (method, path, *plain.ask(method, path, body)) == (method, path, status, text)


@pytest.mark.parametrize("path", ["/validation", "/validation/", "/validation/anything"])
def test_the_validation_of_the_cluster(plain: RestInterface, path: str) -> None:
    plain.ask("POST", "/topics", topic("t", "3"))
    plain.online("t", p0="w1", p1="w2")
    assert json.loads(plain.ask("GET", path)[1]) == {
        "numTopics": 1,
        "numTopicPartitions": 3,
        "numOnlineTopicPartitions": 2,
        "numOfflineTopicPartitions": 0,
        "numErrorTopicPartitions": 0,
        "numErrorTopics": 1,
        "IdealState": {"w1": 2, "w2": 1},
        "ExternalView": {"w1": 1, "w2": 1},
    }


def test_the_validation_of_the_source(full: RestInterface) -> None:
    for name, number in (("t", 2), ("gone", 1)):
        full.ask("POST", "/topics", topic(name, number))
    assert json.loads(full.ask("GET", "/validation/srcKafka")[1]) == {
        "numMissingTopics": 1,
        "numMismatchedTopics": 1,
        "numMismatchedTopicPartitions": 2,
        "mismatchedTopicPartitions": {"t": 2},
    }


def test_an_error_nobody_thought_of_is_told_and_logged(
    plain: RestInterface, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(plain.manager, "topics", lambda: 1 / 0)
    assert plain.ask("GET", "/topics") == (500, "500 Internal Server Error: division by zero\n")
    assert "A request has failed" in caplog.text


def test_other_paths_and_verbs(plain: RestInterface) -> None:
    for path in ("/", "/topic", "/topics/t/u", "/healthy", "/topics//"):
        assert plain.ask("GET", path)[0] == 404
    response = plain.response("PATCH", "/topics")
    assert (response.status, response.headers["Allow"]) == (405, "DELETE, GET, POST, PUT")
    assert plain.response("POST", "/health").headers["Allow"] == "GET"
    assert plain.ask("HEAD", "/health?now") == (200, "OK")


@pytest.mark.parametrize(
    "headers", [{"origin": "http://a.example"}, {"origin": "null"}, {"sec_fetch_site": "cross-site"}]
)
def test_a_page_of_a_browser_changes_nothing(plain: RestInterface, headers: dict[str, str]) -> None:
    assert plain.response("POST", "/topics", topic("t", "1"), **headers).status == 403
    assert plain.response("GET", "/admin/disable_autobalancing", **headers).status == 403
    assert plain.manager.topics() == []
    assert plain.manager.is_auto_balancing_enabled
