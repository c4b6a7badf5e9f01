from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.distributed.task_reconfiguration import (
    RECONFIGURE_CONNECTOR_TASKS_BACKOFF_MS,
    ForwardingThread,
    TaskReconfiguration,
    has_changed,
)
from kafka_lite.connect.runtime.storage.cluster_config_state import ClusterConfigState
from tests.support.patience import patient_s

ID = ConnectorTaskId
KNOWN = ClusterConfigState(
    9, {"a": 2}, {"a": {"name": "a", "connector.class": "C"}}, {}, {ID("a", 0): {"n": "0"}, ID("a", 1): {"n": "1"}}
)


@pytest.mark.parametrize(
    ("wanted", "changed"),
    [
        ([{"n": "0"}, {"n": "1"}], False),
        ([{"n": "1"}, {"n": "0"}], True),
        ([{"n": "0"}], True),
        ([{"n": "0"}, {"n": "1"}, {"n": "2"}], True),
    ],
)
def test_only_other_tasks_are_written(wanted: list[dict[str, str]], changed: bool) -> None:
    assert has_changed(wanted, KNOWN, "a") == changed


def test_a_former_task_with_the_same_number_does_not_count() -> None:
    """A connector that was deleted leaves its task configurations, but a commit of none counts."""
    assert has_changed([{"n": "0"}], ClusterConfigState(9, {"a": 0}, {}, {}, {ID("a", 0): {"n": "0"}}), "a")


def test_the_tasks_of_an_inconsistent_connector_are_written_again() -> None:
    """Its last commit came twice, or compaction has removed a part of them."""
    inconsistent = replace(KNOWN, inconsistent_connectors=frozenset("a"))
    assert has_changed([{"n": "0"}, {"n": "1"}], inconsistent, "a")
    assert not has_changed([{"n": "0"}, {"n": "1"}], replace(KNOWN, inconsistent_connectors=frozenset("b")), "a")


class World:
    """Herder, worker, store and leader in one; notes what is asked of it."""

    def __init__(self, is_leader: bool, *, running: bool = True) -> None:
        self.config_state = KNOWN
        self.is_leader = is_leader
        self.leader_url: str | None = "http://leader:8083/"
        self.running = running
        self.wanted: list[dict[str, str]] = [{"n": "5"}]
        self.done: list[Any] = []
        self.errors: list[Exception] = []

    def is_running(self, name: str) -> bool:
        return self.running

    def is_sink_connector(self, name: str) -> bool:
        return False

    def connector_task_configs(self, name: str, max_tasks: int, subscription: Any = None) -> list[dict[str, str]]:
        if self.errors:
            raise self.errors.pop()
        return self.wanted

    def put_task_configs(self, name: str, configs: Any) -> None:
        self.done.append(("written", name, configs))

    def reconfigure_later(self, name: str, delay_ms: float) -> None:
        self.done.append(("later", name, delay_ms))

    def send(self, url: str, method: str, body: object) -> Any:
        self.done.append((method, url, body))
        if self.errors:
            raise self.errors.pop()


def _reconfigure(world: World, monkeypatch: pytest.MonkeyPatch, name: str = "a") -> list[Any]:
    monkeypatch.setattr(ForwardingThread, "run_soon", lambda _self, call: call())
    parts: Any = world
    TaskReconfiguration(parts, parts, parts, world.send).reconfigure(name)
    return world.done


def test_the_leader_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _reconfigure(World(is_leader=True), monkeypatch) == [("written", "a", [{"n": "5"}])]


def test_others_ask_the_leader(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(is_leader=False)
    world.config_state = ClusterConfigState(9, {}, {"a b/c": {"name": "a", "connector.class": "C"}})
    url = "http://leader:8083/connectors/a%20b%2Fc/tasks"
    assert _reconfigure(world, monkeypatch, "a b/c") == [("POST", url, [{"n": "5"}])]


@pytest.mark.parametrize("world", [World(is_leader=True), World(is_leader=False)])
def test_tasks_that_are_as_they_should_be_are_not_written(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.wanted = [{"n": "0"}, {"n": "1"}]
    assert _reconfigure(world, monkeypatch) == []


def test_a_connector_that_does_not_run_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _reconfigure(World(is_leader=True, running=False), monkeypatch) == []
    assert _reconfigure(World(is_leader=True), monkeypatch, "deleted") == []


def test_any_error_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    later = ("later", "a", RECONFIGURE_CONNECTOR_TASKS_BACKOFF_MS)
    leader = World(is_leader=True)
    leader.errors = [ValueError("taskConfigs")]
    assert _reconfigure(leader, monkeypatch) == [later]

    refused = World(is_leader=False)
    monkeypatch.setattr(refused, "send", lambda *_: [][0])
    assert _reconfigure(refused, monkeypatch) == [later]

    unknown = World(is_leader=False)
    unknown.leader_url = None
    assert _reconfigure(unknown, monkeypatch) == [later]


def test_the_forwarding_thread_makes_calls_and_stops() -> None:
    thread, called = ForwardingThread(), threading.Event()
    thread.start()
    thread.run_soon(called.set)
    assert called.wait(patient_s(60))
    thread.shutdown()
    assert not thread.is_alive()
