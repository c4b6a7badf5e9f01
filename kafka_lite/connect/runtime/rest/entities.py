"""The JSON that the REST interface reads and writes.

Kafka 0.10.2: connect/runtime/.../connect/runtime/rest/entities/ConnectorInfo.java, ConnectorStateInfo.java,
CreateConnectorRequest.java, TaskInfo.java · book 8.3.1
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any, NoReturn

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.herder import ConnectorInfo, ConnectorStateInfo, TaskInfo
from kafka_lite.connect.runtime.herder_errors import BadRequestError
from kafka_lite.connect.runtime.rest.rest_errors import ConnectRestError
from kafka_lite.connect.runtime.status import ConnectorStatus, TaskStatus

# ── writing ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def connector_info_json(info: ConnectorInfo) -> dict[str, Any]:
    """A connector, its configuration, and the ids of its tasks."""
    return {"name": info.name, "config": dict(info.config), "tasks": [_task_id_json(task) for task in info.tasks]}


def task_info_json(info: TaskInfo) -> dict[str, Any]:
    """A task and its configuration."""
    return {"id": _task_id_json(info.id), "config": dict(info.config)}


def connector_state_json(info: ConnectorStateInfo) -> dict[str, Any]:
    """The statuses of a connector and of its tasks, by number. ``type`` is there only if it is known."""
    return {
        "name": info.name,
        "connector": _status_json(info.connector),
        "tasks": [task_state_json(status) for status in sorted(info.tasks, key=lambda status: status.id)],
        **({} if info.kind is None else {"type": info.kind}),
    }


def task_state_json(status: TaskStatus) -> dict[str, Any]:
    """The status of a task."""
    return _status_json(status, id=status.id.task)


def _task_id_json(task: ConnectorTaskId) -> dict[str, Any]:
    return {"connector": task.connector, "task": task.task}


def _status_json(status: ConnectorStatus | TaskStatus, **more: int) -> dict[str, Any]:
    """``trace`` is there only if it says something."""
    trace = {"trace": status.trace} if status.trace else {}
    return {"state": status.state.value, **trace, **more, "worker_id": status.worker_id}


# ── reading ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def parse_json(body: bytes, *, numbers_as_texts: bool = True) -> Any:
    """The value of a body. Numbers stay texts as they were written, since configurations have texts only.

    Raises ConnectRestError.
    """
    numbers: dict[str, Any] = {"parse_int": str, "parse_float": str} if numbers_as_texts else {}
    try:
        return json.loads(body.decode(), parse_constant=_refuse, **numbers)
    except (ValueError, RecursionError) as error:
        raise _bad_body(f"it is not JSON: {error}") from error


def parse_create_request(body: bytes) -> tuple[str, dict[str, str]]:
    """Name and configuration: ``{"name": …, "config": {…}}``. What else is in it is ignored, since later clients have
    more to say. Raises ConnectRestError."""
    value = parse_json(body)
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        raise _bad_body('"name" has to be a text')
    return value["name"], _config("config", value.get("config"))


def parse_config(body: bytes) -> dict[str, str]:
    """A configuration: ``{"connector.class": …}``. Raises ConnectRestError."""
    return _config("the body", parse_json(body))


def parse_configs(body: bytes) -> list[dict[str, str]]:
    """The configurations of tasks: a list. Raises ConnectRestError."""
    value = parse_json(body)
    if not isinstance(value, list):
        raise _bad_body("it has to be a list of configurations")
    return [_config("each configuration", config) for config in value]


def parse_offsets(body: bytes) -> list[tuple[dict[str, Any] | None, dict[str, Any] | None]]:
    """Partitions and their new offsets: ``{"offsets": [{"partition": {…}, "offset": {…}}, …]}``.

    Raises ConnectRestError, BadRequestError.
    """
    value = parse_json(body, numbers_as_texts=False)
    entries = value.get("offsets") if isinstance(value, dict) else None
    if not entries:
        raise BadRequestError("Partitions / offsets need to be provided for an alter offsets request")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise _bad_body('"offsets" has to be a list of objects')
    return [(_object_or_null(entry, "partition"), _object_or_null(entry, "offset")) for entry in entries]


def _object_or_null(entry: dict[str, Any], key: str) -> dict[str, Any] | None:
    value = entry.get(key)
    if value is not None and not isinstance(value, dict):
        raise _bad_body(f'"{key}" has to be an object or null')
    return value


def _config(what: str, value: object) -> dict[str, str]:
    """Texts, numbers and booleans are values; null is a key that is not set."""
    if not isinstance(value, dict):
        raise _bad_body(f"{what} has to be an object with the configuration's keys")
    return {key: _text(key, each) for key, each in value.items() if each is not None}


def _text(key: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    raise _bad_body(f"the value of {key} is neither a text nor a number nor a boolean")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number")


def _bad_body(problem: str) -> ConnectRestError:
    """Kafka answers 500, too: its reader of bodies fails."""
    return ConnectRestError(HTTPStatus.INTERNAL_SERVER_ERROR, f"The request's body cannot be read: {problem}")
