from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafka_lite.connect.api.errors import AlreadyExistsError, ConnectError, NotFoundError
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.herder import ConnectorInfo
from kafka_lite.connect.runtime.herder_errors import BadRequestError, UnsupportedHerderError
from kafka_lite.connect.runtime.standalone.standalone_config import StandaloneConfig
from kafka_lite.connect.runtime.standalone.standalone_herder import StandaloneHerder
from kafka_lite.connect.runtime.status import State
from kafka_lite.connect.runtime.storage.memory_offset_backing_store import MemoryOffsetBackingStore
from kafka_lite.connect.runtime.storage.restart_request import RestartRequest
from kafka_lite.connect.runtime.worker import Worker
from tests.support.connect_plugins import SINK, SOURCE, TASK, FakeClients, IdleSourceConnector
from tests.support.eventually import eventually

JSON = "org.apache.kafka.connect.json.JsonConverter"
PROPS = {
    "key.converter": JSON,
    "value.converter": JSON,
    "internal.key.converter": JSON,
    "internal.value.converter": JSON,
    "offset.storage.file.filename": "unused",
}
CONFIG = {"name": "a", "connector.class": SOURCE, "count": "2", "tasks.max": "5"}
T0 = ConnectorTaskId("a", 0)


@pytest.fixture
def herder() -> Iterator[StandaloneHerder]:
    clients: Any = FakeClients()
    worker = Worker("127.0.0.1:8083", StandaloneConfig(PROPS), MemoryOffsetBackingStore(), clients=clients)
    herder = StandaloneHerder(worker)
    herder.start()
    yield herder
    herder.stop()


def _create(herder: StandaloneHerder, **changes: str) -> Any:
    return herder.put_connector_config("a", CONFIG | changes, allow_replace=False).result(0)


def _error(call: Callable[[], Any]) -> BaseException:
    error: BaseException = call().exception(0)
    return error


def _states(herder: StandaloneHerder) -> list[State]:
    info = herder.connector_status("a")
    return [info.connector.state, *(task.state for task in info.tasks)]


def test_a_connector_is_created_with_its_tasks(herder: StandaloneHerder) -> None:
    created = _create(herder)
    assert created.created
    assert created.result == ConnectorInfo("a", CONFIG, [T0, ConnectorTaskId("a", 1)])
    assert herder.connectors().result(0) == ["a"]
    assert herder.connector_info("a").result(0) == created.result
    assert herder.connector_config("a").result(0) == CONFIG
    assert [(info.id.task, info.config["task.class"]) for info in herder.task_configs("a").result(0)] == [
        (0, TASK), (1, TASK),
    ]  # fmt: skip
    eventually(lambda: _states(herder) == [State.RUNNING] * 3)
    assert herder.task_status(T0).worker_id == "127.0.0.1:8083"


def test_a_connector_is_changed_only_by_put(herder: StandaloneHerder) -> None:
    _create(herder)
    error = _error(lambda: herder.put_connector_config("a", CONFIG, allow_replace=False))
    assert isinstance(error, AlreadyExistsError)
    assert str(error) == "Connector a already exists"
    changed = herder.put_connector_config("a", CONFIG | {"count": "1"}, allow_replace=True).result(0)
    assert (changed.created, len(changed.result.tasks)) == (False, 1)


def test_a_connector_is_deleted_with_its_tasks_and_statuses(herder: StandaloneHerder) -> None:
    _create(herder)
    assert herder.delete_connector_config("a").result(0).result is None
    assert herder.connectors().result(0) == []
    with pytest.raises(NotFoundError, match="No status found for connector a"):
        herder.connector_status("a")
    with pytest.raises(NotFoundError, match="No status found for task a-0"):
        herder.task_status(T0)


@pytest.mark.parametrize(
    "call",
    [
        lambda herder: herder.connector_info("none"),
        lambda herder: herder.connector_config("none"),
        lambda herder: herder.task_configs("none"),
        lambda herder: herder.delete_connector_config("none"),
        lambda herder: herder.restart_connector("none"),
        lambda herder: herder.restart_task(ConnectorTaskId("none", 0)),
    ],
)
def test_an_unknown_connector_is_not_found(herder: StandaloneHerder, call: Any) -> None:
    error = _error(lambda: call(herder))
    assert isinstance(error, NotFoundError)
    assert str(error) == "Connector none not found"


