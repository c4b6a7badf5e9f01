"""One worker asks another one over HTTP."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from kafka_lite.connect.runtime.rest.request_forwarder import ForwardedAnswer, http_request
from kafka_lite.connect.runtime.rest.rest_errors import ConnectRestError


class Worker(BaseHTTPRequestHandler):
    """Answers what the path asks for: ``/STATUS/BODY``."""

    asked: list[tuple[str, str, dict[str, Any], bytes]]

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.asked.append((self.command, self.path, dict(self.headers), body))
        _, status, answer = self.path.partition("?")[0].split("/", 2)
        self.send_response_only(int(status))
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer.encode())

    do_GET = do_POST = do_DELETE = _serve  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    Worker.asked = []
    with HTTPServer(("127.0.0.1", 0), Worker) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_a_body_is_sent_and_the_answer_read(url: str) -> None:
    answer = http_request(f'{url}/201/{{"name":"a","later":1}}?forward=true', "POST", {"name": "a"})
    assert answer == ForwardedAnswer(HTTPStatus.CREATED, {"name": "a", "later": 1})
    ((method, path, headers, body),) = Worker.asked
    assert (method, path.partition("?")[2], body) == ("POST", "forward=true", b'{"name": "a"}')
    assert headers["Content-Type"] == headers["Accept"] == "application/json"


def test_there_may_be_no_body(url: str) -> None:
    assert http_request(f"{url}/204/", "DELETE") == ForwardedAnswer(HTTPStatus.NO_CONTENT, None)
    assert "Content-Type" not in Worker.asked[0][2]


@pytest.mark.parametrize(
    ("answer", "status", "message"),
    [
        ('/404/{"error_code":404,"message":"gone"}', 404, "gone"),
        ("/500/<html>", 500, "IO Error trying to forward REST request: "),
        ("/200/<html>", 500, "IO Error trying to forward REST request: "),
        ("/302/", 500, "Unexpected status code when handling forwarded request: 302"),
    ],
)
def test_errors_are_those_of_this_request(url: str, answer: str, status: int, message: str) -> None:
    with pytest.raises(ConnectRestError, match=message) as failed:
        http_request(url + answer, "GET")
    assert failed.value.status == status


def test_a_worker_that_is_gone_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(ConnectRestError, match="IO Error trying to forward REST request"):
        http_request(f"http://127.0.0.1:{port}/connectors", "GET")
