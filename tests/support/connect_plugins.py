"""Connectors for the tests of herders and workers."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from kafka_lite.common.config_def import NO_DEFAULT, ConfigDef, Importance, Type
from kafka_lite.connect.api.connector import Connector
from kafka_lite.connect.api.sink_connector import SinkConnector
from kafka_lite.connect.api.sink_record import SinkRecord
from kafka_lite.connect.api.sink_task import SinkTask
from kafka_lite.connect.api.source_connector import SourceConnector
from kafka_lite.connect.api.source_record import SourceRecord
from kafka_lite.connect.api.source_task import SourceTask
from kafka_lite.connect.api.task import Task
from tests.support.connect_groups import FakeGroupAdmin
from tests.support.connect_tasks import FakeConsumer, FakeProducer

SOURCE = "tests.support.connect_plugins.IdleSourceConnector"
SINK = "tests.support.connect_plugins.IdleSinkConnector"
TASK = "tests.support.connect_plugins.IdleSourceTask"


class FakeClients:
    """Makes clients that do nothing, and keeps their configurations."""

    def __init__(self) -> None:
        self.producers: list[Mapping[str, object]] = []
        self.consumers: list[Mapping[str, object]] = []
        self.admins: list[Mapping[str, object]] = []
        self.group = FakeGroupAdmin({("t", 0): 5})
        self.topics: list[tuple[str, int, int]] = []
        """Name, partitions and replication factor of those that were to be created."""

    def producer(self, config: Mapping[str, object]) -> Any:
        self.producers.append(config)
        return FakeProducer()

    def topic_admin(self, config: Mapping[str, object]) -> Any:
        self.admins.append(config)
        return self

    def cluster_id(self) -> str:
        return "cluster-1"

    def group_admin(self, config: Mapping[str, object]) -> Any:
        self.admins.append(config)
        return self.group

    def ensure_exists(self, topic: str, partitions: int, replication_factor: int) -> bool:
        self.topics.append((topic, partitions, replication_factor))
        return True

    def consumer(self, config: Mapping[str, object]) -> Any:
        self.consumers.append(config)
        return IdleConsumer()


class IdleConsumer(FakeConsumer):
    """A poll waits until the consumer is woken up."""

    def __init__(self) -> None:
        super().__init__()
        self._wakeups = threading.Semaphore(0)

    def wakeup(self) -> None:
        super().wakeup()
        self._wakeups.release()

    def poll(self, timeout_ms: float) -> list[Any]:
        self._wakeups.acquire(timeout=10)
        return super().poll(timeout_ms)


class IdleSourceConnector(SourceConnector):
    """As many tasks as ``count`` says. ``fails`` names a method that raises."""

    created: ClassVar[list[Connector]] = []

    def __init__(self) -> None:
        self.props: Mapping[str, str] = {}
        self.created.append(self)

    def config(self) -> ConfigDef:
        return ConfigDef().define("count", Type.INT, NO_DEFAULT, Importance.HIGH, "The number of tasks.")

    def start(self, props: Mapping[str, str]) -> None:
        self.props = props
        self._maybe_fail("start")

    def stop(self) -> None:
        self._maybe_fail("stop")

    def task_class(self) -> type[Task]:
        return IdleSourceTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        self._maybe_fail("task_configs")
        count = min(int(self.props["count"]), max_tasks)
        return [{"number": str(number), "fails": self.props.get("fails", "")} for number in range(count)]

    def _maybe_fail(self, method: str) -> None:
        if self.props.get("fails") == method:
            raise ValueError(f"{method} fails")


class IdleSourceTask(SourceTask):
    """Has nothing to read."""

    def __init__(self) -> None:
        self._stopped = threading.Event()

    def start(self, props: Mapping[str, str]) -> None:
        if props.get("fails") == "task":
            raise ValueError("the task fails")

    def stop(self) -> None:
        self._stopped.set()

    def poll(self) -> Sequence[SourceRecord] | None:
        self._stopped.wait(10)
        return None


class IdleSinkConnector(SinkConnector):
    """One task."""

    def start(self, props: Mapping[str, str]) -> None:
        pass

    def task_class(self) -> type[Task]:
        return IdleSinkTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [{} for _ in range(max_tasks)]


class IdleSinkTask(SinkTask):
    """Writes nothing."""

    def start(self, props: Mapping[str, str]) -> None:
        pass

    def stop(self) -> None:
        pass

    def put(self, records: Sequence[SinkRecord]) -> None:
        pass


class NeitherTask(Task):
    """Not a source task and not a sink task."""

    def start(self, props: Mapping[str, str]) -> None:
        pass

    def stop(self) -> None:
        pass
