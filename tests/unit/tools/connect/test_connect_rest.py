from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.tools.connect.connect_rest import ConnectRest, ConnectRestError, NoWorkerError


class Worker(http.server.BaseHTTPRequestHandler):
    """Answers as the test says, and notes the requests."""

    protocol_version = "HTTP/1.1"
    answers: ClassVar[list[tuple[int, bytes]]] = []
    requests: ClassVar[list[tuple[str, str, bytes]]] = []
    closes: ClassVar[bool] = False

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.requests.append((self.command, self.path, body))
        status, answer = self.answers.pop(0)
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
        self.close_connection = self.closes

    do_GET = do_PUT = do_POST = do_DELETE = _answer  # noqa: N815  the names that the base class calls

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def rest() -> Iterator[ConnectRest]:
    Worker.answers, Worker.requests, Worker.closes = [], [], False  # type: ignore[misc]
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Worker) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        rest = ConnectRest(f"127.0.0.1:{server.server_port}/")
        yield rest
        rest.close()
        server.shutdown()


def test_paths(rest: ConnectRest) -> None:
    Worker.answers += [(200, b"[]"), (201, b"{}"), *[(204, b"")] * 7]
    assert rest.put_config("a b/c", {"x": "1"})
    rest.pause("a")
    rest.stop("a")
    rest.resume("a")
    rest.restart("a")
    rest.restart_task("a", 7)
    assert rest.restart_with_tasks("a", include_tasks=True, only_failed=False) is None
    rest.delete("a")
    assert Worker.requests == [
        ("GET", "/connectors", b""),
        ("PUT", "/connectors/a%20b%2Fc/config", b'{"x": "1"}'),
        ("PUT", "/connectors/a/pause", b""),
        ("PUT", "/connectors/a/stop", b""),
        ("PUT", "/connectors/a/resume", b""),
        ("POST", "/connectors/a/restart", b""),
        ("POST", "/connectors/a/tasks/7/restart", b""),
        ("POST", "/connectors/a/restart?includeTasks=true&onlyFailed=false", b""),
        ("DELETE", "/connectors/a", b""),
    ]


def test_a_kept_connection_that_was_closed_is_opened_again(rest: ConnectRest) -> None:
    Worker.closes = True  # type: ignore[misc]
    Worker.answers += [(200, b'["b","a"]'), (200, b'["c"]')]
    assert rest.connectors() == ["a", "b"]
    assert rest.connectors() == ["c"]


@pytest.mark.parametrize(
    ("status", "answer", "message"),
    [
        (409, b'{"error_code":409,"message":"Cannot complete request"}', "Cannot complete request"),
        (400, b"<html>Jetty</html>", "The worker refuses the request: 400 Bad Request"),
        (500, b"[]", "The worker refuses the request: 500 Internal Server Error"),
        (200, b"<html>", "does not speak Kafka Connect's REST"),
    ],
)
def test_refusals(rest: ConnectRest, status: int, answer: bytes, message: str) -> None:
    Worker.answers.append((status, answer))
    with pytest.raises(ConnectRestError, match=message) as raised:
        rest.status("a")
    assert raised.value.status == status


def test_nobody_there() -> None:
    with pytest.raises(NoWorkerError, match=r"No worker of Kafka Connect responds at http://127\.0\.0\.1:1 .*--worker"):
        ConnectRest("127.0.0.1:1").connectors()


@pytest.mark.parametrize("url", ["ftp://x", "http://:8083", "http://x:y"])
def test_urls_of_no_worker(url: str) -> None:
    with pytest.raises(ToolError, match="is no URL of a worker"):
        ConnectRest(url)
