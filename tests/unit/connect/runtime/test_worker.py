from collections.abc import Iterator, Mapping

import pytest

from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.standalone.standalone_config import StandaloneConfig
from kafka_lite.connect.runtime.storage.memory_offset_backing_store import MemoryOffsetBackingStore
from kafka_lite.connect.runtime.target_state import TargetState
from kafka_lite.connect.runtime.worker import Worker
from tests.support.connect_plugins import SINK, SOURCE, TASK, FakeClients
from tests.support.connect_tasks import Reports
from tests.support.eventually import eventually

JSON = "org.apache.kafka.connect.json.JsonConverter"
BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
PROPS = {
    "bootstrap.servers": "b:1,c:2",
    "key.converter": JSON,
    "value.converter": JSON,
    "internal.key.converter": JSON,
    "internal.value.converter": JSON,
    "internal.key.converter.schemas.enable": "false",
    "internal.value.converter.schemas.enable": "false",
    "offset.storage.file.filename": "unused",
    "producer.linger.ms": "7",
    "consumer.max.poll.records": "9",
}
STARTED, PAUSED = TargetState.STARTED, TargetState.PAUSED
T0 = ConnectorTaskId("a", 0)
SOURCE_CONFIG = {"name": "a", "connector.class": SOURCE, "count": "2", "tasks.max": "3"}
SINK_CONFIG = {"name": "a", "connector.class": SINK, "topics": "t"}


class Rig:
    def __init__(self) -> None:
        self.clients, self.reports = FakeClients(), Reports()
        config = StandaloneConfig(PROPS)
        self.worker = Worker("w:1", config, MemoryOffsetBackingStore(), clients=self.clients)  # type: ignore[arg-type]
        self.worker.start()

    def start_connector(self, **changes: str) -> bool:
        config = SOURCE_CONFIG | changes
        return self.worker.start_connector("a", config, lambda: None, self.reports, STARTED)

    def start_task(self, task_class: str = TASK, **changes: str) -> bool:
        config = {"task.class": task_class, "topics": "t"}
        return self.worker.start_task(T0, SOURCE_CONFIG | changes, config, self.reports, STARTED)


@pytest.fixture
def rig() -> Iterator[Rig]:
    rig = Rig()
    yield rig
    rig.worker.stop()


def test_a_connector_is_started_asked_and_stopped(rig: Rig) -> None:
    assert rig.start_connector()
    assert (rig.worker.connector_names, rig.worker.is_running("a")) == (["a"], True)
    assert not rig.worker.is_sink_connector("a")
    assert rig.worker.connector_task_configs("a", 3) == [
        {"number": "0", "fails": "", "task.class": TASK},
        {"number": "1", "fails": "", "task.class": TASK},
    ]
    assert rig.worker.connector_task_configs("a", 1, {"topics": "x,y"})[0]["topics"] == "x,y"
    with pytest.raises(ConnectError, match="Connector with name a already exists"):
        rig.start_connector()
    rig.worker.set_target_state("a", PAUSED)
    assert not rig.worker.is_running("a")
    assert rig.worker.stop_connector("a")
    assert not rig.worker.stop_connector("a")
    assert rig.reports.told == ["a startup", "a pause", "a shutdown"]
    with pytest.raises(ConnectError, match="Connector a not found in this worker"):
        rig.worker.is_sink_connector("a")


@pytest.mark.parametrize("change", [{"connector.class": "NoSuch"}, {"tasks.max": "0"}, {"transforms": "t"}])
def test_a_connector_that_cannot_be_created_has_failed(rig: Rig, change: dict[str, str]) -> None:
    assert not rig.start_connector(**change)
    assert (rig.reports.told, rig.worker.connector_names) == (["a failure"], [])


def test_a_connector_that_fails_to_start_was_created(rig: Rig) -> None:
    assert rig.start_connector(fails="start")
    assert (rig.reports.told, rig.worker.connector_names) == (["a failure"], ["a"])
    assert not rig.worker.is_running("a")


def test_a_source_task_has_a_careful_producer(rig: Rig) -> None:
    assert rig.start_task()
    (config,) = rig.clients.producers
    assert config["bootstrap.servers"] == "b:1,c:2"
    assert (config["acks"], config["max.in.flight.requests.per.connection"], config["linger.ms"]) == ("all", 1, "7")
    assert rig.worker.task_ids == [T0]
    with pytest.raises(ConnectError, match="Task already exists in this worker: a-0"):
        rig.start_task()
    rig.worker.stop_and_await_tasks([T0, ConnectorTaskId("unknown", 0)])
    assert rig.worker.task_ids == []
    assert rig.reports.told == ["a-0 startup", "a-0 shutdown"]


def test_a_sink_task_is_in_the_group_of_its_connector(rig: Rig) -> None:
    assert rig.start_task("tests.support.connect_plugins.IdleSinkTask", **SINK_CONFIG)
    (config,) = rig.clients.consumers
    assert (config["group.id"], config["auto.offset.reset"]) == ("connect-a", "earliest")
    assert (config["enable.auto.commit"], config["max.poll.records"]) == ("false", "9")
    assert rig.worker._tasks[T0]._context.errant_record_reporter is None  # type: ignore[attr-defined]
    rig.worker.set_target_state("a", PAUSED)
    rig.worker.stop_and_await_tasks([T0])
    assert rig.reports.told[0] == "a-0 startup"
    assert rig.reports.told[-1] == "a-0 shutdown"


