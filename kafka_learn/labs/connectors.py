"""A worker for the labs on Connect: it runs in the test's process, with the learner's modules, on the lab's broker."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from kafka_learn.labs.broker import LabBroker
from kafka_learn.labs.clients import TIMEOUT_S
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.standalone.standalone_config import StandaloneConfig
from kafka_lite.connect.runtime.standalone.standalone_herder import StandaloneHerder
from kafka_lite.connect.runtime.storage.file_offset_backing_store import FileOffsetBackingStore
from kafka_lite.connect.runtime.worker import Worker

JSON = "org.apache.kafka.connect.json.JsonConverter"
STRING = "org.apache.kafka.connect.storage.StringConverter"
_POLL_S = 0.02


def settle(reached: Callable[[], bool], wanted: str) -> None:
    """Wait until something is so. Raises AssertionError, which says what was wanted."""
    deadline_s = time.monotonic() + TIMEOUT_S
    while not reached():
        assert time.monotonic() < deadline_s, f"after {TIMEOUT_S} s still not so: {wanted}"
        time.sleep(_POLL_S)


class LabWorker:
    """A worker by itself, between ``__enter__`` and ``__exit__``. Source offsets are in a file of ``folder``."""

    def __init__(self, broker: LabBroker, folder: Path, **settings: str) -> None:
        """``settings`` are keys of the worker, with underscores in the place of dots."""
        self.offsets = folder / "connect.offsets"
        props = {
            "bootstrap.servers": broker.bootstrap_servers,
            "key.converter": STRING, "value.converter": STRING,
            "internal.key.converter": JSON, "internal.key.converter.schemas.enable": "false",
            "internal.value.converter": JSON, "internal.value.converter.schemas.enable": "false",
            "offset.flush.interval.ms": "100", "offset.storage.file.filename": str(self.offsets),
        }  # fmt: skip
        config = StandaloneConfig({**props, **{key.replace("_", "."): value for key, value in settings.items()}})
        store = FileOffsetBackingStore(config["offset.storage.file.filename"])
        self.herder = StandaloneHerder(Worker("127.0.0.1:8083", config, store))

    def __enter__(self) -> Self:
        self.herder.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.herder.stop()

    def create(self, name: str, connector: str, config: Mapping[str, Any]) -> None:
        """Create a connector, and wait until all of its tasks run. Raises AssertionError if one fails."""
        props = {"name": name, "connector.class": connector, **{key: str(value) for key, value in config.items()}}
        created = self.herder.put_connector_config(name, props, allow_replace=False).result(TIMEOUT_S)
        assert created.result is not None
        for task in created.result.tasks:
            settle(lambda task=task: self.state(task) != "none", f"task {task} has started")  # type: ignore[misc]
        self.must_run(name)

    def state(self, task: ConnectorTaskId) -> str:
        """The state that a task has reported, ``none`` if it has not."""
        found = [each.state.name for each in self.herder.connector_status(task.connector).tasks if each.id == task]
        return found[0] if found else "none"

    def must_run(self, name: str) -> None:
        """Raise AssertionError, with the trace, if a task of the connector has failed."""
        for status in self.herder.connector_status(name).tasks:
            assert status.trace is None, f"task {status.id} has failed: {status.trace.strip().splitlines()[-1]}"
