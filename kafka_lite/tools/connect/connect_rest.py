"""Talks to the REST interface of a worker of Kafka Connect, ours or Java's · book 8.3.1"""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlsplit

from kafka_lite.tools.common.tool_errors import ToolError

DEFAULT_URL = "http://127.0.0.1:8083"
TIMEOUT_S = 90.0
"""A worker answers after that long at the latest."""
JSON = "application/json"


class ConnectRestError(ToolError):
    """The worker refuses a request."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class NoWorkerError(ToolError):
    """No worker responds."""


class ConnectRest:
    """One connection, which is kept. Each call raises ConnectRestError or NoWorkerError."""

    def __init__(self, url: str = DEFAULT_URL, timeout_s: float = TIMEOUT_S) -> None:
        """``url`` may lack the ``http://``. Raises ToolError for another kind of URL."""
        self.url = url if "://" in url else f"http://{url}"
        try:
            target = urlsplit(self.url)
            port = target.port or 8083
        except ValueError as error:
            raise ToolError(f"{url} is no URL of a worker: {error}") from error
        if target.scheme != "http" or not target.hostname:
            raise ToolError(f"{url} is no URL of a worker: it begins with http://")
        self._connection = http.client.HTTPConnection(target.hostname, port, timeout=timeout_s)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    # ── requests ──────────────────────────────────────────────────────────────────────────────────────────────────

    def version(self) -> str:
        """The worker's version."""
        return str(self._ask("GET", "/")["version"])

    def connectors(self) -> list[str]:
        """The names of all connectors, sorted."""
        return sorted(self._ask("GET", "/connectors"))

    def connector(self, name: str) -> dict[str, Any]:
        """A connector with its configuration."""
        found: dict[str, Any] = self._ask("GET", _path(name))
        return found

    def status(self, name: str) -> dict[str, Any]:
        """The states of a connector and of its tasks."""
        found: dict[str, Any] = self._ask("GET", _path(name, "status"))
        return found

    def plugins(self) -> list[str]:
        """The classes of connectors."""
        return [each["class"] for each in self._ask("GET", "/connector-plugins")]

    def put_config(self, name: str, config: Mapping[str, str]) -> bool:
        """Create a connector, or change it. True if it was created."""
        existed = name in self.connectors()
        self._ask("PUT", _path(name, "config"), dict(config))
        return not existed

    def pause(self, name: str) -> None:
        """Pause a connector with its tasks."""
        self._ask("PUT", _path(name, "pause"))

    def stop(self, name: str) -> None:
        """End the tasks of a connector."""
        self._ask("PUT", _path(name, "stop"))

    def resume(self, name: str) -> None:
        """Resume a connector with its tasks."""
        self._ask("PUT", _path(name, "resume"))

    def restart(self, name: str) -> None:
        """Restart a connector, not its tasks."""
        self._ask("POST", _path(name, "restart"))

    def restart_with_tasks(self, name: str, *, include_tasks: bool, only_failed: bool) -> dict[str, Any] | None:
        """Restart a connector, with its tasks or not, or what has failed of them, soon. Returns the states of both,
        RESTARTING for what is restarted; None from a worker before 3.0, which has restarted the connector alone."""
        flags = f"includeTasks={str(include_tasks).lower()}&onlyFailed={str(only_failed).lower()}"
        found: dict[str, Any] | None = self._ask("POST", f"{_path(name, 'restart')}?{flags}")
        return found

    def restart_task(self, name: str, task: int) -> None:
        """Restart a task."""
        self._ask("POST", _path(name, "tasks", str(task), "restart"))

    def delete(self, name: str) -> None:
        """Stop a connector, and forget it. Its offsets stay."""
        self._ask("DELETE", _path(name))

    # ── HTTP ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _ask(self, method: str, path: str, body: object = None) -> Any:
        headers = {"Accept": JSON} | ({} if body is None else {"Content-Type": JSON})
        payload = None if body is None else json.dumps(body)
        try:
            status, answer = self._exchange(method, path, payload, headers)
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            reason = str(error) or type(error).__name__
            raise NoWorkerError(
                f"No worker of Kafka Connect responds at {self.url} ({reason}). Start one with "
                "`kafka-lite connect-standalone`, or name another one with --worker."
            ) from error
        if status >= HTTPStatus.BAD_REQUEST:
            raise ConnectRestError(status, _message(status, answer))
        try:
            return json.loads(answer) if answer else None
        except ValueError as error:
            raise ConnectRestError(status, f"{self.url} does not speak Kafka Connect's REST: {error}") from error

    def _exchange(self, method: str, path: str, body: str | None, headers: Mapping[str, str]) -> tuple[int, bytes]:
        """Once more if the worker has closed the kept connection meanwhile."""
        for is_last in (self._connection.sock is None, True):
            try:
                self._connection.request(method, path, body, headers)
                response = self._connection.getresponse()
                return response.status, response.read()
            except (ConnectionError, http.client.RemoteDisconnected):
                self._connection.close()
                if is_last:
                    raise
        raise AssertionError("the last try returns or raises")


def _path(name: str, *more: str) -> str:
    return "/".join(["/connectors", quote(name, safe=""), *more])


def _message(status: int, answer: bytes) -> str:
    """That of Connect; a Java worker of 0.10.2 answers some errors with a page of HTML."""
    try:
        return str(json.loads(answer)["message"])
    except (ValueError, KeyError, TypeError):
        return f"The worker refuses the request: {status} {http.client.responses.get(status, '')}"
