from typing import Any

import pytest

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.herder import ConnectorStateInfo
from kafka_lite.connect.runtime.rest.entities import (
    connector_state_json,
    parse_config,
    parse_configs,
    parse_create_request,
)
from kafka_lite.connect.runtime.rest.rest_errors import ConnectRestError
from kafka_lite.connect.runtime.status import ConnectorStatus, State, TaskStatus


def test_tasks_are_sorted_and_only_failures_have_a_trace() -> None:
    tasks = [
        TaskStatus(ConnectorTaskId("a", 10), State.RUNNING, "w:1", 0),
        TaskStatus(ConnectorTaskId("a", 9), State.FAILED, "w:2", 0, "Traceback"),
    ]
    assert connector_state_json(ConnectorStateInfo("a", ConnectorStatus("a", State.PAUSED, "w:1", 0), tasks)) == {
        "name": "a",
        "connector": {"state": "PAUSED", "worker_id": "w:1"},
        "tasks": [
            {"state": "FAILED", "trace": "Traceback", "id": 9, "worker_id": "w:2"},
            {"state": "RUNNING", "id": 10, "worker_id": "w:1"},
        ],
    }


def test_numbers_are_the_texts_that_were_written() -> None:
    body = b'{"a": 1, "b": 1.50, "c": true, "d": "\xc3\xa9", "e": null, "f": 123456789012345678901234567890}'
    assert parse_config(body) == {
        "a": "1", "b": "1.50", "c": "true", "d": "é", "f": "123456789012345678901234567890",
    }  # fmt: skip


def test_a_request_to_create_may_say_more() -> None:
    assert parse_create_request(b'{"name": "a", "config": {"x": "1"}, "initial_state": "STOPPED"}') == (
        "a", {"x": "1"},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("parse", "body"),
    [
        (parse_config, b""),
        (parse_config, b"{"),
        (parse_config, b"\xff"),
        (parse_config, b'{"a": NaN}'),
        (parse_config, b'{"a": []}'),
        (parse_config, b"[]"),
        (parse_config, b"[" * 100_000),
        (parse_configs, b"{}"),
        (parse_configs, b"[1]"),
        (parse_create_request, b"[]"),
        (parse_create_request, b'{"config": {}}'),
        (parse_create_request, b'{"name": null, "config": {}}'),
        (parse_create_request, b'{"name": "a"}'),
    ],
)
def test_other_bodies_are_refused(parse: Any, body: bytes) -> None:
    with pytest.raises(ConnectRestError, match="body cannot be read") as refused:
        parse(body)
    assert refused.value.status == 500
