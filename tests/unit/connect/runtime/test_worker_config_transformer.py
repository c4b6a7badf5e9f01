from pathlib import Path
from typing import Any

import pytest

from kafka_lite.common.config_def import ConfigError, Password
from kafka_lite.common.config_value import ConfigValue
from kafka_lite.connect.runtime.herder_errors import BadRequestError
from kafka_lite.connect.runtime.standalone.standalone_config import StandaloneConfig
from kafka_lite.connect.runtime.standalone.standalone_herder import StandaloneHerder
from kafka_lite.connect.runtime.storage.memory_offset_backing_store import MemoryOffsetBackingStore
from kafka_lite.connect.runtime.worker import Worker
from kafka_lite.connect.runtime.worker_config_transformer import WorkerConfigTransformer
from tests.support.connect_plugins import SOURCE, FakeClients, IdleSourceConnector

JSON = "org.apache.kafka.connect.json.JsonConverter"
PROVIDER = {
    "config.providers": "file",
    "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
}
PROPS = {
    "key.converter": JSON, "value.converter": JSON, "internal.key.converter": JSON, "internal.value.converter": JSON,
    "offset.storage.file.filename": "unused",
}  # fmt: skip


@pytest.fixture
def reference(tmp_path: Path) -> str:
    """A reference to the secret ``2``."""
    file = tmp_path / "secrets.properties"
    file.write_text("count=2\nbad=zwei\n")
    return f"${{file:{file}:count}}"


def _herder() -> StandaloneHerder:
    clients: Any = FakeClients()
    worker = Worker("w:1", StandaloneConfig(PROPS | PROVIDER), MemoryOffsetBackingStore(), clients=clients)
    herder = StandaloneHerder(worker)
    herder.start()
    return herder


def test_only_connectors_and_tasks_see_secrets(reference: str) -> None:
    herder = _herder()
    config = {"name": "a", "connector.class": SOURCE, "count": reference, "tasks.max": "9", "fails": reference}
    try:
        created = herder.put_connector_config("a", config, allow_replace=False).result(0).result
        assert created is not None
        assert created.config == config
        assert len(created.tasks) == 2
        assert IdleSourceConnector.created[-1].props["count"] == "2"  # type: ignore[attr-defined]
        first = herder.task_configs("a").result(0)[0].config
        assert first["fails"] == reference  # the connector has passed it on to its tasks
        (task, *_) = herder._worker._tasks.values()
        assert task._config["fails"] == "2"  # type: ignore[attr-defined]
    finally:
        herder.stop()


def test_validation_shows_references_instead_of_secrets(reference: str) -> None:
    herder = _herder()
    infos = herder.validate_connector_config({"name": "a", "connector.class": SOURCE, "count": reference})
    assert infos.error_count == 0
    bad = reference.replace(":count", ":bad")
    infos = herder.validate_connector_config({"name": "a", "connector.class": SOURCE, "count": bad})
    (error,) = infos.errors
    assert error.startswith(f"Invalid value {bad} for configuration count: Not a number of type INT")
    assert "zwei" not in str(infos.to_json())


def test_a_missing_secret_is_a_bad_request(reference: str) -> None:
    missing = reference.replace(":count", ":none")
    with pytest.raises(BadRequestError, match="The config provider file has no value for"):
        _herder().validate_connector_config({"name": "a", "connector.class": SOURCE, "count": missing})


def test_passwords_stay_hidden(reference: str) -> None:
    value = ConfigValue("password", Password("2"))
    WorkerConfigTransformer(PROVIDER).hide({"password": reference}, [value])
    assert repr(value.value) == "[hidden]"


def test_a_workers_own_values_may_be_references(reference: str) -> None:
    assert StandaloneConfig(PROPS | PROVIDER | {"rest.port": reference})["rest.port"] == 2


@pytest.mark.parametrize("name", [None, "no.such.Provider", JSON])
def test_a_provider_that_is_none(name: str | None) -> None:
    props = {"config.providers": "p"} | ({} if name is None else {"config.providers.p.class": name})
    with pytest.raises(ConfigError, match=r"config\.providers\.p\.class"):
        WorkerConfigTransformer(props)
