from typing import Any

import pytest

from kafka_lite.tools.connect.connect_rest import ConnectRestError
from kafka_lite.tools.connect.connect_snapshot import Part, connect_snapshot, connector_snapshot

CONFIG = {"connector.class": "a.b.MySink", "topics": "t"}
STATUS = {
    "connector": {"state": "RUNNING", "worker_id": "w:1"},
    "tasks": [
        {"id": 0, "state": "FAILED", "worker_id": "w:2", "trace": "java.lang.X: no\n\tat a.B"},
        {"id": 1, "state": "RUNNING", "worker_id": "w:1"},
        {"id": 2, "state": "UNASSIGNED", "worker_id": "w:3"},
    ],
}


class Rest:
    """Answers, or the errors with these statuses."""

    url = "http://w:1"

    def __init__(self, config: Any = CONFIG, status: Any = STATUS) -> None:
        self._config, self._status = config, status

    def version(self) -> str:
        return "3.9.1"

    def connectors(self) -> list[str]:
        return ["c"]

    def connector(self, name: str) -> dict[str, Any]:
        return {"config": self._found(self._config)}

    def status(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self._found(self._status)
        return found

    @staticmethod
    def _found(answer: Any) -> Any:
        if isinstance(answer, int):
            raise ConnectRestError(answer, f"error {answer}")
        return answer


def test_a_snapshot_counts_states_and_workers() -> None:
    snapshot = connect_snapshot(Rest())
    (connector,) = snapshot.connectors
    assert (connector.kind, connector.class_name) == ("sink", "MySink")
    assert connector.state_of_tasks == "1 FAILED, 1 RUNNING, 1 UNASSIGNED"
    assert connector.workers == ["w:1", "w:2"]
    assert snapshot.workers == {"w:1": (1, 1), "w:2": (0, 1)}
    assert {name: part.reason for name, part in connector.failures.items()} == {"task 0": "X: no"}


@pytest.mark.parametrize(
    ("trace", "reason"),
    [
        ("Traceback (most recent call last):\n  File x\nValueError: bad\n", "ValueError: bad"),
        ("Traceback (most recent call last):\n  x\na.b.ConnectError: no a.b\n", "ConnectError: no a.b"),
        ("org.apache.X: bad\n\tat y\n", "X: bad"),
        ("", ""),
    ],
)
def test_the_reason_of_a_failure(trace: str, reason: str) -> None:
    assert Part("FAILED", "w", trace).reason == reason


def test_a_group_that_rebalances_says_only_statuses() -> None:
    connector = connector_snapshot(Rest(config=409), "c")
    assert (connector.kind, connector.class_name, connector.connector.state) == ("?", "?", "RUNNING")


def test_a_connector_that_was_just_created_has_no_status() -> None:
    connector = connector_snapshot(Rest(config={}, status=404), "c")
    assert (connector.connector.state, connector.workers, connector.state_of_tasks) == ("?", [], "")
    assert connect_snapshot(Rest(status=404)).workers == {}


def test_lags_are_those_of_sinks() -> None:
    asked: list[Any] = []

    def lags(names: Any) -> dict[str, int]:
        asked.append(names)
        return {"c": 12}

    (sink,) = connect_snapshot(Rest(), lags).connectors
    (source,) = connect_snapshot(Rest(config={"connector.class": "a.Source"}), lags).connectors
    assert (sink.lag, source.lag, asked) == (12, None, [["c"]])
    assert connect_snapshot(Rest()).connectors[0].lag is None


@pytest.mark.parametrize(("config", "status"), [(404, 404), (500, STATUS), (CONFIG, 500)])
def test_errors(config: Any, status: Any) -> None:
    with pytest.raises(ConnectRestError):
        connector_snapshot(Rest(config, status), "c")
