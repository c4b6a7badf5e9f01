"""Connectors that are created, and requests that another worker has to answer."""

from __future__ import annotations

import json
from concurrent.futures import Future
from http import HTTPStatus
from typing import Any

import pytest

from kafka_lite.connect.api.errors import NotFoundError
from kafka_lite.connect.runtime.connector_offsets import ConnectorOffset
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.herder import ConnectorInfo, ConnectorStateInfo, Created
from kafka_lite.connect.runtime.herder_errors import (
    ForbiddenError,
    NotAssignedError,
    NotLeaderError,
    RebalanceNeededError,
)
from kafka_lite.connect.runtime.rest.request_forwarder import ForwardedAnswer
from kafka_lite.connect.runtime.rest.rest_errors import ConnectRestError
from kafka_lite.connect.runtime.status import ConnectorStatus, State, TaskStatus
from kafka_lite.connect.runtime.storage.restart_request import RestartRequest
from tests.support.connect_rest import FakeHerder, Sent, ask, error

INFO = ConnectorInfo("a b", {"name": "a b"}, [ConnectorTaskId("a b", 0)])
INFO_JSON = {"name": "a b", "config": {"name": "a b"}, "tasks": [{"connector": "a b", "task": 0}]}
LEADER = "http://leader:8083/"


def test_a_rebalance_that_is_expected_is_a_conflict() -> None:
    status, message = error(ask(FakeHerder(RebalanceNeededError("soon")), "GET", "/connectors"))
    assert (status, message[:60]) == (409, "Cannot complete request momentarily due to stale configurati")


def test_a_herder_that_does_not_answer_times_out() -> None:
    class Silent(FakeHerder):
        def connectors(self) -> Future[list[str]]:
            return Future()

    assert error(ask(Silent(), "GET", "/connectors")) == (500, "Request timed out")


def test_a_connector_that_is_created_has_a_location_at_the_worker_that_was_asked() -> None:
    body: dict[str, Any] = {"name": "a b", "config": {}, "initial_state": None}
    response = ask(FakeHerder(Created(True, INFO)), "POST", "/connectors", body)
    assert (response.status, response.headers["Location"]) == (201, "http://worker:8083/connectors/a%20b")
    assert json.loads(response.body) == INFO_JSON
    again = ask(FakeHerder(Created(False, INFO)), "PUT", "/connectors/a%20b/config", {})
    assert (again.status, "Location" in again.headers) == (200, False)


def test_the_leader_is_asked_with_a_flag() -> None:
    sent = Sent(ForwardedAnswer(HTTPStatus.CREATED, {"name": "a", "config": {}, "tasks": [], "type": "source"}))
    body = {"name": "a", "config": {"x": 1}}
    response = ask(FakeHerder(NotLeaderError("not me", LEADER)), "POST", "/connectors", body, sent)
    config = {"x": "1", "name": "a"}
    assert sent.requests == [(f"{LEADER}connectors?forward=true", "POST", {"name": "a", "config": config})]
    assert (response.status, json.loads(response.body)["type"]) == (201, "source")
    assert response.headers["Location"] == "http://worker:8083/connectors/a"


def test_the_second_hop_is_the_last_one() -> None:
    herder = FakeHerder(NotAssignedError("not me", "http://owner:8083"))
    sent = Sent(ForwardedAnswer(HTTPStatus.NO_CONTENT, None))
    response = ask(herder, "POST", "/connectors/a%20b/tasks/0/restart?forward=true", None, sent)
    assert response.status == 204
    assert sent.requests == [("http://owner:8083/connectors/a%20b/tasks/0/restart?forward=false", "POST", None)]
    refused = ask(herder, "POST", "/connectors/a/restart?forward=false", None, sent)
    assert error(refused) == (
        409, "Cannot complete request because of a conflicting operation (e.g. worker rebalance)",
    )  # fmt: skip
    assert len(sent.requests) == 1
    assert ask(herder, "POST", "/connectors/a/restart?forward=maybe", None, sent).status == 404


def test_the_error_of_another_worker_is_passed_on() -> None:
    sent = Sent(ConnectRestError(HTTPStatus.CONFLICT, "Connector a already exists"))
    response = ask(FakeHerder(NotLeaderError("not me", LEADER)), "DELETE", "/connectors/a", None, sent)
    assert error(response) == (409, "Connector a already exists")