@pytest.mark.parametrize("task_class", ["no.such.Task", "builtins.dict", "tests.support.connect_plugins.NeitherTask"])
def test_a_task_that_cannot_be_created_has_failed(rig: Rig, task_class: str) -> None:
    assert not rig.start_task(task_class)
    assert (rig.reports.told, rig.worker.task_ids) == (["a-0 failure"], [])


def test_a_connectors_own_converter_replaces_the_workers(rig: Rig) -> None:
    assert not rig.start_task(**{"key.converter": "no.such.Converter"})
    assert rig.start_task(**{"value.converter": "org.apache.kafka.connect.storage.StringConverter"})


@pytest.mark.parametrize("task", [TASK, "tests.support.connect_plugins.IdleSinkTask"])
def test_a_connectors_own_converter_of_headers_replaces_the_workers(rig: Rig, task: str) -> None:
    config = SINK_CONFIG if task != TASK else {}
    assert not rig.start_task(task, **config, **{"header.converter": "no.such.Converter"})
    assert rig.start_task(task, **config, **{"header.converter": BYTES})


def test_a_workers_converter_of_headers_must_be_one() -> None:
    with pytest.raises(ConnectError, match="is not a HeaderConverter"):
        Worker("w:1", StandaloneConfig(PROPS | {"header.converter": JSON}), MemoryOffsetBackingStore())


def test_a_dead_letter_queue_is_created_and_has_a_producer_of_its_own(rig: Rig) -> None:
    queue = {"errors.deadletterqueue.topic.name": "dead", "errors.deadletterqueue.topic.replication.factor": "2"}
    task = "tests.support.connect_plugins.IdleSinkTask"
    assert rig.start_task(task, **SINK_CONFIG, **queue, **{"errors.log.enable": "true"})
    assert rig.clients.topics == [("dead", 1, 2)]
    (config,) = rig.clients.producers
    assert (config["client.id"], config["acks"]) == ("connector-dlq-producer-a-0", "all")
    assert rig.worker._tasks[T0]._context.errant_record_reporter is not None  # type: ignore[attr-defined]


def test_a_sink_that_would_read_its_dead_letter_queue_fails(rig: Rig) -> None:
    queue = {"errors.deadletterqueue.topic.name": "t"}
    assert not rig.start_task("tests.support.connect_plugins.IdleSinkTask", **SINK_CONFIG, **queue)
    assert "The DLQ topic 't' may not be included" in str(rig.reports.errors[0])


def test_a_task_that_does_not_end_is_abandoned() -> None:
    rig = Rig()
    rig.worker.config._values["task.shutdown.graceful.timeout.ms"] = 0
    rig.start_task()
    task = rig.worker._tasks[T0]
    stop, task.initiate_shutdown = task.initiate_shutdown, lambda: False  # type: ignore[method-assign]
    rig.worker.stop()
    assert rig.worker.task_ids == []
    stop()
    task.await_shutdown(10)
    assert rig.reports.told == ["a-0 startup"]


def test_offsets_are_those_of_the_store_or_of_the_sinks_group(rig: Rig) -> None:
    assert "altered" in rig.worker.modify_connector_offsets("a", SOURCE_CONFIG, [({"p": 1}, {"at": 2})])
    assert [each.offset for each in rig.worker.connector_offsets("a", SOURCE_CONFIG)] == [{"at": 2}]
    assert [each.offset for each in rig.worker.connector_offsets("a", SINK_CONFIG)] == [{"kafka_offset": 5}]
    assert "reset" in rig.worker.modify_connector_offsets("a", SINK_CONFIG, None)
    assert rig.worker.connector_offsets("a", SINK_CONFIG) == []
    assert [each.offset for each in rig.worker.connector_offsets("a", SOURCE_CONFIG)] == [{"at": 2}]


def test_what_runs_here_can_be_seen(rig: Rig) -> None:
    def beans() -> dict[str, Mapping[str, object]]:
        return {
            name.mbean_name.removeprefix("kafka.connect:type="): read
            for name, read in rig.worker.metrics.beans.query().items()
        }

    assert not rig.start_connector(**{"connector.class": "NoSuch"})
    assert rig.start_connector()
    assert rig.start_task()
    eventually(lambda: beans()["connector-task-metrics,connector=a,task=0"]["status"] == "running")
    assert beans()["connector-metrics,connector=a"] == {
        "connector-class": SOURCE, "connector-version": "undefined", "connector-type": "source", "status": "running",
    }  # fmt: skip
    worker = beans()["connect-worker-metrics"]
    assert (worker["connector-count"], worker["task-count"]) == (1, 1)
    assert (worker["connector-startup-failure-total"], worker["task-startup-success-total"]) == (1, 1)
    rig.worker.set_target_state("a", PAUSED)
    assert beans()["connector-metrics,connector=a"]["status"] == "paused"
    rig.worker.stop_and_await_tasks([T0])
    rig.worker.stop_connector("a")
    assert list(beans()) == ["connect-worker-metrics"]
