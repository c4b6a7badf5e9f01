"""Connections to other brokers, without sockets."""

from __future__ import annotations

from typing import Any

from kafka_lite.protocol.schema import Request, Response


class FakeChannel:
    """A connection that answers every request with ``response`` and notes what happens to it."""

    opened: list[FakeChannel]
    response: Response | Exception
    """An exception is raised."""

    def __init__(self, host: str, port: int, **_options: Any) -> None:
        self.host, self.port = host, port
        self.events: list[str] = []
        self.requests: list[Request] = []
        self.versions: list[int] = []
        self.opened.append(self)

    def connect(self) -> None:
        self.events.append("connect")

    def exchange(self, request: Request, version: int) -> Response:
        self.requests.append(request)
        self.versions.append(version)
        if isinstance(self.response, Exception):
            raise self.response
        return self.response

    def abort(self) -> None:
        self.events.append("abort")

    def close(self) -> None:
        self.events.append("close")
