"""Connectors that break in each of their methods: the request gets the error, and the other connectors go on."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.common.config_def import NO_DEFAULT, ConfigDef, Importance, Type
from kafka_lite.common.config_value import ConfigValue
from kafka_lite.connect.runtime.rest.rest_errors import response_to
from kafka_lite.connect.runtime.standalone.standalone_config import StandaloneConfig
from kafka_lite.connect.runtime.standalone.standalone_herder import StandaloneHerder
from kafka_lite.connect.runtime.status import State
from kafka_lite.connect.runtime.storage.memory_offset_backing_store import MemoryOffsetBackingStore
from kafka_lite.connect.runtime.worker import Worker
from tests.support.connect_plugins import SOURCE, FakeClients, IdleSourceConnector
from tests.support.eventually import eventually

JSON = "org.apache.kafka.connect.json.JsonConverter"
PROPS = {
    "key.converter": JSON, "value.converter": JSON, "internal.key.converter": JSON, "internal.value.converter": JSON,
    "offset.storage.file.filename": "unused", "config.providers": "file",
    "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
}  # fmt: skip
GOOD = {"name": "good", "connector.class": SOURCE, "count": "1"}


class Unreadable(IdleSourceConnector):
    """Raises when its configuration is checked."""

    def validate(self, props: Mapping[str, str]) -> list[ConfigValue]:
        raise ValueError("the catalogue cannot be read")


class Guarded(IdleSourceConnector):
    """Needs a password."""

    def config(self) -> ConfigDef:
        """The definition of the base class, with a password."""
        return super().config().define("password", Type.PASSWORD, NO_DEFAULT, Importance.HIGH, "A password.")


@pytest.fixture
def herder() -> Iterator[StandaloneHerder]:
    clients: Any = FakeClients()
    herder = StandaloneHerder(
        Worker("127.0.0.1:8083", StandaloneConfig(PROPS), MemoryOffsetBackingStore(), clients=clients)
    )
    herder.start()
    herder.put_connector_config("good", GOOD, allow_replace=False).result(0)
    yield herder
    herder.stop()


def _states(herder: StandaloneHerder, name: str) -> list[State]:
    info = herder.connector_status(name)
    return [info.connector.state, *(task.state for task in info.tasks)]


@pytest.mark.parametrize(
    ("connector", "fails", "status", "message"),
    [
        ("no.such.Connector", "", 500, "Failed to find any class that implements Connector"),
        (f"{__name__}.Unreadable", "", 500, "the catalogue cannot be read"),
        (SOURCE, "task_configs", 500, "task_configs fails"),
    ],
)
def test_a_connector_that_breaks_as_it_is_created_fails_the_request(
    herder: StandaloneHerder, connector: str, fails: str, status: int, message: str
) -> None:
    config = {"name": "bad", "connector.class": connector, "count": "2", "fails": fails}
    error = herder.put_connector_config("bad", config, allow_replace=False).exception(0)
    assert isinstance(error, Exception)
    response = response_to(error)
    assert (response.status, message in response.body.decode()) == (status, True)
    eventually(lambda: _states(herder, "good") == [State.RUNNING] * 2)
    herder.restart_connector("good").result(0)
    assert herder.connector_info("good").result(0).config == GOOD


def test_a_connector_whose_start_raises_has_failed_and_a_change_helps(herder: StandaloneHerder) -> None:
    config = {"name": "bad", "connector.class": SOURCE, "count": "2", "fails": "start"}
    herder.put_connector_config("bad", config, allow_replace=False).result(0)
    assert _states(herder, "bad") == [State.FAILED]
    assert "ValueError: start fails" in (herder.connector_status("bad").connector.trace or "")
    herder.put_connector_config("bad", config | {"fails": ""}, allow_replace=True).result(0)
    eventually(lambda: _states(herder, "bad")[0] is State.RUNNING)
    eventually(lambda: _states(herder, "good") == [State.RUNNING] * 2)


def test_a_connector_without_tasks_gets_them_once_it_can_name_them(herder: StandaloneHerder) -> None:
    config = {"name": "bad", "connector.class": SOURCE, "count": "2", "tasks.max": "2", "fails": "task_configs"}
    assert herder.put_connector_config("bad", config, allow_replace=False).exception(0) is not None
    assert _states(herder, "bad") == [State.RUNNING]  # as in Kafka, it was created
    herder.put_connector_config("bad", config | {"fails": ""}, allow_replace=True).result(0)
    eventually(lambda: _states(herder, "bad") == [State.RUNNING] * 3)


def test_secrets_are_in_no_log_and_no_answer(
    herder: StandaloneHerder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "secrets.properties").write_text("password=s3cret\n")
    reference = f"${{file:{tmp_path}/secrets.properties:password}}"
    config = {"name": "guarded", "connector.class": f"{__name__}.Guarded", "count": "1", "password": reference}
    with caplog.at_level(logging.DEBUG):
        shown: list[object] = [herder.validate_connector_config(config).to_json()]
        shown.append(herder.validate_connector_config(config | {"password": "s3cret"}).to_json())
        herder.put_connector_config("guarded", config, allow_replace=False).result(0)
        eventually(lambda: _states(herder, "guarded") == [State.RUNNING] * 2)
        assert isinstance(IdleSourceConnector.created[-1], Guarded)
        assert IdleSourceConnector.created[-1].props["password"] == "s3cret"
        herder.put_connector_config("guarded", config | {"fails": "start"}, allow_replace=True).result(0)
        shown += [herder.connector_info("guarded").result(0), herder.connector_status("guarded")]
        shown.append(herder.task_configs("guarded").result(0))
        herder.delete_connector_config("guarded").result(0)
    assert "guarded" in caplog.text
    assert "s3cret" not in caplog.text + str(shown)
