"""A herder and another worker for the tests of the REST interface, and requests without a socket."""

from __future__ import annotations

import json
from concurrent.futures import Future
from typing import Any

from kafka_lite.common.http.http_messages import HttpRequest, HttpResponse
from kafka_lite.connect.runtime.rest.request_forwarder import ForwardedAnswer, RequestForwarder
from kafka_lite.connect.runtime.rest.rest_errors import ConnectRestError
from kafka_lite.connect.runtime.rest.router import Router, routes

JSON = {"content-type": "application/json; charset=utf-8", "host": "worker:8083"}


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