def test_an_unknown_connector_is_not_paused(herder: StandaloneHerder) -> None:
    with pytest.raises(NotFoundError, match="Unknown connector none"):
        herder.pause_connector("none")
    with pytest.raises(NotFoundError, match="Unknown connector none"):
        herder.resume_connector("none")


def test_pause_and_resume(herder: StandaloneHerder) -> None:
    _create(herder)
    eventually(lambda: _states(herder) == [State.RUNNING] * 3)
    herder.pause_connector("a")
    assert herder.connector_status("a").connector.state is State.PAUSED
    # A change while it is paused creates a paused connector, and the tasks are computed when it is resumed.
    herder.put_connector_config("a", CONFIG | {"count": "1"}, allow_replace=True).result(0)
    assert len(herder.task_configs("a").result(0)) == 2
    herder.resume_connector("a")
    assert len(herder.task_configs("a").result(0)) == 1
    assert herder.connector_status("a").connector.state is State.RUNNING


def test_stop_and_resume(herder: StandaloneHerder) -> None:
    _create(herder)
    eventually(lambda: _states(herder) == [State.RUNNING] * 3)
    herder.stop_connector("a").result(0)
    assert _states(herder) == [State.STOPPED]
    assert (herder.task_configs("a").result(0), herder.connector_config("a").result(0)) == ([], CONFIG)
    herder.put_connector_config("a", CONFIG | {"count": "1"}, allow_replace=True).result(0)
    assert _states(herder) == [State.STOPPED]
    herder.resume_connector("a")
    eventually(lambda: _states(herder) == [State.RUNNING] * 2)
    assert str(_error(lambda: herder.stop_connector("none"))) == "Unknown connector none"


def test_only_the_offsets_of_a_stopped_connector_can_be_changed(herder: StandaloneHerder) -> None:
    _create(herder)
    alter = lambda: herder.alter_connector_offsets("a", [({"p": 1}, {"at": 2})])  # noqa: E731
    refusal = _error(alter)
    assert isinstance(refusal, BadRequestError)
    assert str(refusal).endswith("issuing a 'PUT' request to the '/connectors/a/stop' endpoint")
    herder.pause_connector("a")
    assert isinstance(_error(lambda: herder.reset_connector_offsets("a")), BadRequestError)
    herder.stop_connector("a").result(0)
    assert "altered successfully" in alter().result(0)
    assert [(each.partition, each.offset) for each in herder.connector_offsets("a")] == [({"p": 1}, {"at": 2})]
    assert "reset successfully" in herder.reset_connector_offsets("a").result(0)
    assert herder.connector_offsets("a") == []
    assert isinstance(_error(lambda: herder.reset_connector_offsets("none")), NotFoundError)


def test_restarts(herder: StandaloneHerder) -> None:
    _create(herder)
    eventually(lambda: _states(herder) == [State.RUNNING] * 3)
    before = len(IdleSourceConnector.created)
    herder.restart_connector("a").result(0)
    assert len(IdleSourceConnector.created) == before + 1
    herder.restart_task(T0).result(0)
    eventually(lambda: _states(herder) == [State.RUNNING] * 3)
    error = _error(lambda: herder.restart_task(ConnectorTaskId("a", 7)))
    assert str(error) == "Task a-7 not found"


def test_a_connector_is_restarted_with_its_tasks(herder: StandaloneHerder) -> None:
    _create(herder)
    eventually(lambda: _states(herder) == [State.RUNNING] * 3)
    before = len(IdleSourceConnector.created)
    info = herder.restart_connector_and_tasks(RestartRequest("a", include_tasks=True)).result(0)
    assert [info.connector.state, *(task.state for task in info.tasks)] == [State.RESTARTING] * 3
    assert info.kind == "source"
    assert len(IdleSourceConnector.created) == before + 1
    eventually(lambda: _states(herder) == [State.RUNNING] * 3)
    error = _error(lambda: herder.restart_connector_and_tasks(RestartRequest("none")))
    assert isinstance(error, NotFoundError)
    assert str(error) == "Unknown connector: none"


