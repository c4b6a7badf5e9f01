from collections.abc import Sequence

import pytest

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.storage.memory_config_backing_store import MemoryConfigBackingStore
from kafka_lite.connect.runtime.target_state import TargetState

ID = ConnectorTaskId


class Listener:
    def __init__(self) -> None:
        self.calls: list[object] = []

    def on_connector_config_remove(self, connector: str) -> None:
        self.calls.append(("removed", connector))

    def on_connector_config_update(self, connector: str) -> None:
        self.calls.append(("updated", connector))

    def on_task_config_update(self, tasks: Sequence[ConnectorTaskId]) -> None:
        self.calls.append(("tasks", *map(str, tasks)))

    def on_connector_target_state_change(self, connector: str) -> None:
        self.calls.append(("target", connector))


def test_a_connector_from_creation_to_deletion() -> None:
    store, listener = MemoryConfigBackingStore(), Listener()
    store.set_update_listener(listener)
    store.start()
    store.put_connector_config("a", {"x": "1"})
    store.put_task_configs("a", [{"n": "0"}, {"n": "1"}])
    state = store.snapshot()
    assert "a" in store
    assert (state.offset, state.connector_config("a"), state.target_state("a")) == (-1, {"x": "1"}, TargetState.STARTED)
    assert state.tasks("a") == [ID("a", 0), ID("a", 1)]

    store.put_target_state("a", TargetState.PAUSED)
    store.put_connector_config("a", {"x": "2"})
    store.refresh(0)
    state = store.snapshot()
    assert (state.connector_config("a"), state.target_state("a"), state.task_count("a")) == (
        {"x": "2"}, TargetState.PAUSED, 2,
    )  # fmt: skip

    store.remove_task_configs("a")
    store.remove_connector_config("a")
    store.remove_connector_config("a")
    store.stop()
    assert store.snapshot().connectors == []
    assert listener.calls == [
        ("updated", "a"), ("tasks", "a-0", "a-1"), ("target", "a"), ("updated", "a"), ("tasks", "a-0", "a-1"),
        ("removed", "a"),
    ]  # fmt: skip


def test_an_unknown_connector_has_neither_tasks_nor_a_target_state() -> None:
    store = MemoryConfigBackingStore()
    with pytest.raises(KeyError):
        store.put_task_configs("a", [])
    with pytest.raises(KeyError):
        store.remove_task_configs("a")
    with pytest.raises(KeyError):
        store.put_target_state("a", TargetState.PAUSED)
