"""Answers queries of an application's key-value stores over HTTP, in JSON.

::

    GET /instances            all instances, with their stores
    GET /<store>              the entries that this instance has
    GET /<store>/<key>        the value of a key; a redirect, if another instance has it

404 means that there is no such store or key, 503 that the application rebalances: try again.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import quote, unquote

from kafka_lite.common.serialization import StringSerializer
from kafka_lite.streams.errors import InvalidStateStoreError
from kafka_lite.streams.kafka_streams import KafkaStreams
from kafka_lite.streams.state.queryable_store_types import QueryableStoreTypes
from kafka_lite.streams.state.streams_metadata import NOT_AVAILABLE


class QueryServer:
    """An HTTP server, at the instance's ``application.server``, for its key-value stores. Keys must be strings."""

    def __init__(self, streams: KafkaStreams, host: str, port: int) -> None:
        """Bind the port. Raises OSError."""
        self._streams = streams
        self.address = (host, port)
        queries = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                queries.answer(self)

            def log_message(self, format: str, *_: Any) -> None:
                """Log nothing."""

        self._server = ThreadingHTTPServer(self.address, Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, name="query-server")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        parts = [unquote(part) for part in request.path.strip("/").split("/")]
        try:
            match parts:
                case ["instances"]:
                    _reply(request, 200, self._instances())
                case [store]:
                    _reply(request, 200, dict(self._streams.store(store, QueryableStoreTypes.key_value_store()).all()))
                case [store, key]:
                    self._answer_key(request, store, key)
                case _:
                    _reply(request, 404, {"error": f"no such path: {request.path}"})
        except (InvalidStateStoreError, RuntimeError) as error:
            _reply(request, 503, {"error": str(error)})

    def _instances(self) -> list[dict[str, Any]]:
        return [
            {"host": each.host, "port": each.port, "stores": sorted(each.state_store_names)}
            for each in self._streams.all_metadata()
        ]

    def _answer_key(self, request: BaseHTTPRequestHandler, store: str, key: str) -> None:
        owner = self._streams.metadata_for_key(store, key, StringSerializer())
        if owner is None:
            _reply(request, 404, {"error": f"no such store: {store}"})
        elif owner is NOT_AVAILABLE:
            _reply(request, 503, {"error": f"no instance can say yet where the key {key!r} is: try again"})
        elif owner.host_info != self.address:
            where = f"http://{owner.host}:{owner.port}/{quote(store, safe='')}/{quote(key, safe='')}"
            _reply(request, 307, {"at": where}, {"Location": where})
        else:
            value = self._streams.store(store, QueryableStoreTypes.key_value_store()).get(key)
            _reply(request, 404 if value is None else 200, {"key": key, "value": value})


def _reply(request: BaseHTTPRequestHandler, status: int, body: object, headers: dict[str, str] | None = None) -> None:
    data = json.dumps(body).encode() + b"\n"
    request.send_response(status)
    request.send_header("Content-Type", "application/json")
    request.send_header("Content-Length", str(len(data)))
    for name, value in (headers or {}).items():
        request.send_header(name, value)
    request.end_headers()
    request.wfile.write(data)
