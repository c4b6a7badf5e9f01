"""Answers over HTTP beside those of Kafka 0.10.2.2, recorded, and what a client may do wrong."""

from __future__ import annotations

import http.client
import json
import re
import socket
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.common.http.request_body import MAX_BODY_BYTES
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.connect import Connect
from kafka_lite.connect.runtime.errors.error_handling_config import ERROR_GROUP
from kafka_lite.connect.runtime.rest.rest_server import RestServer
from kafka_lite.connect.runtime.standalone.standalone_config import StandaloneConfig
from kafka_lite.connect.runtime.standalone.standalone_herder import StandaloneHerder
from kafka_lite.connect.runtime.storage.memory_offset_backing_store import MemoryOffsetBackingStore
from kafka_lite.connect.runtime.worker import Worker
from tests.support.connect_plugins import FakeClients
from tests.support.eventually import eventually
from tests.support.patience import patient_s
from tests.support.samples import DATA

JSON = "org.apache.kafka.connect.json.JsonConverter"
PROPS = {
    "key.converter": JSON,
    "value.converter": JSON,
    "internal.key.converter": JSON,
    "internal.value.converter": JSON,
    "offset.storage.file.filename": "unused",
    "rest.port": "0",
}
SAMPLE: dict[str, list[dict[str, Any]]] = json.loads((DATA / "connect-rest-0.10.2.json").read_text())
HTML = "HTML"
"""An error page of Jetty. Ours is JSON with the same status."""
OTHER_STATUS = {
    "unknown property": (400, "Connector config {name=x} contains no connector type"),
    "standalone, unknown": (404, "Connector none not found"),
    "standalone, unknown task": (404, "Task sa-src-7 not found"),
}
"""Where ours differs on purpose: clients of later versions say more, and what is not there is not found."""
OTHER_WORDS = {
    "Unknown connector: none": "Connector none not found",
    "Unknown task: file-source-5": "Task file-source-5 not found",
}
"""A group of workers has other words for what a standalone herder does not find."""
LATER = re.compile(r"\.(Cast|DropHeaders|Filter|Flatten|HeaderFrom|InsertHeader|TimestampConverter)(\$|$)")
"""Transformations that Kafka 0.10.2 does not have. It has none of the keys ``errors.…`` either."""


def start(**props: str) -> Connect:
    config = StandaloneConfig(PROPS | props)
    rest = RestServer(config)
    clients: Any = FakeClients()
    connect = Connect(
        StandaloneHerder(Worker(rest.worker_id, config, MemoryOffsetBackingStore(), clients=clients)), rest
    )
    connect.start()
    return connect


@pytest.fixture
def connect() -> Iterator[Connect]:
    connect = start()
    yield connect
    connect.stop()


@pytest.fixture
def client(connect: Connect) -> Iterator[Client]:
    with closing(Client(connect)) as client:
        yield client


