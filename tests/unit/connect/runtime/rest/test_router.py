"""Paths, verbs and headers; the herder's answers and errors are those of a fake."""

from __future__ import annotations

import json
from concurrent.futures import Future
from http import HTTPStatus
from typing import Any

import pytest

from kafka_lite.connect.api.errors import AlreadyExistsError, ConnectError, NotFoundError
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.herder import ConnectorInfo, Created
from kafka_lite.connect.runtime.herder_errors import (
    BadRequestError,
    NotAssignedError,
    NotLeaderError,
    RebalanceNeededError,
)
from kafka_lite.connect.runtime.rest.request_forwarder import ForwardedAnswer, RequestForwarder
from kafka_lite.connect.runtime.rest.rest_errors import ConnectRestError
from kafka_lite.connect.runtime.rest.rest_messages import HttpRequest, HttpResponse
from kafka_lite.connect.runtime.rest.router import Router, routes

INFO = ConnectorInfo("a b", {"name": "a b"}, [ConnectorTaskId("a b", 0)])
INFO_JSON = {"name": "a b", "config": {"name": "a b"}, "tasks": [{"connector": "a b", "task": 0}]}
JSON = {"content-type": "application/json; charset=utf-8", "host": "worker:8083"}
LEADER = "http://leader:8083/"


class FakeHerder:
    """Each call returns ``result`` or raises it, and is remembered."""

    def __init__(self, result: Any = None) -> None:
        self.result = result
        self.calls: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any, **more: Any) -> Future[Any]:
            self.calls.append((name, *arguments, *more.values()))
            future: Future[Any] = Future()
            if isinstance(self.result, Exception):
                future.set_exception(self.result)
            else:
                future.set_result(self.result)
            return future

        return call


class Sent:
    """Another worker, which gives one answer."""

    def __init__(self, answer: ForwardedAnswer | ConnectRestError) -> None:
        self.answer = answer
        self.requests: list[tuple[str, str, object]] = []

    def __call__(self, url: str, method: str, body: object) -> ForwardedAnswer:
        self.requests.append((url, method, body))
        if isinstance(self.answer, ConnectRestError):
            raise self.answer
        return self.answer


def ask(herder: Any, method: str, target: str, body: object = None, sent: Sent | None = None, **headers: str) -> Any:
    router = Router(routes(herder, RequestForwarder(sent, timeout_s=0.01)), "http://advertised:8083/")
    content = b"" if body is None else json.dumps(body).encode()
    response: HttpResponse = router.answer(HttpRequest(method, target, JSON | headers, content))
    return response


def error(response: HttpResponse) -> tuple[int, str]:
    value = json.loads(response.body)
    assert value["error_code"] == response.status
    return response.status, value["message"]


@pytest.mark.parametrize(
    ("method", "target", "body", "call"),
    [
        ("GET", "/connectors/a%20b", None, ("connector_info", "a b")),
        ("GET", "/connectors/a%2Fb/config/", None, ("connector_config", "a/b")),
        ("PUT", "/connectors/a/config", {"n": 1}, ("put_connector_config", "a", {"n": "1", "name": "a"}, True)),
        ("DELETE", "/connectors/a", None, ("delete_connector_config", "a")),
        ("POST", "/connectors/a/restart", None, ("restart_connector", "a")),
        ("POST", "/connectors/a/tasks", [{"x": True}], ("put_task_configs", "a", [{"x": "true"}])),
        ("POST", "/connectors/a/tasks/10/restart", None, ("restart_task", ConnectorTaskId("a", 10))),
        ("PUT", "/connectors/a/pause", None, ("pause_connector", "a")),
        ("PUT", "/connectors/a/resume", None, ("resume_connector", "a")),
    ],
)
def test_the_path_says_what_the_herder_is_asked(method: str, target: str, body: Any, call: tuple[Any, ...]) -> None:
    herder = FakeHerder()
    ask(herder, method, target, body)
    assert herder.calls == [call]


@pytest.mark.parametrize(
    ("raised", "answer"),
    [
        (NotFoundError("gone"), (404, "gone")),
        (AlreadyExistsError("twice"), (409, "twice")),
        (BadRequestError("bad"), (400, "bad")),
        (ConnectError("broken"), (500, "broken")),
        (ValueError("a bug"), (500, "a bug")),
        (ValueError(), (500, "Request failed.")),
        (TimeoutError("the connector's"), (500, "the connector's")),
    ],
)
def test_errors_of_the_herder_have_a_status(raised: Exception, answer: tuple[int, str]) -> None:
    assert error(ask(FakeHerder(raised), "GET", "/connectors/a")) == answer


def test_a_rebalance_that_is_expected_is_a_conflict() -> None:
    status, message = error(ask(FakeHerder(RebalanceNeededError("soon")), "GET", "/connectors"))
    assert (status, message[:60]) == (409, "Cannot complete request momentarily due to stale configurati")


def test_a_herder_that_does_not_answer_times_out() -> None:
    class Silent(FakeHerder):
        def connectors(self) -> Future[list[str]]:
            return Future()

    assert error(ask(Silent(), "GET", "/connectors")) == (500, "Request timed out")


def test_a_connector_that_is_created_has_a_location_at_the_worker_that_was_asked() -> None:
    body = {"name": "a b", "config": {}, "initial_state": None}
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


def test_names_in_body_and_path_have_to_agree() -> None:
    assert error(ask(FakeHerder(), "PUT", "/connectors/a/config", {"name": "b"})) == (
        400, "Connector name configuration (b) doesn't match connector name in the URL (a)",
    )  # fmt: skip
    assert error(ask(FakeHerder(), "POST", "/connectors", {"name": "a/b", "config": {}}))[0] == 400


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("*/*", 200), ("application/*;q=0.5", 200), ("text/html, application/json", 200), ("Application/JSON", 200),
        ("text/html", 406), ("application/json;q=0", 406), ("application/json; q=0.0", 406), ("", 406),
    ],
)  # fmt: skip
def test_only_json_is_served(accept: str, status: int) -> None:
    assert ask(FakeHerder([]), "GET", "/connectors", accept=accept).status == status


def test_what_is_allowed_is_said() -> None:
    assert ask(FakeHerder(), "OPTIONS", "/connectors").headers["Allow"] == "GET,HEAD,OPTIONS,POST"
    refused = ask(FakeHerder(), "GET", "/connectors/a/restart")
    assert (refused.status, refused.headers["Allow"]) == (405, "OPTIONS,POST")


@pytest.mark.parametrize(
    "target", ["/nothing", "//connectors", "/connectors/a/tasks/x/status", "/connectors/a/tasks/-1/status"]
)
def test_other_paths_are_not_found(target: str) -> None:
    assert error(ask(FakeHerder(), "GET", target)) == (404, "HTTP 404 Not Found")