def test_the_leader_stops_a_connector() -> None:
    herder = FakeHerder()
    assert ask(herder, "PUT", "/connectors/a%20b/stop").status == 204
    assert herder.calls == [("stop_connector", "a b")]
    sent = Sent(ForwardedAnswer(HTTPStatus.NO_CONTENT, None))
    assert ask(FakeHerder(NotLeaderError("not me", LEADER)), "PUT", "/connectors/a/stop", None, sent).status == 204
    assert sent.requests == [(f"{LEADER}connectors/a/stop?forward=true", "PUT", None)]


STATES = ConnectorStateInfo(
    "a",
    ConnectorStatus("a", State.RESTARTING, "w:1", 2),
    [TaskStatus(ConnectorTaskId("a", 0), State.RUNNING, "w:2", 2)],
    "sink",
)
STATES_JSON = {
    "name": "a",
    "connector": {"state": "RESTARTING", "worker_id": "w:1"},
    "tasks": [{"state": "RUNNING", "id": 0, "worker_id": "w:2"}],
    "type": "sink",
}


@pytest.mark.parametrize(
    ("query", "only_failed", "include_tasks"),
    [
        ("includeTasks=true", False, True),
        ("onlyFailed=TRUE&includeTasks=yes", True, False),
        ("onlyFailed=true&includeTasks=true", True, True),
    ],
)
def test_a_restart_with_tasks_is_accepted_and_says_what_is_restarted(
    query: str, only_failed: bool, include_tasks: bool
) -> None:
    herder = FakeHerder(STATES)
    response = ask(herder, "POST", f"/connectors/a/restart?{query}")
    assert (response.status, json.loads(response.body)) == (202, STATES_JSON)
    assert herder.calls == [("restart_connector_and_tasks", RestartRequest("a", only_failed, include_tasks))]


def test_a_restart_without_flags_is_that_of_the_connector() -> None:
    herder = FakeHerder()
    for query in ("", "?includeTasks=false&onlyFailed=false", "?includeTasks=&onlyFailed=no"):
        response = ask(herder, "POST", f"/connectors/a/restart{query}")
        assert (response.status, response.body) == (204, b"")
    assert herder.calls == [("restart_connector", "a")] * 3


def test_a_restart_with_tasks_is_forwarded_with_its_flags() -> None:
    herder = FakeHerder(NotLeaderError("not me", LEADER))
    sent = Sent(ForwardedAnswer(HTTPStatus.ACCEPTED, STATES_JSON))
    response = ask(herder, "POST", "/connectors/a/restart?onlyFailed=true", None, sent)
    assert (response.status, json.loads(response.body)) == (202, STATES_JSON)
    url = f"{LEADER}connectors/a/restart?forward=true&includeTasks=false&onlyFailed=true"
    assert sent.requests == [(url, "POST", None)]


def test_a_leader_of_0_10_2_restarts_the_connector_alone() -> None:
    herder, sent = FakeHerder(NotLeaderError("not me", LEADER)), Sent(ForwardedAnswer(HTTPStatus.NO_CONTENT, None))
    response = ask(herder, "POST", "/connectors/a/restart?includeTasks=true", None, sent)
    assert (response.status, response.body) == (204, b"")


def test_names_in_body_and_path_have_to_agree() -> None:
    assert error(ask(FakeHerder(), "PUT", "/connectors/a/config", {"name": "b"})) == (
        400, "Connector name configuration (b) doesn't match connector name in the URL (a)",
    )  # fmt: skip
    assert error(ask(FakeHerder(), "POST", "/connectors", {"name": "a/b", "config": {}}))[0] == 400


def test_how_far_a_connector_has_read() -> None:
    class Read(FakeHerder):
        def connector_offsets(self, name: str) -> list[ConnectorOffset]:
            if name != "a":
                raise NotFoundError(f"Connector {name} not found")
            return [ConnectorOffset({"filename": "/tmp/a"}, {"position": 4})]

    assert json.loads(ask(Read(), "GET", "/connectors/a/offsets").body) == {
        "offsets": [{"partition": {"filename": "/tmp/a"}, "offset": {"position": 4}}]
    }
    assert error(ask(Read(), "GET", "/connectors/none/offsets")) == (404, "Connector none not found")