def test_what_has_failed_is_restarted_alone(herder: StandaloneHerder) -> None:
    _create(herder, fails="task")
    eventually(lambda: _states(herder) == [State.RUNNING, State.FAILED, State.FAILED])
    before = len(IdleSourceConnector.created)
    info = herder.restart_connector_and_tasks(RestartRequest("a", True, True)).result(0)
    assert info.connector.state is State.RUNNING
    assert [task.state for task in info.tasks] == [State.RESTARTING] * 2
    assert len(IdleSourceConnector.created) == before


def test_a_connector_may_ask_for_other_tasks(herder: StandaloneHerder) -> None:
    _create(herder)
    connector = IdleSourceConnector.created[-1]
    assert isinstance(connector, IdleSourceConnector)
    connector.props = {"count": "4"}
    connector.context.request_task_reconfiguration()
    assert len(herder.task_configs("a").result(0)) == 4
    herder.request_task_reconfiguration("unknown")


def test_failures_are_reported_with_their_trace(herder: StandaloneHerder) -> None:
    _create(herder, fails="task", count="1")
    eventually(lambda: _states(herder) == [State.RUNNING, State.FAILED])
    trace = herder.task_status(T0).trace
    assert trace is not None
    assert trace.startswith("Traceback")
    assert trace.endswith("ValueError: the task fails\n")


def test_a_connector_that_fails_to_start_has_no_tasks(herder: StandaloneHerder) -> None:
    assert _create(herder, fails="start").result.tasks == []
    assert _states(herder) == [State.FAILED]


def test_invalid_configurations_are_refused(herder: StandaloneHerder) -> None:
    error = _error(
        lambda: herder.put_connector_config("a", CONFIG | {"tasks.max": "0", "count": "x"}, allow_replace=True)
    )
    assert isinstance(error, BadRequestError)
    first, *errors, last = str(error).splitlines()
    assert first == "Connector configuration is invalid and contains the following 2 error(s):"
    assert errors[0] == "Invalid value 0 for configuration tasks.max: Value must be at least 1"
    assert last == "You can also find the above list of errors at the endpoint `/{connectorType}/config/validate`"
    error = _error(lambda: herder.put_connector_config("a", {"file": "f", "name": "x"}, allow_replace=True))
    assert str(error) == "Connector config {file=f, name=x} contains no connector type"
    error = _error(lambda: herder.put_connector_config("a", {"connector.class": "NoSuch"}, allow_replace=True))
    assert type(error) is ConnectError
    assert "available connectors are: " in str(error)
    assert "org.apache.kafka.connect.file.FileStreamSinkConnector" in str(error)


def test_validation_knows_that_a_sink_may_not_read_its_dead_letter_queue(herder: StandaloneHerder) -> None:
    sink = {"name": "s", "connector.class": "FileStreamSink", "file": "f", "topics": "t"}
    infos = herder.validate_connector_config(sink | {"errors.deadletterqueue.topic.name": "t"})
    assert infos.errors == [
        "The DLQ topic 't' may not be included in the list of topics ('topics=[t]') consumed by the connector"
    ]


def test_validation_covers_transformations(herder: StandaloneHerder) -> None:
    hoist = {"transforms": "r", "transforms.r.type": "org.apache.kafka.connect.transforms.HoistField$Value"}
    infos = herder.validate_connector_config(CONFIG | hoist)
    assert infos.groups == ["Common", "Transforms", "Error Handling", "Transforms: r"]
    assert infos.errors == ['Missing required configuration "transforms.r.field" which has no default value.']
    names = {info.value.name for info in infos.configs}
    assert {"transforms.r.type", "transforms.r.field", "count", "name"} <= names
    assert infos.name == SOURCE
    assert "topics" in {info.value.name for info in herder.validate_connector_config({"connector.class": SINK}).configs}


def test_task_configs_cannot_be_set_from_outside(herder: StandaloneHerder) -> None:
    assert isinstance(_error(lambda: herder.put_task_configs("a", [{}])), UnsupportedHerderError)


def test_the_only_worker_is_the_cluster(herder: StandaloneHerder, caplog: pytest.LogCaptureFixture) -> None:
    herder.set_cluster_logger_level("standalone_test_level", "debug")
    assert herder.logger_levels()["standalone_test_level"][0] == "DEBUG"
    assert herder.set_worker_logger_level("standalone_test_level", "LOUD") == []
    assert "Ignoring request to set invalid level 'LOUD' for namespace standalone_test_level" in caplog.text
    assert herder.kafka_cluster_id == "cluster-1"