class Client:
    """One connection, which is kept."""

    def __init__(self, connect: Connect) -> None:
        self.host, _, port = connect.rest.worker_id.rpartition(":")
        self.port = int(port)
        self.connection = http.client.HTTPConnection(self.host, self.port, timeout=patient_s(10))

    def close(self) -> None:
        self.connection.close()

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any, dict[str, str]]:
        """Status, JSON and headers of the answer; names of headers in lower case."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        text = body if body is None or isinstance(body, str) else json.dumps(body)
        if text is not None:
            named.setdefault("Content-Type", "application/json")
        self.connection.request(method, path, text, {name: value for name, value in named.items() if value})
        response = self.connection.getresponse()
        found = response.read()
        return response.status, json.loads(found) if found else None, {k.lower(): v for k, v in response.getheaders()}


def _comparable(value: Any) -> Any:
    """Without ids of workers, the documentation of keys, and orders that Java does not promise."""
    if isinstance(value, dict):
        without = {key: _comparable(each) for key, each in value.items() if key not in ("worker_id", "documentation")}
        if "configs" in without:
            named = {each["value"]["name"]: each for each in without["configs"]}
            without["configs"] = {name: each for name, each in named.items() if not name.startswith("errors.")}
            without["groups"] = [group for group in value["groups"] if group != ERROR_GROUP]
        if "recommended_values" in without:
            without["recommended_values"] = [each for each in value["recommended_values"] if not LATER.search(each)]
        message = without.get("message")
        if isinstance(message, str):
            without["message"] = OTHER_WORDS.get(message, message.partition(", available connectors are:")[0])
        return without
    if isinstance(value, list):
        value = [
            each for each in value if not (isinstance(each, dict) and each.get("class", "").startswith("kafka_lite."))
        ]
        return sorted(map(_comparable, value), key=json.dumps) if all(isinstance(x, str) for x in value) else [
            _comparable(each) for each in value
        ]  # fmt: skip
    return value


def _expected(row: dict[str, Any], url: str) -> tuple[int, Any, str | None]:
    """Status, body and Location."""
    status, body, location = row["status"], _comparable(row.get("body")), row.get("location")
    if row.get("note") in OTHER_STATUS:
        status, message = OTHER_STATUS[row["note"]]
        body = {"error_code": status, "message": message}
    if row["method"] in ("POST", "PUT") and status in (200, 201) and "tasks" in (body or {}):
        del body["tasks"]  # a standalone herder has started them already
    return status, body, None if location is None else url + location.partition("/connectors")[2]


def _answer(client: Client, row: dict[str, Any]) -> tuple[int, Any, str | None]:
    headers = {"Accept": "text/html"} if row.get("note") == "Accept text/html" else {"Accept": "application/json"}
    kind = row.get("type", "")
    status, body, answered = client.ask(row["method"], row["path"], row.get("request"), Content_Type=kind, **headers)
    if row.get("body") == HTML and row.get("note") not in OTHER_STATUS:
        assert body["error_code"] == status
        assert body["message"]
        body = HTML
    body = _comparable(body)
    if row["method"] in ("POST", "PUT") and status in (200, 201):
        body.pop("tasks", None)
    return status, body, answered.get("location")


def _is_answer(client: Client, row: dict[str, Any], expected: tuple[int, Any, str | None]) -> bool:
    return _answer(client, row) == expected


@pytest.mark.parametrize("mode", ["distributed", "standalone"])
def test_each_request_has_the_answer_of_kafka(connect: Connect, client: Client, tmp_path: Path, mode: str) -> None:
    url = f"{connect.rest.advertised_url}connectors"
    text = json.dumps(SAMPLE[mode]).replace("FOLDER", str(tmp_path))
    if mode == "standalone":
        config = {"connector.class": "FileStreamSource", "tasks.max": "1", "topic": "sa"}
        client.ask("PUT", "/connectors/sa-src/config", config | {"file": f"{tmp_path}/sa-source.txt"})
    different = []
    for row in json.loads(text):
        expected = _expected(row, url)
        if row["path"] == "/":
            expected[1].update(client.ask("GET", "/")[1])  # our own release and commit
        if row["method"] == "GET" and "/status" in row["path"]:
            eventually(partial(_is_answer, client, row, expected), timeout_s=5)
            continue
        answer = _answer(client, row)
        if answer != expected:
            different.append((row["method"], row["path"], row.get("note"), answer, expected))
    assert not different


def test_head_has_the_headers_of_get(client: Client) -> None:
    status, body, headers = client.ask("HEAD", "/connectors")
    assert (status, body, headers["content-type"], headers["content-length"]) == (200, None, "application/json", "2")
    assert client.ask("GET", "/connectors")[1] == []  # the connection has nothing left of it


def test_a_body_beyond_the_bound_is_refused_unread(client: Client) -> None:
    client.connection.putrequest("POST", "/connectors")
    client.connection.putheader("Content-Type", "application/json")
    client.connection.putheader("Content-Length", str(MAX_BODY_BYTES + 1))
    client.connection.endheaders()
    response = client.connection.getresponse()
    assert (response.status, json.loads(response.read())["error_code"]) == (413, 413)
    assert response.getheader("Connection") == "close"


def test_a_body_in_chunks_is_read(client: Client) -> None:
    chunks = iter([b'{"name":"x",', b'"config":{}}'])
    client.connection.request(
        "POST", "/connectors", chunks, {"Content-Type": "application/json"}, encode_chunked=True
    )  # fmt: skip
    response = client.connection.getresponse()
    assert (response.status, json.loads(response.read())["message"]) == (
        400, "Connector config {name=x} contains no connector type",
    )  # fmt: skip
    assert client.ask("GET", "/connectors")[0] == 200


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/9.9\r\n\r\n", 505),
        (b"BREW /connectors HTTP/1.1\r\n\r\n", 501),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", 414),
    ],
)
def test_what_is_not_http_gets_an_error_as_json(client: Client, sent: bytes, status: int) -> None:
    with socket.create_connection((client.host, client.port), timeout=patient_s(10)) as connection:
        connection.sendall(sent)
        with connection.makefile("rb") as answer:
            text = answer.read()
    assert json.loads(text.partition(b"\r\n\r\n")[2] or text)["error_code"] == status
    assert client.ask("GET", "/")[0] == 200


def test_it_listens_on_the_loopback_interface_and_names_the_worker_by_its_port(connect: Connect) -> None:
    host, _, port = connect.rest.worker_id.rpartition(":")
    assert host == "127.0.0.1"
    assert int(port) > 0
    assert connect.rest.advertised_url == f"http://127.0.0.1:{port}/"


def test_the_advertised_address_names_the_worker() -> None:
    rest = RestServer(
        StandaloneConfig(PROPS | {"rest.advertised.host.name": "worker-1", "rest.advertised.port": "80"})
    )  # fmt: skip
    assert (rest.worker_id, rest.advertised_url) == ("worker-1:80", "http://worker-1:80/")
    rest.stop()


def test_a_port_that_is_taken_is_named(connect: Connect) -> None:
    port = connect.rest.worker_id.rpartition(":")[2]
    with pytest.raises(ConnectError, match=rf"cannot listen at 127\.0\.0\.1:{port}: .*Choose another rest\.port"):
        RestServer(StandaloneConfig(PROPS | {"rest.port": port}))


def test_idle_connections_end_when_the_worker_stops(connect: Connect, client: Client) -> None:
    client.ask("GET", "/")
    connect.stop()
    assert client.connection.sock.recv(1) == b""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((client.host, client.port), timeout=patient_s(10))


def test_pages_of_another_origin_read_answers_only_if_they_are_allowed(client: Client) -> None:
    assert "access-control-allow-origin" not in client.ask("GET", "/", Origin="http://a.example")[2]
    allowing = start(**{"access.control.allow.origin": "http://a.example"})
    try:
        with closing(Client(allowing)) as other:
            headers = other.ask("GET", "/", Origin="http://a.example")[2]
    finally:
        allowing.stop()
    assert headers["access-control-allow-origin"] == "http://a.example"