def test_the_offsets_of_a_stopped_connector_are_changed() -> None:
    herder = FakeHerder("The offsets for this connector have been altered successfully")
    entry = {"partition": {"filename": "/tmp/a"}, "offset": {"position": 4}}
    body: dict[str, Any] = {"offsets": [entry, {"partition": {"filename": "/tmp/b"}, "offset": None}]}
    response = ask(herder, "PATCH", "/connectors/a/offsets", body)
    assert (response.status, json.loads(response.body)) == (200, {"message": herder.result})
    wanted = [({"filename": "/tmp/a"}, {"position": 4}), ({"filename": "/tmp/b"}, None)]
    assert herder.calls == [("alter_connector_offsets", "a", wanted)]
    assert ask(herder, "DELETE", "/connectors/a/offsets").status == 200
    assert herder.calls[-1] == ("reset_connector_offsets", "a")
    sent = Sent(ForwardedAnswer(HTTPStatus.OK, {"message": "done"}))
    response = ask(FakeHerder(NotLeaderError("not me", LEADER)), "PATCH", "/connectors/a/offsets", body, sent)
    assert sent.requests == [(f"{LEADER}connectors/a/offsets?forward=true", "PATCH", body)]
    assert json.loads(response.body) == {"message": "done"}


@pytest.mark.parametrize(
    ("body", "status"),
    [({}, 400), ([], 400), ({"offsets": []}, 400), ({"offsets": [1]}, 500), ({"offsets": [{"partition": "p"}]}, 500)],
)
def test_a_change_of_offsets_says_which(body: Any, status: int) -> None:
    herder = FakeHerder("unused")
    assert error(ask(herder, "PATCH", "/connectors/a/offsets", body))[0] == status
    assert herder.calls == []


class TwoConnectors(FakeHerder):
    """``a`` has been there for a while, ``new`` has no status yet, ``gone`` is deleted in this moment."""

    def connectors(self) -> Future[list[str]]:
        names: Future[list[str]] = Future()
        names.set_result(["a", "gone", "new"])
        return names

    def connector_info(self, name: str) -> Future[ConnectorInfo]:
        info: Future[ConnectorInfo] = Future()
        if name == "gone":
            info.set_exception(NotFoundError("gone"))
        else:
            info.set_result(ConnectorInfo(name, {"name": name}, []))
        return info

    def connector_status(self, name: str) -> ConnectorStateInfo:
        if name != "a":
            raise NotFoundError("no status")
        return ConnectorStateInfo(name, ConnectorStatus(name, State.RUNNING, "w:1", 3), [])


def test_a_list_may_have_what_is_known_of_each_connector() -> None:
    status = {"name": "a", "connector": {"state": "RUNNING", "worker_id": "w:1"}, "tasks": []}
    info: dict[str, Any] = {name: {"name": name, "config": {"name": name}, "tasks": []} for name in ("a", "new")}
    both = json.loads(ask(TwoConnectors(), "GET", "/connectors?expand=status&expand=info").body)
    assert both == {"a": {"info": info["a"], "status": status}, "gone": {}, "new": {"info": info["new"]}}
    assert json.loads(ask(TwoConnectors(), "GET", "/connectors?expand=status").body) == {
        "a": {"status": status}, "gone": {}, "new": {},
    }  # fmt: skip
    assert json.loads(ask(TwoConnectors(), "GET", "/connectors?expand=other").body) == ["a", "gone", "new"]


class _Topics(FakeHerder):
    """A herder that says which topics a connector uses, or raises ``result``."""

    def connector_active_topics(self, name: str) -> list[str]:
        if isinstance(self.result, Exception):
            raise self.result
        return [f"of-{name}"]


def test_the_topics_that_a_connector_uses_are_shown_and_reset() -> None:
    herder = _Topics()
    assert json.loads(ask(herder, "GET", "/connectors/a%20b/topics").body) == {"a b": {"topics": ["of-a b"]}}
    response = ask(herder, "PUT", "/connectors/a%20b/topics/reset")
    assert (response.status, response.body) == (202, b"")
    assert herder.calls == [("reset_connector_active_topics", "a b")]
    forbidden = _Topics(ForbiddenError("Topic tracking is disabled."))
    assert error(ask(forbidden, "GET", "/connectors/a/topics")) == (403, "Topic tracking is disabled.")
