"""Paths, verbs and headers; the herder's answers and errors are those of a fake."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.connect.api.errors import AlreadyExistsError, ConnectError, NotFoundError
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.herder_errors import (
    BadRequestError,
)
from tests.support.connect_rest import FakeHerder, ask, error


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
