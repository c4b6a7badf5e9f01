from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.storage.cluster_config_state import EMPTY, ClusterConfigState
from kafka_lite.connect.runtime.target_state import TargetState

ID = ConnectorTaskId


def test_the_empty_state_knows_nothing() -> None:
    assert EMPTY.offset == -1
    assert EMPTY.connectors == EMPTY.tasks("a") == EMPTY.all_task_configs("a") == []
    assert "a" not in EMPTY
    assert (EMPTY.connector_config("a"), EMPTY.target_state("a"), EMPTY.task_config(ID("a", 0))) == (None, None, None)
    assert EMPTY.task_count("a") == 0


def test_an_inconsistent_connector_has_no_tasks() -> None:
    state = ClusterConfigState(
        7, {"a": 2, "b": 1}, {"b": {}, "a": {"x": "y"}}, {"a": TargetState.PAUSED}, {}, frozenset({"a"})
    )
    assert state.connectors == ["a", "b"]
    assert (state.tasks("a"), state.task_count("a")) == ([], 2)
    assert state.tasks("b") == [ID("b", 0)]
    assert (state.connector_config("a"), state.target_state("a")) == ({"x": "y"}, TargetState.PAUSED)


def test_task_configs_are_sorted_by_number() -> None:
    configs = {ID("a", 10): {"n": "10"}, ID("b", 0): {"n": "b"}, ID("a", 9): {"n": "9"}}
    state = ClusterConfigState(task_configs=configs)
    assert state.all_task_configs("a") == [{"n": "9"}, {"n": "10"}]
    assert state.task_config(ID("b", 0)) == {"n": "b"}
